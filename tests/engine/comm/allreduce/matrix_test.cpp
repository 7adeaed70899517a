// Every own allreduce for every number of ranks from 1 to 17: the first P of the 17 ranks that this program is started with.
#include "engine/comm/allreduce/scheduled_allreduce.hpp"
#include "engine/comm/vectors.hpp"
#include "tests/engine/comm/allreduce/exact_values.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;
using namespace dt::comm::test;

namespace {

const std::size_t chunk = usual_limits(0, 1, Travel::passed_slices).chunk_length;

const std::vector<std::string> own_algorithms{"ring", "halving-doubling", "tree", "topology-aware"};

// Supernodes of 4, 4, 4, 4 and 1 for 17 ranks; the last is smaller wherever 4 does not divide.
Topology supernodes_of_four(int ranks)
{
  std::vector<int> supernode;
  for (int r = 0; r < ranks; ++r) supernode.push_back(r / 4);
  return {.node = {}, .supernode = std::move(supernode)};
}

std::unique_ptr<Allreduce> make(const std::string& name, Communicator& comm, dt::Wire wire = dt::Wire::float32)
{
  return make_allreduce({.algorithm = name, .wire = wire, .topology = supernodes_of_four(comm.size())}, comm);
}

// On the first P ranks, for P from 1 to all; the others wait in the next split.
void for_first_ranks(const std::function<void(Communicator&)>& body)
{
  Communicator world(MPI_COMM_WORLD);
  for (int p = 1; p <= world.size(); ++p) {
    const auto part = world.split(world.rank() < p ? 0 : -1, world.rank());
    if (part) body(*part);
  }
}

void check_in_place(Allreduce& allreduce, const Communicator& comm, std::size_t length)
{
  GuardedVector vector(length);
  fill(vector.values(), comm.rank());
  allreduce.sum(vector.values());
  CHECK(wrong_values(vector.values(), comm.size()) == 0);
  CHECK(vector.guards_untouched());
}

void check_out_of_place(Allreduce& allreduce, const Communicator& comm, std::size_t length)
{
  GuardedVector input(length), result(length);
  fill(input.values(), comm.rank());
  const auto before = input.room;
  allreduce.sum(std::span<const float>(input.values()), result.values());
  CHECK(input.room == before);
  CHECK(wrong_values(result.values(), comm.size()) == 0);
  CHECK(result.guards_untouched());
}

std::int64_t over_all_ranks(Communicator& comm, std::int64_t mine)
{
  std::vector<double> sum{static_cast<double>(mine)};
  comm.sum_record(sum);
  return static_cast<std::int64_t>(sum[0]);
}

// What this rank sends in a sum of so many numbers.
Traffic sent(const std::string& name, Communicator& comm, std::size_t length, dt::Wire wire = dt::Wire::float32)
{
  std::vector<float> values(length);
  const auto before = comm.traffic();
  make(name, comm, wire)->sum(std::span<float>(values));
  return {.bytes = comm.traffic().bytes - before.bytes, .messages = comm.traffic().messages - before.messages};
}

std::int64_t bytes_of(std::size_t floats) { return static_cast<std::int64_t>(floats * sizeof(float)); }

std::int64_t chunks_in(std::size_t length) { return static_cast<std::int64_t>((length + chunk - 1) / chunk); }

std::vector<std::size_t> prime_factors(std::size_t n)
{
  std::vector<std::size_t> factors;
  for (std::size_t f = 2; n > 1; ++f)
    for (; n % f == 0; n /= f) factors.push_back(f);
  std::reverse(factors.begin(), factors.end());
  return factors;
}

} // namespace

TEST_CASE("sums are bit-exact in place and out of place, twice, with nothing around them touched, for 1 to 17 ranks")
{
  for_first_ranks([](Communicator& comm) {
    for (const auto& name : own_algorithms) {
      const auto allreduce = make(name, comm);
      for (const auto length : lengths_for(comm.size())) {
        CAPTURE(name, length, comm.rank(), comm.size());
        for (int repeat = 0; repeat < 2; ++repeat) {
          check_in_place(*allreduce, comm, length);
          check_out_of_place(*allreduce, comm, length);
        }
      }
    }
  });
}

TEST_CASE("ring counts 2 (P-1) messages of n/P numbers a rank, in chunks")
{
  for_first_ranks([](Communicator& comm) {
    const std::size_t p = static_cast<std::size_t>(comm.size()), part = 2 * chunk + 1;
    const auto traffic = sent("ring", comm, p * part);
    CHECK(traffic.bytes == 2 * bytes_of((p - 1) * part));
    CHECK(traffic.messages == 2 * (comm.size() - 1) * chunks_in(part));
  });
}

TEST_CASE("halving-doubling counts, for each prime factor f of P, 2 (f-1) messages of an f-th of what is left")
{
  for_first_ranks([](Communicator& comm) {
    const std::size_t p = static_cast<std::size_t>(comm.size()), part = 1000;
    std::int64_t messages = 0;
    std::size_t left = p * part;
    for (const auto factor : prime_factors(p)) {
      left /= factor;
      messages += 2 * static_cast<std::int64_t>(factor - 1) * chunks_in(left);
    }
    const auto traffic = sent("halving-doubling", comm, p * part);
    CHECK(traffic.bytes == 2 * bytes_of((p - 1) * part));
    CHECK(traffic.messages == messages);
  });
}

TEST_CASE("tree counts 2 (P-1) messages of n numbers among all ranks")
{
  for_first_ranks([](Communicator& comm) {
    const std::size_t n = 3 * chunk - 1;
    const auto others = static_cast<std::int64_t>(comm.size() - 1);
    const auto traffic = sent("tree", comm, n);
    CHECK(over_all_ranks(comm, traffic.bytes) == 2 * others * bytes_of(n));
    CHECK(over_all_ranks(comm, traffic.messages) == 2 * others * chunks_in(n));
  });
}

TEST_CASE("topology-aware counts 2 (P-1) n/P numbers a rank when all supernodes are equal")
{
  for_first_ranks([](Communicator& comm) {
    if (comm.size() > 4 && comm.size() % 4 != 0) return;
    const std::size_t p = static_cast<std::size_t>(comm.size()), part = 600;
    CHECK(sent("topology-aware", comm, p * part).bytes == 2 * bytes_of((p - 1) * part));
  });
}

TEST_CASE("a sum that is only ever advanced completes, and stays complete")
{
  for_first_ranks([](Communicator& comm) {
    for (const auto& name : own_algorithms) {
      CAPTURE(name, comm.size());
      const auto allreduce = make(name, comm);
      GuardedVector vector(50'021);
      fill(vector.values(), comm.rank());
      const auto pending = allreduce->begin(vector.values());
      while (!pending->advance()) {
      }
      CHECK(wrong_values(vector.values(), comm.size()) == 0);
      CHECK(vector.guards_untouched());
      CHECK(pending->advance());
      pending->wait();
      CHECK(wrong_values(vector.values(), comm.size()) == 0);
    }
  });
}

TEST_CASE("several sums are pending at once, advanced by turns, and waited for in any order, another one on each rank")
{
  for_first_ranks([](Communicator& comm) {
    for (const auto& name : own_algorithms) {
      CAPTURE(name, comm.size());
      const auto allreduce = make(name, comm);
      std::vector<GuardedVector> vectors;
      std::vector<std::unique_ptr<PendingSum>> pending;
      for (const std::size_t length : {20'011U, 1U, 70'001U, 0U, 5'003U}) vectors.emplace_back(length);
      for (auto& vector : vectors) {
        fill(vector.values(), comm.rank());
        pending.push_back(allreduce->begin(vector.values()));
        for (auto& sum : pending) sum->advance();
      }
      const auto first = static_cast<std::size_t>(comm.rank());
      for (std::size_t k = 0; k < pending.size(); ++k) {
        pending[(first + k) % pending.size()]->wait();
        CHECK(wrong_values(vectors[(first + k) % pending.size()].values(), comm.size()) == 0);
      }
      for (auto& vector : vectors) CHECK(vector.guards_untouched());
    }
  });
}

TEST_CASE("all of a sum's buffers serve the next one: sums of other lengths in between change nothing")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : own_algorithms)
    for (const auto wire : {dt::Wire::float32, dt::Wire::bfloat16}) {
      const auto allreduce = make(name, comm, wire);
      for (const std::size_t length : {40'000U, 3U, 100'000U, 3U, 40'000U}) {
        std::vector<float> values(length, 1.0F);
        allreduce->sum(std::span<float>(values));
        CHECK(values == std::vector<float>(length, static_cast<float>(comm.size())));
      }
    }
}

namespace {

// Numbers in [-1, 1), the same on every machine.
float noise(int rank, std::size_t index)
{
  auto bits = static_cast<std::uint32_t>(index) * 2654435761U + static_cast<std::uint32_t>(rank) * 40503U + 1;
  for (int round = 0; round < 3; ++round) bits = (bits ^ (bits >> 15U)) * 2246822519U;
  return static_cast<float>(bits >> 8U) / static_cast<float>(1U << 23U) - 1.0F;
}

// Roundings that a part can meet on its way, the sum's own among them: one wherever it is sent.
int roundings(const std::string& name, int ranks)
{
  if (name == "ring") return ranks;
  const auto p = static_cast<std::size_t>(ranks);
  if (name == "tree") return 1 + static_cast<int>(std::ceil(std::log2(ranks)));
  if (name == "halving-doubling") return 1 + static_cast<int>(prime_factors(p).size());
  return 1 + 2 + static_cast<int>(prime_factors((p + 3) / 4).size()); // within supernodes of four, then between them
}

// (1 + u)^k - 1 of the sum of magnitudes, u = 2^-8 (Higham, Accuracy and Stability, lemma 3.1), and float32's own roundings.
bool within_bound(const std::string& name, int ranks, std::size_t index, float sum)
{
  double exact = 0, magnitudes = 0;
  for (int r = 0; r < ranks; ++r) {
    exact += noise(r, index);
    magnitudes += std::abs(noise(r, index));
  }
  const double bound =
      (std::pow(1 + std::ldexp(1.0, -8), roundings(name, ranks)) - 1 + ranks * std::ldexp(1.0, -24)) * magnitudes;
  return std::abs(sum - exact) <= bound;
}

} // namespace

TEST_CASE("over bfloat16 all ranks end with equal bits, no farther from the exact sum than theory allows, with half the bytes")
{
  for_first_ranks([](Communicator& comm) {
    for (const auto& name : own_algorithms) {
      CAPTURE(name, comm.size());
      std::vector<float> values(40'009);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = noise(comm.rank(), i);
      make(name, comm, dt::Wire::bfloat16)->sum(std::span<float>(values));
      std::size_t outside = 0;
      for (std::size_t i = 0; i < values.size(); ++i) outside += within_bound(name, comm.size(), i, values[i]) ? 0 : 1;
      CHECK(outside == 0);
      CHECK(comm.all_equal(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))));
      CHECK(sent(name, comm, values.size()).bytes == 2 * sent(name, comm, values.size(), dt::Wire::bfloat16).bytes);
    }
  });
}

TEST_CASE("over bfloat16 the error of a sum is seen, and is as large as rounding makes it")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : own_algorithms) {
    std::vector<float> exact(20'011), rounded;
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = noise(comm.rank(), i);
    rounded = exact;
    make(name, comm)->sum(std::span<float>(exact));
    make(name, comm, dt::Wire::bfloat16)->sum(std::span<float>(rounded));
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      error += std::pow(rounded[i] - exact[i], 2);
      norm += std::pow(exact[i], 2);
    }
    // Independent roundings of at most 2^-8 each add up as the root of their number, P at most. Over 17 ranks it is 0.0050 for
    // ring, 0.0028 for tree, 0.0027 for topology-aware and 0.0022 for halving-doubling, which rounds least often.
    const double relative = std::sqrt(error / norm);
    CAPTURE(name, relative);
    CHECK(relative < std::ldexp(1.0, -8) * std::sqrt(comm.size()));
    CHECK((comm.size() == 1 || relative > std::ldexp(1.0, -12)));
  }
}

TEST_CASE("a traced sum leaves its span and those of its waits")
{
  Communicator comm(MPI_COMM_WORLD);
  comm.begin_trace();
  std::vector<float> values(1000);
  make("ring", comm)->sum(std::span<float>(values));
  const auto& spans = comm.trace()->spans();
  const auto waits = std::count_if(spans.begin(), spans.end(), [](const Span& span) { return std::string(span.name) == "wait"; });
  CHECK(waits == 2 * (comm.size() - 1));
  REQUIRE_FALSE(spans.empty());
  CHECK(std::string(spans.back().name) == "allreduce");
  CHECK(spans.back().bytes == 4000);
  for (const auto& span : spans) CHECK(span.begin_s <= span.end_s);
}
