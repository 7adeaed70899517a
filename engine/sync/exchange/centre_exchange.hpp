// CentreExchange: broadcasts the centre from rank 0 and sums all ranks' weights to rank 0, along a binomial tree.
#pragma once

#include "core/maths/range.hpp"
#include "engine/comm/allreduce/scheduled_sum.hpp"

#include <memory>
#include <span>
#include <vector>

namespace dt::sync {

// One rank's schedule over a vector of 2n numbers: [0, n) holds the sum of the weights, [n, 2n) the centre. The centre is
// broadcast from rank 0, then the weights are summed to rank 0. Each part of the weights is one message, so each of the two
// takes log2 P serial transfers per part. Pure.
comm::Schedule centre_schedule(int rank, int ranks, std::size_t n, const std::vector<Range>& parts);

class CentreExchange {
 public:
  // comm must outlive it.
  CentreExchange(std::size_t n, const std::vector<Range>& parts, comm::Communicator& comm);

  // Before an exchange, the caller sets sum() to its weights, and on rank 0 centre() to the centre. Afterwards sum() on rank 0
  // holds the sum, and centre() on all ranks the centre.
  std::span<float> sum() { return std::span(values_).first(values_.size() / 2); }
  std::span<float> centre() { return std::span(values_).last(values_.size() / 2); }

  // Begins an exchange. Only one may be in progress. Collective: all ranks begin their exchanges in the same order.
  std::unique_ptr<comm::PendingSum> begin();

 private:
  comm::Communicator& comm_;
  comm::Parcels parcels_;
  comm::SumBuffers buffers_;
  comm::Floats values_;
};

} // namespace dt::sync
