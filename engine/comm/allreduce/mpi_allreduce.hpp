// `mpi`: the MPI library's MPI_Allreduce, the baseline for all other algorithms.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"

namespace dt::comm {

class MpiAllreduce : public Allreduce {
 public:
  MpiAllreduce(const AllreduceOptions& options, Communicator& comm);
  using Allreduce::sum;
  void sum(std::span<float> values) override;

 private:
  Communicator& comm_;
};

} // namespace dt::comm
