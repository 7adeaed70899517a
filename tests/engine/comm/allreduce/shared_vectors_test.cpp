// Vectors in the memory of a node. Started by mpirun with several counts of ranks, more than there are cores.
#include "engine/comm/allreduce/shared_vectors.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

float value_of(int rank, std::size_t index, int round)
{
  return 1 / static_cast<float>(rank * 3 + static_cast<int>(index % 101) + round + 1);
}

} // namespace

TEST_CASE("vectors in shared memory start as zeros on whole pages")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t length : {std::size_t{1}, std::size_t{5000}, huge_page_bytes / sizeof(float) + 1}) {
    SharedVectors vectors(comm, {.length = length, .common = 2});
    CHECK(vectors.ranks() == comm.size());
    for (const auto vector : {vectors.common(0), vectors.common(1), vectors.own()}) {
      CHECK(vector.size() == length);
      CHECK(std::ranges::all_of(vector, [](float number) { return number == 0; }));
      CHECK(reinterpret_cast<std::uintptr_t>(vector.data()) % (length < 10'000 ? 4096 : huge_page_bytes) == 0);
    }
    comm.barrier();
  }
}

TEST_CASE("slices cover a vector without a gap, cut at cache lines")
{
  Communicator comm(MPI_COMM_WORLD);
  SharedVectors vectors(comm, {.length = 1001});
  const auto slice = vectors.slice();
  CHECK(slice.begin % 16 == 0);
  std::vector<double> size{static_cast<double>(slice.size())};
  comm.sum_record(size);
  CHECK(size[0] == 1001);
  if (vectors.rank() == vectors.ranks() - 1) CHECK(slice.end == 1001);
}

TEST_CASE("what a rank writes before a meeting, all ranks read after it, and sums are in rank order on every rank")
{
  Communicator comm(MPI_COMM_WORLD);
  constexpr std::size_t length = 10'007;
  SharedVectors vectors(comm, {.length = length, .common = 1});
  int wrong = 0;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t i = 0; i < length; ++i) vectors.own()[i] = value_of(comm.rank(), i, round);
    vectors.meet({static_cast<double>(comm.rank()), static_cast<double>(round)});
    for (int r = 0; r < vectors.ranks(); ++r)
      wrong += vectors.note_of(r) == SharedVectors::Note{static_cast<double>(r), static_cast<double>(round)} ? 0 : 1;
    const auto slice = vectors.slice();
    vectors.sum(slice.begin, values_at(vectors.common(0), slice));
    vectors.meet();
    for (std::size_t i = 0; i < length; ++i) {
      float expected = value_of(0, i, round);
      for (int r = 1; r < vectors.ranks(); ++r) expected += value_of(r, i, round);
      wrong += vectors.common(0)[i] == expected ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  comm.barrier();
}

TEST_CASE("ranks that give different lengths are told so, all of them")
{
  Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const std::size_t length = comm.rank() == 0 ? 10 : 20;
  CHECK_THROWS_WITH(SharedVectors(comm, {.length = length}), Catch::Contains("vectors of different lengths"));
}
