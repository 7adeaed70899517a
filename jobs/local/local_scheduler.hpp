// The local scheduler: runs jobs on this machine, or on hosts where it can start ranks, without a daemon (queue.hpp,
// supervisor.hpp).
#pragma once

#include "jobs/local/queue.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <string>

namespace dt::jobs::local {

// Explains why a job with these resources can never run on this machine; empty if it can. `side_threads` are per rank, in
// addition to its compute threads. `cores` is the number of cores of this machine, `quota` says what limits it
// (CpuAllowance::quota_text), if anything does.
std::string objection(const ResourcesSpec& resources, std::int64_t side_threads, std::size_t cores, const std::string& quota);

class LocalScheduler final : public Scheduler {
 public:
  explicit LocalScheduler(const Home& home) : home_(home), queue_(home) {}
  std::string name() const override { return "local"; }
  // Refuses jobs that can never run: more nodes than resources.hosts names (one, if it names none), or more cores than the mask
  // has without oversubscribe.
  std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) override;
  // Also starts a supervisor if jobs wait and their supervisor was killed.
  std::vector<JobStatus> poll(std::span<const JobHandle> jobs) override;
  void cancel(std::span<const JobHandle> jobs) override;

 private:
  Home home_;
  Queue queue_;
};

} // namespace dt::jobs::local
