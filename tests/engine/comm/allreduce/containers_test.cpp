// Ranks of one node that cannot open each other's files. Started by mpirun with each rank in a container of its own.
#include "engine/comm/allreduce/shared_vectors.hpp"

#include <algorithm>

#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

TEST_CASE("each rank is in a container of its own: its process number is small")
{
  constexpr int most = 100; // a shell, a few processes before it
  CHECK(::getpid() < most);
}

TEST_CASE("ranks in containers of their own share memory in a window of the MPI library")
{
  Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, 2 * huge_page_bytes + 1}) {
    SharedMemory memory(comm, bytes);
    CHECK(memory.has_own_file() == (comm.size() == 1));
    CHECK(memory.size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 4096 == 0);
    CHECK(std::all_of(memory.data(), memory.data() + bytes, [](std::byte byte) { return byte == std::byte{}; }));
    comm.barrier();
    if (comm.rank() == comm.size() - 1) memory.data()[bytes - 1] = std::byte{42};
    comm.barrier();
    CHECK(memory.data()[bytes - 1] == std::byte{42});
  }
}

TEST_CASE("vectors in a window of the MPI library are summed by slices as those in a file of our own")
{
  Communicator comm(MPI_COMM_WORLD);
  constexpr std::size_t length = 10'007;
  SharedVectors vectors(comm, {.length = length, .common = 1});
  for (int round = 1; round <= 20; ++round) {
    std::ranges::fill(vectors.own(), static_cast<float>(round * (comm.rank() + 1)));
    vectors.meet();
    const auto slice = vectors.slice();
    vectors.sum(slice.begin, values_at(vectors.common(0), slice));
    vectors.meet();
    const auto expected = static_cast<float>(round * comm.size() * (comm.size() + 1) / 2);
    CHECK(std::ranges::count(vectors.common(0), expected) == static_cast<std::ptrdiff_t>(length));
  }
  comm.barrier();
}
