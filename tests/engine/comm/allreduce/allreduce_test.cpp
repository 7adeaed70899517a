// Every allreduce gives bit-exact sums of integer-valued floats, whatever length and count of ranks.
#include "core/error.hpp"
#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

constexpr float guard = -12345.0F;
constexpr std::size_t guard_size = 16;

// Small enough that sums over all ranks are exact in a float; depends on rank and index.
float value_of(int rank, std::size_t index) { return static_cast<float>((rank + 1) * 7 + static_cast<int>(index % 1013)); }

float sum_of(int ranks, std::size_t index)
{
  float sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value_of(r, index);
  return sum;
}

std::vector<std::size_t> lengths_for(int ranks)
{
  const auto p = static_cast<std::size_t>(ranks);
  return {0, 1, p - 1, p, p + 1, 10007, 300'000 /* over 1 MiB */};
}

// Those of this build.
std::vector<std::string> allreduces()
{
  auto names = registered_allreduces();
  if (!has_gloo()) std::erase(names, "gloo");
  return names;
}

std::size_t wrong_values(std::span<const float> values, int ranks)
{
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] == sum_of(ranks, i) ? 0 : 1;
  return wrong;
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
        std::vector<float> room(length + 2 * guard_size, guard);
        const auto values = std::span(room).subspan(guard_size, length);
        for (std::size_t i = 0; i < length; ++i) values[i] = value_of(comm.rank(), i);
        allreduce->sum(std::span<float>(values));
        CHECK(wrong_values(values, comm.size()) == 0);
        for (std::size_t i = 0; i < guard_size; ++i) REQUIRE((room[i] == guard && room[guard_size + length + i] == guard));
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
