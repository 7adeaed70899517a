// The sum over numbers of 8 or 4 bits. Started by mpirun with several counts of ranks.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/block_codes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace dt;
using namespace dt::comm;

namespace {

constexpr std::size_t lengths[] = {0, 1, 255, 256, 257, 1024, 5000};

std::unique_ptr<Allreduce> make(Wire wire, Communicator& comm) { return make_allreduce({.wire = wire}, comm); }

float number(int rank, std::size_t i) { return static_cast<float>(std::sin(1.0 + 0.37 * static_cast<double>(i) + 2.3 * rank)); }

std::vector<float> numbers(int rank, std::size_t length)
{
  std::vector<float> values(length);
  for (std::size_t i = 0; i < length; ++i) values[i] = number(rank, i);
  return values;
}

bool equal_on_all(Communicator& comm, const std::vector<float>& values)
{
  return comm.all_equal(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

// Number of sums that are farther from the exact one than half the scales of summands and sum, whose magnitudes are at most 1 and
// P.
std::size_t outside_bound(Wire wire, int ranks, const std::vector<float>& sums)
{
  const double limit = wire == Wire::int8 ? 127 : 7, bound = ((ranks - 1) + ranks * (1 + 0.5 / limit)) / (2 * limit) + 1e-4;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    double exact = 0;
    for (int rank = 0; rank < ranks; ++rank) exact += static_cast<double>(number(rank, i));
    outside += std::abs(static_cast<double>(sums[i]) - exact) > bound ? 1U : 0U;
  }
  return outside;
}

} // namespace

TEST_CASE("over int8 and int4 all ranks end with equal bits, no farther from the exact sum than half the scales")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const auto wire : {Wire::int8, Wire::int4}) {
    const auto allreduce = make(wire, comm);
    for (const auto length : lengths)
      for (int repeat = 0; repeat < 2; ++repeat) {
        auto values = numbers(comm.rank(), length);
        allreduce->sum(values);
        CAPTURE(name_of(wire), length);
        CHECK(outside_bound(wire, comm.size(), values) == 0);
        CHECK(equal_on_all(comm, values));
      }
  }
}

TEST_CASE("one rank's sum over int8 and int4 is exact, and sends nothing")
{
  Communicator comm(MPI_COMM_SELF);
  for (const auto wire : {Wire::int8, Wire::int4}) {
    auto values = numbers(0, 1000);
    make(wire, comm)->sum(values);
    CHECK(values == numbers(0, 1000));
    CHECK(comm.traffic().messages == 0);
  }
}

TEST_CASE("a rank sends 2 (P-1) messages of coded slices")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::size_t>(comm.size()), slice = 3 * coded_block;
  for (const auto wire : {Wire::int8, Wire::int4}) {
    std::vector<float> values(ranks * slice, 1.0F);
    comm.traffic() = {};
    make(wire, comm)->sum(values);
    CHECK(comm.traffic().messages == static_cast<std::int64_t>(2 * (ranks - 1)));
    CHECK(comm.traffic().bytes == static_cast<std::int64_t>(2 * (ranks - 1) * coded_bytes(wire, slice)));
  }
}

TEST_CASE("coded sums that are begun together are right, whichever is waited for first and whoever advances them")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto allreduce = make(Wire::int8, comm);
  std::vector<std::vector<float>> vectors;
  for (const std::size_t length : {3000U, 700U, 1500U}) vectors.push_back(numbers(comm.rank(), length));
  std::vector<std::unique_ptr<PendingSum>> sums;
  for (auto& vector : vectors) sums.push_back(allreduce->begin(vector));
  if (comm.rank() % 2 == 0) {
    sums[2]->wait();
    while (!sums[0]->advance()) {
    }
    sums[1]->wait();
  } else {
    while (!std::ranges::all_of(sums, [](auto& sum) { return sum->advance(); })) {
    }
  }
  for (const auto& vector : vectors) {
    CHECK(outside_bound(Wire::int8, comm.size(), vector) == 0);
    CHECK(equal_on_all(comm, vector));
  }
}
