// What is measured at the start: the allreduce that chooses, the same on all ranks, from timings that are kept; and bandwidths.
#include "core/files/file.hpp"
#include "engine/comm/choice/dynamic.hpp"
#include "engine/comm/topology_probe.hpp"
#include "tests/engine/comm/shared_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;
using dt::test::SharedFolder;

namespace {

// Seconds that depend on nothing but algorithm and size: by the ring least, by a tree twice, by everything else four times as
// much.
double told_s(const std::string& algorithm, std::size_t bytes, double)
{
  return 1e-9 * static_cast<double>(bytes + 1000) * (algorithm == "ring" ? 1 : algorithm == "tree" ? 2 : 4);
}

// A race that these times decide takes three rounds a size; there is time enough for all sizes.
AllreduceOptions options_with(const std::filesystem::path& cache, Communicator& comm)
{
  return {.algorithm = "dynamic",
          .topology = topology_of_hosts(comm, 0),
          .cache = cache,
          .timing_s = 100,
          .largest_bytes = 64 << 10,
          .seen_s = told_s};
}

std::string fact(const Allreduce& allreduce, const std::string& name)
{
  for (const auto& [key, words] : allreduce.facts())
    if (key == name) return words;
  return {};
}

// Which rank 0 has written.
std::filesystem::path only_file_in(const std::filesystem::path& folder, Communicator& comm)
{
  comm.barrier();
  const auto names = dt::names_in(folder);
  REQUIRE(names.size() == 1);
  return folder / names.front();
}

std::string key_of(const std::filesystem::path& file)
{
  return file.filename().string().substr(std::string("allreduce-").size());
}

// Timings up to 64 KiB in which the tree is best, a sum by it taking so many times what it is told to take now.
AllreduceTimings kept_timings(double factor)
{
  const double tree_s = factor * told_s("tree", 64 << 10, 0);
  return {.algorithms = {"mpi", "tree"}, .bytes = {64 << 10}, .seconds = {{10 * tree_s, tree_s}}};
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
  const DynamicAllreduce first(options_with(cache, comm), comm);
  CHECK(comm.traffic().bytes == 0);
  CHECK(comm.traffic().messages == 0);
  CHECK(comm.all_equal(first.choice()));
  CHECK(first.choice().find("; buckets of ") != std::string::npos);
  CHECK(fact(first, "allreduce timings") == "timed at this start");
  if (comm.size() == 1) return;
  CHECK(first.choice().starts_with("ring;"));
  CHECK(fact(first, "allreduce model").find("ns/byte") != std::string::npos);

  // What is kept decides: others' times there change the choice.
  const auto file = only_file_in(cache, comm);
  REQUIRE(parse_timings(dt::read_file(file), key_of(file)));
  comm.barrier();
  if (comm.is_root()) dt::write_file_atomic(file, to_text(kept_timings(1), key_of(file)));
  const DynamicAllreduce second(options_with(cache, comm), comm);
  CHECK(second.choice().starts_with("tree;"));
  CHECK(fact(second, "allreduce timings").starts_with("of an earlier run, confirmed: a sum of 64.0 KiB by tree took "));
}

TEST_CASE("dynamic does not use kept timings that a fresh sum contradicts, as on links of another rate, and replaces them")
{
  Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const SharedFolder folder(comm);
  const auto cache = folder.path() / "cache";
  DynamicAllreduce(options_with(cache, comm), comm);
  const auto file = only_file_in(cache, comm);
  for (const double factor : {0.1, 10.0}) { // ten times slower now, ten times faster now
    CAPTURE(factor);
    comm.barrier();
    if (comm.is_root()) dt::write_file_atomic(file, to_text(kept_timings(factor), key_of(file)));
    const DynamicAllreduce allreduce(options_with(cache, comm), comm);
    CHECK(allreduce.choice().starts_with("ring;"));
    CHECK(fact(allreduce, "allreduce timings").find("those of an earlier run do not hold") != std::string::npos);
    CHECK(comm.all_equal(fact(allreduce, "allreduce timings")));
    comm.barrier();
    CHECK(parse_timings(dt::read_file(file), key_of(file))->bytes.size() > 1);
  }
}

TEST_CASE("dynamic times anew for sums that are much larger than those of the kept timings")
{
  Communicator comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  const auto cache = folder.path() / "cache";
  auto options = options_with(cache, comm);
  DynamicAllreduce(options, comm);
  options.largest_bytes = 128 << 10;
  CHECK(fact(DynamicAllreduce(options, comm), "allreduce timings").starts_with("of an earlier run"));
  options.largest_bytes = 256 << 10;
  CHECK(fact(DynamicAllreduce(options, comm), "allreduce timings") == "timed at this start");
}

TEST_CASE("dynamic leaves a choice that became slow, on all ranks at the same sum, and every sum is right meanwhile")
{
  Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const AllreduceTimings timings{
      .algorithms = {"mpi", "ring", "tree"}, .bytes = {1000, 40'000}, .seconds = {{1, 2, 3}, {3, 1, 2}}};
  double ring_s = 1;
  const auto seen = [&](const std::string& algorithm, std::size_t bytes, double) {
    return bytes < 10'000 ? 1.0 : algorithm == "ring" ? ring_s : algorithm == "tree" ? 2.0 : 3.0;
  };
  DynamicAllreduce allreduce(timings, {.topology = topology_of_hosts(comm, 0), .seen_s = seen}, comm);
  const auto step = [&](int number) {
    std::vector<float> few(100), many(10'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>((static_cast<int>(i) + number) % 97 + comm.rank());
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = many[i];
    auto first = allreduce.begin(many);
    auto second = allreduce.begin(few);
    // In whatever order a rank waits.
    if (comm.rank() % 2 == 0) first->wait();
    second->wait();
    first->wait();
    bool right = true;
    const int ranks = comm.size();
    for (std::size_t i = 0; i < many.size(); ++i) {
      const auto sum = static_cast<float>(ranks * ((static_cast<int>(i) + number) % 97) + ranks * (ranks - 1) / 2);
      right = right && many[i] == sum && (i >= few.size() || few[i] == sum);
    }
    CHECK(right);
    allreduce.end_step();
    if (number % 8 == 0) CHECK(comm.all_equal(allreduce.choice()));
  };
  const int looks = static_cast<int>(ChoiceWatch::steps_a_look), rounds = static_cast<int>(ChoiceWatch::rounds);
  int number = 0;
  while (number < looks) step(number++);
  CHECK(allreduce.choice().starts_with("mpi, ring from"));

  // Slow on all ranks but one: that one waited for nobody, so it is the others that are late.
  ring_s = comm.rank() == 0 ? 1 : 10;
  while (number < 2 * looks) step(number++);
  CHECK(fact(allreduce, "allreduce seen").starts_with("1.00 times"));

  // Slow everywhere: a look, a trial, the change.
  ring_s = 10;
  while (number < 3 * looks + 3 * rounds) step(number++);
  CHECK(allreduce.choice().starts_with("mpi, tree from"));
  CHECK(fact(allreduce, "allreduce reconsidered").find("tree from now on") != std::string::npos);
  while (number < 4 * looks + 3 * rounds) step(number++);
  // 3 of 3.5 s: the trial saw steps of 1.5 times the time that was predicted, and the tree is not predicted to be faster than it
  // was timed.
  CHECK(fact(allreduce, "allreduce seen").starts_with("0.86 times"));
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

TEST_CASE("dynamic replaces a cache that names itself, an unknown allreduce, one twice, or gloo")
{
  Communicator comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  const auto cache = folder.path() / "cache";
  DynamicAllreduce(options_with(cache, comm), comm);
  const auto file = only_file_in(cache, comm);
  const auto key = key_of(file);
  const std::vector<std::vector<std::string>> crafted{
      {"mpi", "dynamic"}, {"dynamic"}, {"mpi", "no-such-allreduce"}, {"mpi", "mpi"}, {"mpi", "gloo"}};
  for (const auto& names : crafted) {
    CAPTURE(names);
    const AllreduceTimings kept{.algorithms = names, .bytes = {1024}, .seconds = {std::vector<double>(names.size(), 1.0)}};
    comm.barrier();
    if (comm.is_root()) dt::write_file_atomic(file, to_text(kept, key));
    const auto choice = DynamicAllreduce(options_with(cache, comm), comm).choice();
    CHECK(comm.all_equal(choice));
    const auto replaced = parse_timings(dt::read_file(file), key);
    REQUIRE(replaced);
    CHECK(replaced->algorithms != names);
  }
}

TEST_CASE("dynamic with rounded numbers on the wire chooses among those that can round")
{
  Communicator comm(MPI_COMM_WORLD);
  auto options = options_with({}, comm);
  options.wire = dt::Wire::bfloat16;
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
