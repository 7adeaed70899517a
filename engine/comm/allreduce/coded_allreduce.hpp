// The allreduce over numbers of 8 or 4 bits (sync.wire: int8, int4): each rank sums one slice of the vector.
#pragma once

#include "core/range.hpp"
#include "engine/comm/allreduce/allreduce.hpp"

namespace dt::comm {

// Rank r owns slice r of P slices of whole blocks (block_codes.hpp):
//   1. Every rank sends its numbers of slice r, coded, to rank r.
//   2. Rank r adds what it received, in the order of the ranks and in float32, to its own numbers, which it has not rounded.
//   3. Rank r codes the sum and sends it to all others; all ranks, r included, take the decoded sum. So all end with equal bits.
// A rank sends 2 (P-1) messages and, if slices are equal, 2 n (P-1)/P coded numbers. The error of a sum is at most half the sum
// of the scales of the P-1 summands that were sent, and half the scale of the sum.
class CodedAllreduce : public Allreduce {
 public:
  // options.wire is int8 or int4; options.algorithm has no meaning. comm must outlive it.
  CodedAllreduce(const AllreduceOptions& options, Communicator& comm) : wire_(options.wire), comm_(comm) {}
  using Allreduce::sum;
  void sum(std::span<float> values) override { begin(values)->wait(); }
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;

 private:
  class Sum;
  Wire wire_;
  Communicator& comm_;
  std::vector<Sum*> under_way_; // in the order of begin()
};

} // namespace dt::comm
