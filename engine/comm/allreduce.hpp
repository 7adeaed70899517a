// Allreduce algorithms: one file each, one line in make_allreduce (registry.cpp).
#pragma once

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

namespace dt::engine {

// A sum on its way. Its buffer must neither be read nor written until it is complete; destroying it before is an error.
class PendingSum {
public:
  virtual ~PendingSum() = default;
  // Moves it on as far as it goes without waiting; true when it is complete. Several may be moved on in turn, by one thread.
  virtual bool advance() = 0;
  // Blocks until it is complete, and those of the same allreduce that were begun before it: ranks may wait in any order.
  virtual void wait() = 0;
};

// What cannot be advanced: all is done by the call that waits.
std::unique_ptr<PendingSum> call_when_waited_for(std::function<void()> call);

class Allreduce {
public:
  virtual ~Allreduce() = default;
  // values <- sum over ranks of values, in place. Collective; equal lengths on all ranks.
  // Counts bytes and messages in the communicator's traffic(): exact for our own schedules; for the MPI library's call, whose
  // schedule is not visible, the bandwidth-optimal volume 2 n (P-1)/P a rank and one message.
  virtual void sum(std::span<float> values) = 0;
  // Out of place: `values` is left untouched. Collective.
  virtual void sum(std::span<const float> values, std::span<float> result);
  // Begins a sum in place that goes on in the calls of what it returns. All ranks begin theirs in the same order. An algorithm
  // that cannot be advanced step by step does everything in wait(), in the order of begin() all the same.
  virtual std::unique_ptr<PendingSum> begin(std::span<float> values);
  // All sums that were begun are complete on this rank, and a step of the caller's is over: an algorithm that chooses may agree with
  // the other ranks on another choice. Collective, at the same place of the sequence of sums on all ranks.
  virtual void end_step() {}
  // What it chose by itself, in words, for the record: "mpi up to 16 KiB, ring above"; empty when it has no choice.
  virtual std::string choice() const { return {}; }
  // The choice and how it came about, for the record: {"allreduce", choice()} and more; empty when it has no choice.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
  // Bytes from which on a sum uses the network well, for the size of buckets; 0 when it does not know.
  virtual std::int64_t bucket_bytes() const { return 0; }

private:
  class Late;
  std::deque<std::span<float>> late_; // sums that were begun and are done when somebody waits for them or for a later one
  std::int64_t late_done_ = 0;        // how many of those are done
};

struct AllreduceOptions {
  std::string algorithm = "mpi"; // of allreduce_names()
  std::string wire = "float32";  // of wire_names()
  Topology topology{};           // of the ranks of the communicator; empty: by host name
  std::filesystem::path cache{}; // folder in which timings of this machine are kept; empty: they are not
  double timing_s = 5;           // that timing them takes about; up to three times as long where few sums of the largest size take that long
  std::size_t largest_bytes = 0; // of the sums to come, as far as is known; 0: not known
  // For tests: seconds that a sum by that algorithm, of so many bytes, is taken to have lasted, given those of the clock. Empty: the latter.
  std::function<double(const std::string& algorithm, std::size_t bytes, double seconds)> seen_s{};
  // For tests of `hierarchical`, which pause there: called with a block's number when a rank finds that others of its node have not put
  // it yet, before the rank looks at the next block.
  std::function<void(std::int64_t block)> found_incomplete{};
};

// The algorithm of that name over all ranks of comm, which must outlive it. Collective. A recipe error for an unknown name, and
// for a wire format that the algorithm does not have.
std::unique_ptr<Allreduce> make_allreduce(const AllreduceOptions& options, Communicator& comm);

std::vector<std::string> registered_allreduces();

} // namespace dt::engine
