// `dynamic`: uses at each size the allreduce that is fastest on this machine, by measured times and a fitted cost model, and
// reconsiders during the run. This is our reading of the Dynamic Allreduce of [Wei2021]; the paper's own rule was not available.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/choice/allreduce_timings.hpp"
#include "engine/comm/choice/choice_watch.hpp"

#include <deque>
#include <optional>
#include <string>

namespace dt::comm {

// Timings, and their origin in words for the run record.
struct KnownTimings {
  AllreduceTimings timings;
  std::string origin;
};

// Returns the timings in options.cache for the same hosts, cores, topology, MPI library and wire format, if all of this holds:
// their algorithms exist in this program; they reach at least half of the largest size that would be timed; and a new sum takes
// as long as the cached one (is_confirmed; if the first sum does not confirm, the median of five decides). Otherwise times all
// algorithms and writes the cache. The result is equal on all ranks. The traffic is not counted. Collective.
KnownTimings kept_or_fresh_timings(const AllreduceOptions& options, Communicator& comm);

class DynamicAllreduce : public Allreduce {
 public:
  // Times all other algorithms that support the wire format (time_allreduces), or reads the timings of an earlier run with the
  // same ranks on the same hosts from options.cache if a new sum confirms them (kept_or_fresh_timings). This traffic is not
  // counted. Collective.
  DynamicAllreduce(const AllreduceOptions& options, Communicator& comm);
  // Uses the given timings. They must be equal on all ranks and name algorithms of this program. Collective.
  DynamicAllreduce(AllreduceTimings timings, const AllreduceOptions& options, Communicator& comm, std::string origin = "given");
  ~DynamicAllreduce() override;
  void sum(std::span<float> values) override;
  void sum(std::span<const float> values, std::span<float> result) override;
  // Sums complete in the order in which they were begun, even if they use different algorithms.
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;
  // Every ChoiceWatch::steps_a_look steps, or at the end of a trial, the ranks exchange a few numbers and make the same decision.
  void end_step() override;
  std::string choice() const override;
  std::vector<std::pair<std::string, std::string>> facts() const override;
  std::int64_t bucket_bytes() const override { return static_cast<std::int64_t>(bucket_bytes_); }

 private:
  class Pending;
  DynamicAllreduce(KnownTimings known, const AllreduceOptions& options, Communicator& comm);
  // Selects the algorithm for a sum of `bytes` bytes and registers that the sum begins.
  std::size_t next(std::size_t bytes);
  Allreduce& made(std::size_t algorithm);
  void timed(std::size_t algorithm, std::size_t bytes, const std::function<void()>& call);
  void finish_begun();

  AllreduceOptions options_;
  Communicator& comm_;
  std::string origin_;
  ChoiceWatch watch_;
  std::size_t bucket_bytes_;
  std::vector<std::unique_ptr<Allreduce>> allreduces_; // by index in the timings; null: never used
  std::deque<Pending*> under_way_;                     // in the order of begin()
};

} // namespace dt::comm
