// Interface of the allreduce algorithms. Each algorithm has one file and one line in make_allreduce (registry.cpp).
#pragma once

#include "core/spec/choices.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/topology.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dt::comm {

// An allreduce in progress. The caller must not read or write its buffer, nor destroy this object, before it is complete.
class PendingSum {
 public:
  virtual ~PendingSum() = default;
  // Makes progress without blocking; returns true when the sum is complete. One thread may advance several sums in turn.
  virtual bool advance() = 0;
  // Blocks until this sum, and every sum that the same allreduce began before it, is complete. Ranks may wait in different
  // orders.
  virtual void wait() = 0;
};

// 2 n (P-1)/P for n = `bytes` and P = `ranks`: what each rank sends in a bandwidth-optimal allreduce.
std::int64_t bandwidth_optimal_bytes(std::size_t bytes, int ranks);

// A sum that cannot be advanced: wait() makes the whole call.
std::unique_ptr<PendingSum> call_when_waited_for(std::function<void()> call);

class Allreduce {
 public:
  virtual ~Allreduce() = default;
  // values <- sum over ranks of values, in place. Collective; equal lengths on all ranks.
  // Adds bytes and messages to the communicator's traffic(). The count is exact for our own schedules. The schedule of the MPI
  // library's call is not visible: it counts as one message and bandwidth_optimal_bytes(). GlooAllreduce says how it counts.
  virtual void sum(std::span<float> values) = 0;
  // Out of place: `values` is left untouched. Collective.
  virtual void sum(std::span<const float> values, std::span<float> result);
  // Begins a sum in place; advance() and wait() of the returned object continue it. Collective: all ranks must begin their sums
  // in the same order. An algorithm that cannot be advanced does all the work in wait(), still in the order of begin().
  virtual std::unique_ptr<PendingSum> begin(std::span<float> values);
  // Ends a step of the caller. All sums that this rank began must be complete. An algorithm that selects others may agree with
  // the other ranks on a new selection here. Collective: all ranks call it at the same place in their sequence of sums.
  virtual void end_step() {}
  // The algorithm's own selection in words, for the run record: "mpi, ring from 16 KiB; buckets of 4 MiB". Empty when the
  // algorithm selects nothing.
  virtual std::string choice() const { return {}; }
  // Facts about the selection for the run record: {"allreduce", choice()} and how it was made. Empty when the algorithm selects
  // nothing.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
  // The smallest sum, in bytes, that uses the network well; buckets should have this size. 0: unknown.
  virtual std::int64_t bucket_bytes() const { return 0; }

 private:
  class Late;
  std::deque<std::span<float>> late_; // begun sums; they run when the caller waits for one of them or for a later one
  std::int64_t late_done_ = 0;        // number of these sums that are complete
};

struct AllreduceOptions {
  std::string algorithm = "mpi"; // one of allreduce_names(); has no effect if the wire is int8 or int4 (CodedAllreduce)
  Wire wire = Wire::float32;
  Topology topology{};           // topology of the communicator's ranks; empty: nodes are found by host name
  std::filesystem::path cache{}; // folder with the timings of this machine; empty, on all ranks alike: they are not kept
  double timing_s = 5; // approximate time for timing all algorithms; up to three times as long when the largest sums are slow
  std::size_t largest_bytes = 0; // size of the largest sum that the run will make, if known; 0: unknown
  // For tests: replaces the measured seconds of a sum. Arguments: algorithm, bytes, measured seconds. Empty: the measured time is
  // used.
  std::function<double(const std::string& algorithm, std::size_t bytes, double seconds)> seen_s{};
  // For tests of `hierarchical`, which pause here: called with the block's number when a rank finds that other ranks of its node
  // have not put the block yet, before the rank checks the next block.
  std::function<void(std::int64_t block)> found_incomplete{};
};

// Makes the named algorithm over all ranks of comm. comm must outlive it. Throws a recipe error for an unknown name, or when the
// algorithm does not support the wire format. Collective.
std::unique_ptr<Allreduce> make_allreduce(const AllreduceOptions& options, Communicator& comm);

std::vector<std::string> registered_allreduces();

} // namespace dt::comm
