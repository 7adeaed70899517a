// The local scheduler: this machine's cores, or hosts that it can start ranks on, without a daemon (queue.hpp, supervisor.hpp).
#pragma once

#include "jobs/local/queue.hpp"
#include "jobs/scheduler.hpp"

#include <string>

namespace dt::jobs::local {

// Why a job with these resources can never run on this machine; empty when it can. `progress_threads`: of a rank, beside its compute
// threads; `cores`: that this machine offers.
std::string objection(const ResourcesSpec& resources, std::int64_t progress_threads, std::size_t cores);

class LocalScheduler final : public Scheduler {
 public:
  explicit LocalScheduler(const Home& home) : home_(home), queue_(home) {}
  std::string name() const override { return "local"; }
  bool keeps_queue_here() const override { return true; }
  // Refuses what can never run here: more nodes than resources.hosts names (none: than one), or more cores than the mask holds
  // without oversubscribe.
  std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) override;
  // Starts a supervisor again when jobs wait and theirs was killed.
  std::vector<JobStatus> poll(std::span<const JobHandle> jobs) override;
  void cancel(std::span<const JobHandle> jobs) override;

 private:
  Home home_;
  Queue queue_;
};

} // namespace dt::jobs::local
