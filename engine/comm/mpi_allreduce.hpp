// `mpi`: MPI_Allreduce of the MPI library, the baseline that every own algorithm is shown beside.
#pragma once

#include "engine/comm/allreduce.hpp"

namespace dt::engine {

class MpiAllreduce : public Allreduce {
public:
  void sum(std::span<float> values, Communicator& comm) override;
};

} // namespace dt::engine
