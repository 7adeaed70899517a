// CentreExchange: the centre from rank 0 to all ranks, and the sum of all ranks' weights to rank 0, along a binomial tree.
#pragma once

#include "engine/comm/scheduled_sum.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace dt::engine {

// A part of the weights that travels as a message of its own: numbers [first, second).
using Part = std::pair<std::size_t, std::size_t>;

// One rank's rounds over a vector of 2n numbers, the weights' sum [0, n) and behind it the centre [n, 2n): a broadcast of the
// centre from rank 0, then a sum of the weights to it, part by part, in log2 P serial transfers each. Pure.
Schedule centre_schedule(int rank, int ranks, std::size_t n, const std::vector<Part>& parts);

class CentreExchange {
 public:
  // comm must outlive it.
  CentreExchange(std::size_t n, const std::vector<Part>& parts, Communicator& comm);

  // To be set before an exchange: the weights, and on rank 0 the centre. After it: on rank 0 the sum, on all ranks the centre.
  std::span<float> sum() { return std::span(values_).first(values_.size() / 2); }
  std::span<float> centre() { return std::span(values_).last(values_.size() / 2); }

  // Begins one. All ranks begin theirs in the same order, and one at a time.
  std::unique_ptr<PendingSum> begin();

 private:
  Communicator& comm_;
  Parcels parcels_;
  SumBuffers buffers_;
  std::vector<float> values_;
};

} // namespace dt::engine
