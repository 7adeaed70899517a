// Records that all ranks of a communicator exchange, over MPI.
#include "engine/comm/communicator.hpp"

#include <numeric>

namespace dt::comm {

void Communicator::reduce_record(std::span<double> values, MPI_Op op)
{
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, comm_), "MPI_Allreduce");
}

std::vector<double> Communicator::gather_numbers(std::span<const double> values)
{
  std::vector<double> all(is_root() ? values.size() * static_cast<std::size_t>(size_) : 0);
  const int count = static_cast<int>(values.size());
  check_mpi(MPI_Gather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm_), "MPI_Gather");
  return all;
}

std::vector<double> Communicator::all_numbers(std::span<const double> values)
{
  std::vector<double> all(values.size() * static_cast<std::size_t>(size_));
  const int count = static_cast<int>(values.size());
  check_mpi(MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, comm_), "MPI_Allgather");
  return all;
}

std::vector<std::string> Communicator::gather_texts(const std::string& text, Receivers receivers)
{
  const auto ranks = static_cast<std::size_t>(size_);
  const bool to_all = receivers == Receivers::all;
  std::vector<int> lengths(ranks), offsets(ranks);
  const int length = static_cast<int>(text.size());
  if (to_all)
    check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  else
    check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm_), "MPI_Gather");
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string joined(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  std::vector<std::string> texts;
  if (to_all)
    check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(), MPI_CHAR, comm_),
              "MPI_Allgatherv");
  else
    check_mpi(MPI_Gatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, comm_),
              "MPI_Gatherv");
  if (!to_all && !is_root()) return texts;
  for (std::size_t r = 0; r < ranks; ++r)
    texts.push_back(joined.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

void Communicator::barrier() { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }

} // namespace dt::comm
