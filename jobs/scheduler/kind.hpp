// SchedulerKind: everything that dtctl and dtjob ask of one kind of scheduler. The registry (jobs/registry/schedulers.cpp) holds
// one object for each; what a scheduler does not have keeps its default.
#pragma once

#include "core/error.hpp"
#include "core/home/home.hpp"
#include "jobs/scheduler/batch_step.hpp"
#include "jobs/scheduler/scheduler.hpp"
#include "jobs/scheduler/site.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// How a process shows on which node and in which job it runs, where a host carries several nodes.
struct NodeMarks {
  std::string_view variable;  // in its environment: the name of its node
  std::string_view job_group; // in the path of its control group, before the job's number: "/job_"
};

class SchedulerKind {
 public:
  virtual ~SchedulerKind() = default;
  virtual std::string name() const = 0; // one of scheduler_names()

  // dtctl calls it to submit, poll and cancel. Throws a scheduler error if the scheduler cannot be used here.
  virtual std::unique_ptr<Scheduler> open(const Home& home) const = 0;
  // Throws a recipe error if the scheduler cannot use these resources.scheduler_args. Does not contact the scheduler.
  virtual void check_args(std::span<const std::string> /*args*/) const {}
  // For each request, in order, why the scheduler would refuse it; empty if only the scheduler can tell. Does not contact it.
  virtual std::vector<std::string> refusals(std::span<const JobRequest> requests) const
  {
    return std::vector<std::string>(requests.size());
  }
  // The nodes on which a run with these resources could take place now, by name; empty if they have none. Throws a scheduler
  // error if the scheduler cannot be asked.
  virtual std::vector<std::string> nodes(const ResourcesSpec& /*resources*/) const { return {}; }
  // The observations of dtctl doctor, which may ask the scheduler. Throws no scheduler error. Empty if there is no cluster.
  virtual SiteReport examine() const { return {}; }
  // The cluster, for trial jobs; null if there is none. Throws a scheduler error if it cannot be used here.
  virtual std::unique_ptr<Site> open_site() const { return nullptr; }

  // `dtjob batch` calls it in its job, on the job's first node. Null if the scheduler's jobs do not run `dtjob batch`.
  virtual std::unique_ptr<BatchStep> batch_step() const { return nullptr; }
  virtual NodeMarks node_marks() const { return {}; }
};

} // namespace dt::jobs
