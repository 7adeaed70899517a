// Gloo behind our interface: what the tests of all allreduces do not ask.
#include "engine/comm/allreduce/gloo_allreduce.hpp"

#include "tests/engine/refusal.hpp"

#include <cstdlib>
#include <cstring>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

// Numbers whose sum depends on the order of the additions.
std::vector<float> uneven(int rank, std::size_t length)
{
  std::vector<float> values(length);
  for (std::size_t i = 0; i < length; ++i)
    values[i] = 1.0F / static_cast<float>(1 + (i * 7919 + static_cast<std::size_t>(rank) * 104729) % 1009);
  return values;
}

std::string bits_of(std::span<const float> values)
{
  std::string bits(values.size_bytes(), 0);
  if (!values.empty()) std::memcpy(bits.data(), values.data(), bits.size());
  return bits;
}

std::int64_t over_all_ranks(Communicator& comm, std::int64_t mine)
{
  std::vector<double> sum{static_cast<double>(mine)};
  comm.sum_record(sum);
  return static_cast<std::int64_t>(sum[0]);
}

} // namespace

TEST_CASE("gloo gives all ranks the same bits, also of lengths that the ranks do not divide")
{
  Communicator comm(MPI_COMM_WORLD);
  if (!has_gloo()) return;
  GlooAllreduce gloo({}, comm);
  for (const std::size_t length : {1U, 2U, 3U, 101U, 4096U, 65'537U, 700'001U}) {
    CAPTURE(length, comm.size());
    auto values = uneven(comm.rank(), length);
    gloo.sum(std::span<float>(values));
    CHECK(comm.all_equal(bits_of(values)));
    std::vector<float> expected(length);
    for (int r = 0; r < comm.size(); ++r) {
      const auto others = uneven(r, length);
      for (std::size_t i = 0; i < length; ++i) expected[i] += others[i];
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < length; ++i) wrong += values[i] == Approx(expected[i]).epsilon(1e-6) ? 0 : 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("two of gloo serve sums by turns")
{
  Communicator comm(MPI_COMM_WORLD);
  if (!has_gloo()) return;
  GlooAllreduce first({}, comm), second({}, comm);
  for (int round = 0; round < 3; ++round)
    for (auto* gloo : {&first, &second}) {
      std::vector<float> values(1001, static_cast<float>(round + comm.rank()));
      gloo->sum(std::span<float>(values));
      const int ranks = comm.size();
      CHECK(values == std::vector<float>(1001, static_cast<float>(ranks * round + ranks * (ranks - 1) / 2)));
    }
}

TEST_CASE("gloo counts the bytes and rounds of a ring, and nothing for one rank or no numbers")
{
  Communicator comm(MPI_COMM_WORLD);
  if (!has_gloo()) return;
  GlooAllreduce gloo({}, comm);
  std::vector<float> values(static_cast<std::size_t>(120 * comm.size()), 1.0F);
  gloo.sum(std::span<float>());
  CHECK(comm.traffic().bytes == 0);
  CHECK(comm.traffic().messages == 0);
  gloo.sum(std::span<float>(values));
  CHECK(over_all_ranks(comm, comm.traffic().bytes) == std::int64_t{2} * 480 * comm.size() * (comm.size() - 1));
  CHECK(comm.traffic().messages == 2 * (comm.size() - 1));
}

TEST_CASE("gloo sends float32 only")
{
  Communicator comm(MPI_COMM_WORLD);
  if (!has_gloo()) return;
  CHECK_THROWS_WITH(make_allreduce({.algorithm = "gloo", .wire = Wire::bfloat16}, comm),
                    "The allreduce `gloo` sends float32 only; take another one for sync.wire: bfloat16.");
}

TEST_CASE("a rank without the interface that rank 0 names refuses gloo on all ranks, and the next try works")
{
  Communicator comm(MPI_COMM_WORLD);
  if (!has_gloo() || comm.size() == 1) return;
  if (comm.is_root()) ::setenv("GLOO_SOCKET_IFNAME", "no-such-0", 1);
  CHECK_THROWS_WITH(GlooAllreduce({}, comm),
                    Catch::StartsWith("Rank 0 has no address for Gloo: GLOO_SOCKET_IFNAME names the network "
                                      "interface no-such-0, but "));
  if (comm.is_root()) ::setenv("GLOO_SOCKET_IFNAME", "lo", 1);
  std::vector<float> values{1};
  GlooAllreduce({}, comm).sum(std::span<float>(values));
  CHECK(values[0] == static_cast<float>(comm.size()));
  ::unsetenv("GLOO_SOCKET_IFNAME");
}

TEST_CASE("a rank that ends makes the sums of its neighbours errors with rank and cause")
{
  Communicator comm(MPI_COMM_WORLD);
  if (!has_gloo() || comm.size() != 2)
    return; // with more, a rank that waits for one which has failed waits until that process ends
  auto gloo = std::make_unique<GlooAllreduce>(AllreduceOptions{}, comm);
  if (comm.rank() == 1) {
    gloo.reset();
  } else {
    std::vector<float> values(200'000);
    const auto why = dt::test::refusal(ErrorKind::environment, [&] { gloo->sum(std::span<float>(values)); });
    CHECK_THAT(why, Catch::StartsWith("The allreduce `gloo` failed on rank 0 (") && Catch::Contains("another rank has ended"));
  }
  comm.barrier();
}
