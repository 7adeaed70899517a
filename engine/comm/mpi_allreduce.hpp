// `mpi`: MPI_Allreduce of the MPI library, the baseline that every own algorithm is shown beside.
#pragma once

#include "engine/comm/allreduce.hpp"

namespace dt::engine {

class MpiAllreduce : public Allreduce {
public:
  MpiAllreduce(const AllreduceOptions& options, Communicator& comm);
  using Allreduce::sum;
  void sum(std::span<float> values) override;

private:
  Communicator& comm_;
};

} // namespace dt::engine
