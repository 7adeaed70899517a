// Every allreduce gives bit-exact sums of integer-valued floats, whatever length and count of ranks.
#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "tests/engine/comm/allreduce/exact_values.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;
using namespace dt::comm::test;

namespace {

// Those of this build.
std::vector<std::string> allreduces()
{
  auto names = registered_allreduces();
  if (!has_gloo()) std::erase(names, "gloo");
  return names;
}

} // namespace

TEST_CASE("the allreduces are those of the vocabulary")
{
  CHECK(registered_allreduces() == dt::strings_of(dt::allreduce_names()));
}

TEST_CASE("an unknown allreduce is refused with the known ones")
{
  Communicator comm(MPI_COMM_WORLD);
  CHECK_THROWS_WITH(make_allreduce({.algorithm = "rong"}, comm),
                    "there is no allreduce `rong`; did you mean `ring`? Allowed: " + dt::join(registered_allreduces(), ", "));
}

TEST_CASE("allreduce sums bit-exactly, touches nothing around its values, and does so twice")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : allreduces()) {
    const auto allreduce = make_allreduce({.algorithm = name, .topology = topology_of_hosts(comm, 0), .timing_s = 0.1}, comm);
    for (const auto length : lengths_for(comm.size())) {
      CAPTURE(name, length, comm.rank());
      for (int repeat = 0; repeat < 2; ++repeat) {
        GuardedVector vector(length);
        fill(vector.values(), comm.rank());
        allreduce->sum(vector.values());
        CHECK(wrong_values(vector.values(), comm.size()) == 0);
        CHECK(vector.guards_untouched());
      }
    }
  }
}

TEST_CASE("the MPI library's allreduce counts the bandwidth-optimal volume and one message")
{
  Communicator comm(MPI_COMM_WORLD);
  std::vector<float> values(120, 1.0F);
  make_allreduce({.algorithm = "mpi"}, comm)->sum(std::span<float>(values));
  CHECK(comm.traffic().bytes == 2 * 480 * (comm.size() - 1) / comm.size());
  CHECK(comm.traffic().messages == (comm.size() > 1 ? 1 : 0));
}

TEST_CASE("sums that are under way at once end right whichever a rank waits for first")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : allreduces()) {
    CAPTURE(name);
    const auto allreduce = make_allreduce({.algorithm = name, .timing_s = 0.1}, comm);
    std::vector<std::vector<float>> buffers;
    for (int b = 0; b < 4; ++b) buffers.emplace_back(1000, static_cast<float>(b + comm.rank()));
    std::vector<std::unique_ptr<PendingSum>> sums;
    for (auto& buffer : buffers) sums.push_back(allreduce->begin(buffer));
    sums[comm.rank() % 2 == 0 ? 3 : 1]->wait();
    for (auto& sum : sums) sum->wait();
    const int ranks = comm.size();
    for (int b = 0; b < 4; ++b)
      CHECK(buffers[static_cast<std::size_t>(b)] ==
            std::vector<float>(1000, static_cast<float>(b * ranks + ranks * (ranks - 1) / 2)));
  }
}
