// `mpi`: the MPI library's MPI_Allreduce, the baseline for all other algorithms.
#include "core/error.hpp"
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/message.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

class MpiAllreduce : public Allreduce {
 public:
  MpiAllreduce(const AllreduceOptions& options, Communicator& comm);
  using Allreduce::sum;
  void sum(std::span<float> values) override;

 private:
  Communicator& comm_;
};

MpiAllreduce::MpiAllreduce(const AllreduceOptions& options, Communicator& comm) : comm_(comm)
{
  if (options.wire != Wire::float32)
    throw Error(ErrorKind::recipe, "The allreduce `mpi` sends float32 only; take another one for sync.wire: " +
                                       std::string(name_of(options.wire)) + ".");
}

void MpiAllreduce::sum(std::span<float> values)
{
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), longest_message()));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), MPI_FLOAT, MPI_SUM, comm_.handle()),
              "MPI_Allreduce");
    comm_.traffic().bytes += bandwidth_optimal_bytes(piece.size_bytes(), comm_.size());
    comm_.traffic().messages += comm_.size() > 1 ? 1 : 0;
    values = values.subspan(piece.size());
  }
}

} // namespace

std::unique_ptr<Allreduce> make_mpi(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<MpiAllreduce>(options, comm);
}

} // namespace dt::comm
