// Allreduce algorithms: one file each, one line in make_allreduce (registry.cpp).
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/comm/topology.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
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
  // that cannot be advanced step by step does everything in wait().
  virtual std::unique_ptr<PendingSum> begin(std::span<float> values);
  // What it chose by itself, in words, for the record: "mpi up to 16 KiB, ring above"; empty when it has no choice.
  virtual std::string choice() const { return {}; }
  // Bytes from which on a sum uses the network well, for the size of buckets; 0 when it does not know.
  virtual std::int64_t bucket_bytes() const { return 0; }
};

struct AllreduceOptions {
  std::string algorithm = "mpi"; // of allreduce_names()
  std::string wire = "float32";  // of wire_names()
  Topology topology{};           // of the ranks of the communicator; empty: by host name
  std::filesystem::path cache{}; // folder in which timings of this machine are kept; empty: they are not
  double timing_s = 4;           // about the most that timing them may take
};

// The algorithm of that name over all ranks of comm, which must outlive it. Collective. A recipe error for an unknown name, and
// for a wire format that the algorithm does not have.
std::unique_ptr<Allreduce> make_allreduce(const AllreduceOptions& options, Communicator& comm);

std::vector<std::string> registered_allreduces();

} // namespace dt::engine
