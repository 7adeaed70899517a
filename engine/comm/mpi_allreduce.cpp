#include "engine/comm/mpi_allreduce.hpp"

#include <algorithm>

namespace dt::engine {
namespace {

// MPI counts with int: longer vectors go in pieces.
constexpr std::size_t largest_count = std::size_t{1} << 30;

// 2 n (P-1) / P bytes: what a bandwidth-optimal schedule sends from each rank.
std::int64_t optimal_bytes(std::size_t bytes, int ranks) { return 2 * static_cast<std::int64_t>(bytes) * (ranks - 1) / ranks; }

} // namespace

void MpiAllreduce::sum(std::span<float> values, Communicator& comm)
{
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), largest_count));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), MPI_FLOAT, MPI_SUM, comm.handle()),
              "MPI_Allreduce");
    comm.traffic().bytes += optimal_bytes(piece.size_bytes(), comm.size());
    comm.traffic().messages += comm.size() > 1 ? 1 : 0;
    values = values.subspan(piece.size());
  }
}

} // namespace dt::engine
