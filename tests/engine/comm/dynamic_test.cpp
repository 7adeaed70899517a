// What is measured at the start: the allreduce that chooses, the same on all ranks, from timings that are kept; and bandwidths.
#include "core/error.hpp"
#include "core/file.hpp"
#include "engine/comm/dynamic.hpp"
#include "engine/comm/topology_probe.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <optional>

using namespace dt::engine;

namespace {

// Rank 0's folder, on every rank.
class SharedFolder {
public:
  explicit SharedFolder(Communicator& comm) : comm_(comm)
  {
    if (comm.is_root()) folder_.emplace();
    path_ = comm.broadcast_text(comm.is_root() ? folder_->path().string() : "");
  }
  ~SharedFolder() { comm_.barrier(); }
  const std::filesystem::path& path() const { return path_; }

private:
  Communicator& comm_;
  std::optional<dt::test::TemporaryFolder> folder_;
  std::filesystem::path path_;
};

AllreduceOptions options_with(const std::filesystem::path& cache, Communicator& comm)
{
  return {.algorithm = "dynamic", .topology = topology_of_hosts(comm, 0), .cache = cache, .timing_s = 0.1};
}

// Which rank 0 has written.
std::filesystem::path only_file_in(const std::filesystem::path& folder, Communicator& comm)
{
  comm.barrier();
  const auto names = dt::names_in(folder);
  REQUIRE(names.size() == 1);
  return folder / names.front();
}

} // namespace

TEST_CASE("dynamic takes at each size what its timings say")
{
  Communicator comm(MPI_COMM_WORLD);
  const AllreduceTimings timings{.algorithms = {"mpi", "ring"}, .bytes = {1000, 4000}, .seconds = {{1, 2}, {2, 1}}};
  DynamicAllreduce allreduce(timings, {.topology = topology_of_hosts(comm, 0)}, comm);
  CHECK(allreduce.choice() == "mpi, ring from 2.0 KiB; buckets of 3.9 KiB");
  CHECK(allreduce.bucket_bytes() == 4000);
  std::vector<float> few(100, 1), many(1200, 1);
  allreduce.sum(std::span(few));
  CHECK(comm.traffic().messages == (comm.size() > 1 ? 1 : 0)); // mpi counts as one
  comm.traffic() = {};
  allreduce.sum(std::span(many));
  CHECK(comm.traffic().messages == 2 * (comm.size() - 1)); // a ring's
  CHECK(few == std::vector<float>(100, static_cast<float>(comm.size())));
  CHECK(many == std::vector<float>(1200, static_cast<float>(comm.size())));
}

TEST_CASE("dynamic times the machine once, keeps that, and chooses the same from it on all ranks, and timing is not traffic")
{
  Communicator comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  const auto cache = folder.path() / "cache";
  const auto first = DynamicAllreduce(options_with(cache, comm), comm).choice();
  CHECK(comm.traffic().bytes == 0);
  CHECK(comm.traffic().messages == 0);
  CHECK(comm.all_equal(first));
  CHECK(first.find("; buckets of ") != std::string::npos);

  // What is kept decides: others' times there change the choice.
  const auto file = only_file_in(cache, comm);
  const auto key = file.filename().string().substr(std::string("allreduce-").size());
  REQUIRE(parse_timings(dt::read_file(file), key));
  comm.barrier();
  const AllreduceTimings kept{.algorithms = {"mpi", "tree"}, .bytes = {1024}, .seconds = {{2, 1}}};
  if (comm.is_root()) dt::write_file_atomic(file, to_text(kept, key));
  CHECK(DynamicAllreduce(options_with(cache, comm), comm).choice() == "tree; buckets of 1.0 KiB");
}

TEST_CASE("dynamic ignores a torn cache and writes it anew, and lives without one that cannot be written")
{
  Communicator comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  DynamicAllreduce(options_with(folder.path() / "cache", comm), comm);
  const auto file = only_file_in(folder.path() / "cache", comm);
  const auto whole = dt::read_file(file);
  comm.barrier();
  if (comm.is_root()) dt::write_file_atomic(file, whole.substr(0, whole.size() / 2));
  DynamicAllreduce(options_with(folder.path() / "cache", comm), comm);
  comm.barrier();
  CHECK(dt::read_file(file).ends_with(" sizes\n"));

  std::vector<float> values(10, 1);
  DynamicAllreduce(options_with(file / "below-a-file", comm), comm).sum(std::span(values));
  CHECK(values == std::vector<float>(10, static_cast<float>(comm.size())));
}

TEST_CASE("dynamic with rounded numbers on the wire chooses among those that can round")
{
  Communicator comm(MPI_COMM_WORLD);
  auto options = options_with({}, comm);
  options.wire = "bfloat16";
  CHECK(DynamicAllreduce(options, comm).choice().find("mpi") == std::string::npos);
}

TEST_CASE("bandwidths between ranks are positive, equal on all ranks, the same both ways, and no traffic")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto rows = measure_bandwidths(comm);
  REQUIRE(rows.size() == static_cast<std::size_t>(comm.size()));
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(rows[i][j] > 0);
      CHECK(rows[i][j] == rows[j][i]);
      text += std::to_string(rows[i][j]) + " ";
    }
  CHECK(comm.all_equal(text));
  CHECK(comm.traffic().messages == 0);
}

TEST_CASE("the probe of one host finds one node and one supernode")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto topology = probe_topology(comm);
  CHECK(topology.node == std::vector<int>(static_cast<std::size_t>(comm.size()), 0));
  CHECK(topology.supernode == topology.node);
}
