// `dynamic`: takes at each size the allreduce that is fastest on this machine, by timings and a cost model fitted to them, and reconsiders
// while it sums (the tianhe3 paper's Dynamic Allreduce as we read it: the paper's own rule was not available).
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/allreduce_timings.hpp"
#include "engine/comm/choice_watch.hpp"
#include "engine/comm/timings_cache.hpp"

#include <deque>

namespace dt::engine {

class DynamicAllreduce : public Allreduce {
public:
  // Times all other algorithms that have this wire format (time_allreduces), or reads what an earlier run of the same ranks on the same
  // hosts has kept in options.cache and a fresh sum confirms (kept_or_fresh_timings). Counts no traffic. Collective.
  DynamicAllreduce(const AllreduceOptions& options, Communicator& comm);
  // By these timings, of algorithms of this program, equal on all ranks. Collective.
  DynamicAllreduce(AllreduceTimings timings, const AllreduceOptions& options, Communicator& comm, std::string origin = "given");
  ~DynamicAllreduce() override;
  void sum(std::span<float> values) override;
  void sum(std::span<const float> values, std::span<float> result) override;
  // Whatever algorithms they take, sums are waited for in the order in which they were begun.
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;
  // Every ChoiceWatch::steps_a_look steps (of a trial: at its end) the ranks exchange a few numbers, and decide on them alike.
  void end_step() override;
  std::string choice() const override;
  std::vector<std::pair<std::string, std::string>> facts() const override;
  std::int64_t bucket_bytes() const override { return static_cast<std::int64_t>(bucket_bytes_); }

private:
  class Pending;
  DynamicAllreduce(KnownTimings known, const AllreduceOptions& options, Communicator& comm);
  // The algorithm for so many bytes now, and that a sum of them begins.
  std::size_t next(std::size_t bytes);
  Allreduce& made(std::size_t algorithm);
  void timed(std::size_t algorithm, std::size_t bytes, const std::function<void()>& call);
  void finish_begun();

  AllreduceOptions options_;
  Communicator& comm_;
  std::string origin_;
  ChoiceWatch watch_;
  std::size_t bucket_bytes_;
  std::vector<std::unique_ptr<Allreduce>> allreduces_; // by index in the timings; null where never taken
  std::deque<Pending*> under_way_;                     // in the order of their begin
};

} // namespace dt::engine
