// BenchRanks: the ranks of a benchmark: those that a launcher started, or this process alone.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/allreduce/shared_vectors.hpp"
#include "engine/comm/mpi_world.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dt::bench {

class BenchRanks {
 public:
  // Starts MPI only if a launcher started this process. Throws a recipe error for an unknown allreduce. Collective.
  explicit BenchRanks(const std::string& allreduce);
  int size() const { return comm_ ? comm_->size() : 1; }
  bool is_root() const { return !comm_ || comm_->is_root(); }
  // Whether ranks share one copy of the weights: several on one node, with the allreduce `hierarchical`. Equal on all ranks.
  bool share_weights() const { return shares_; }
  // Makes memory that the ranks share; only if share_weights(). Collective.
  std::unique_ptr<comm::SharedVectors> make_vectors(const comm::SharedVectors::Shape& shape);
  // values <- sum over ranks; does nothing with one rank. Collective.
  void sum(std::span<float> values);
  // Returns rank 0's number on every rank. Collective.
  double of_root(double value);
  // Returns rank 0's text on every rank. Only rank 0 calls `make`; the others sleep until it has ended. Collective.
  std::string text_of_root(const std::function<std::string()>& make);
  // On rank 0: every rank's numbers in rank order, equally many of each; empty on the other ranks. Collective.
  std::vector<double> gather(std::span<const double> values);
  // Returns every rank's text, on every rank, in rank order. Collective.
  std::vector<std::string> gather(const std::string& text);
  // Blocks until all ranks have called it. Collective.
  void barrier();

 private:
  std::optional<comm::MpiWorld> world_;
  std::optional<comm::Communicator> comm_;
  std::unique_ptr<comm::Allreduce> allreduce_; // null for one rank
  bool shares_ = false;
};

} // namespace dt::bench
