#include "engine/comm/communicator.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace dt::engine {
namespace {

// MPI counts with int: longer vectors go in pieces.
constexpr std::size_t largest_count = std::size_t{1} << 30;

} // namespace

void check_mpi(int code, const char* call)
{
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ErrorKind::internal, std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

Communicator::Communicator(MPI_Comm comm) : comm_(comm)
{
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

void Communicator::broadcast(std::span<float> values, int root)
{
  if (rank_ == root && size_ > 1 && !values.empty()) {
    traffic_.bytes += static_cast<std::int64_t>(values.size_bytes()) * (size_ - 1);
    traffic_.messages += 1;
  }
  broadcast_record(values, root);
}

void Communicator::broadcast_record(std::span<float> values, int root)
{
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), largest_count));
    check_mpi(MPI_Bcast(piece.data(), static_cast<int>(piece.size()), MPI_FLOAT, root, comm_), "MPI_Bcast");
    values = values.subspan(piece.size());
  }
}

void Communicator::sum_record(std::span<double> values)
{
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm_),
            "MPI_Allreduce");
}

void Communicator::bring_to_root(std::span<float> values, int from) { transfer(values, from, 0); }
void Communicator::send_from_root(std::span<float> values, int to) { transfer(values, 0, to); }

void Communicator::transfer(std::span<float> values, int from, int to)
{
  if (from == to) return;
  constexpr int tag = 1;
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), largest_count));
    const int count = static_cast<int>(piece.size());
    if (rank_ == from) check_mpi(MPI_Send(piece.data(), count, MPI_FLOAT, to, tag, comm_), "MPI_Send");
    if (rank_ == to) check_mpi(MPI_Recv(piece.data(), count, MPI_FLOAT, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    values = values.subspan(piece.size());
  }
}

std::string Communicator::broadcast_text(const std::string& text, int root)
{
  std::string received = text;
  auto length = static_cast<std::int64_t>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT64_T, root, comm_), "MPI_Bcast");
  received.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(received.data(), static_cast<int>(length), MPI_CHAR, root, comm_), "MPI_Bcast");
  return received;
}

std::vector<double> Communicator::gather_numbers(std::span<const double> values)
{
  std::vector<double> all(is_root() ? values.size() * static_cast<std::size_t>(size_) : 0);
  const int count = static_cast<int>(values.size());
  check_mpi(MPI_Gather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm_), "MPI_Gather");
  return all;
}

std::vector<std::string> Communicator::gather_texts(const std::string& text)
{
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<int> lengths(ranks), offsets(ranks);
  const int length = static_cast<int>(text.size());
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string joined(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(), MPI_CHAR, comm_),
            "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < ranks; ++r)
    texts.push_back(joined.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

bool Communicator::all_equal(const std::string& text)
{
  int same = broadcast_text(text) == text ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  return same == 1;
}

void Communicator::barrier() { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }

} // namespace dt::engine
