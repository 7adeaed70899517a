// `dynamic`: takes at each size the allreduce that was fastest on this machine (the tianhe3 paper's Dynamic Allreduce as we read it:
// the paper's own rule was not available).
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/allreduce_timings.hpp"

namespace dt::engine {

class DynamicAllreduce : public Allreduce {
public:
  // Times all other algorithms that have this wire format, for about options.timing_s, or reads what an earlier run of the same ranks on
  // the same hosts has kept in options.cache. Counts no traffic. Collective.
  DynamicAllreduce(const AllreduceOptions& options, Communicator& comm);
  // By these timings, of algorithms of this program, equal on all ranks. Collective.
  DynamicAllreduce(const AllreduceTimings& timings, const AllreduceOptions& options, Communicator& comm);
  void sum(std::span<float> values) override { chosen(values.size_bytes()).sum(values); }
  void sum(std::span<const float> values, std::span<float> result) override { chosen(values.size_bytes()).sum(values, result); }
  std::unique_ptr<PendingSum> begin(std::span<float> values) override { return chosen(values.size_bytes()).begin(values); }
  std::string choice() const override;
  std::int64_t bucket_bytes() const override { return static_cast<std::int64_t>(bucket_bytes_); }

private:
  Allreduce& chosen(std::size_t bytes) { return *allreduces_[choices_[choice_for(choices_, bytes)].algorithm]; }

  std::vector<std::string> algorithms_;
  std::vector<AllreduceChoice> choices_;
  std::size_t bucket_bytes_;
  std::vector<std::unique_ptr<Allreduce>> allreduces_; // null where never chosen
};

// Every algorithm's seconds at a few sizes, taken in turn; each time is the slowest rank's, the lower quartile of several. Larger sizes
// are left out when they would take longer than options.timing_s allows. Equal on all ranks. Not counted as traffic. Collective.
AllreduceTimings time_allreduces(const AllreduceOptions& options, Communicator& comm);

} // namespace dt::engine
