#include "engine/train/job/hello.hpp"

#include "core/process.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <mpi.h>

namespace dt::train {
namespace {

constexpr std::size_t name_bytes = 256;
using Name = std::array<char, name_bytes>;

// The hosts of all ranks, on rank 0. Collective.
std::set<std::string> gather_hosts(int ranks)
{
  Name own{};
  host_name().copy(own.data(), own.size() - 1);
  std::vector<Name> all(static_cast<std::size_t>(ranks));
  MPI_Gather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(), static_cast<int>(own.size()), MPI_CHAR, 0,
             MPI_COMM_WORLD);
  std::set<std::string> hosts;
  for (const auto& name : all) hosts.insert(name.data());
  return hosts;
}

} // namespace

int say_hello()
{
  MPI_Init(nullptr, nullptr);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto hosts = gather_hosts(ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("hello %d ranks on %zu hosts\n", ranks, hosts.size());
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}

} // namespace dt::train
