// The ranks that measure together: those that a launcher has started, or this process alone.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/mpi_world.hpp"

#include <optional>

namespace dt::engine {

class BenchRanks {
public:
  // MPI is started only where a launcher has started this process. Collective. A recipe error for an unknown allreduce.
  explicit BenchRanks(const std::string& allreduce);
  int size() const { return comm_ ? comm_->size() : 1; }
  bool is_root() const { return !comm_ || comm_->is_root(); }
  // values <- sum over ranks; nothing to do for one. Collective.
  void sum(std::span<float> values);
  // Rank 0's number, on every rank. Collective.
  double of_root(double value);
  // Nobody goes on before all are here.
  void barrier();

private:
  std::optional<MpiWorld> world_;
  std::optional<Communicator> comm_;
  std::unique_ptr<Allreduce> allreduce_; // none for one rank
};

} // namespace dt::engine
