// Site: what dtctl doctor asks of a cluster. It runs short jobs of its own there, outside of studies.
#pragma once

#include "core/error.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace dt::jobs {

// One observation about the cluster.
struct SiteFinding {
  std::string check; // "slurm limits"
  bool is_good = true;
  std::string found;  // the observation
  std::string advice; // what the user should do; empty if there is no problem
};

// A job that is no run. Its output goes to <folder>/log.
struct TrialJob {
  std::filesystem::path folder;   // absolute; exists
  std::filesystem::path work_dir; // where the script runs
  std::string script;             // its text
  std::string command;            // what the scheduler shows as the job's command
  ResourcesSpec resources{};      // without its time limit
  std::int64_t time_limit_min = 1;
};

struct TrialState {
  JobStatus status;          // not_found: the scheduler has forgotten the job
  std::string native_reason; // why it waits, in the scheduler's own word
  std::string nodes;         // on which it runs or ran; empty: unknown
};

// The scheduler refused a trial job, or a question about one.
class TrialRefusal final : public Error {
 public:
  TrialRefusal(const std::string& scheduler, std::string words, int code);
  const std::string& words() const { return words_; } // the scheduler's own

 private:
  std::string words_;
};

// Every function throws a TrialRefusal.
class Site {
 public:
  virtual ~Site() = default;
  virtual std::string title() const = 0; // what people call the scheduler: "Slurm"
  // Plugins with which the scheduler's own launcher starts MPI programs.
  virtual std::vector<std::string> mpi_plugins() = 0;
  // Returns the job's id. Throws a recipe error if the scheduler cannot use the resources' scheduler_args.
  virtual std::string submit(const TrialJob& job) = 0;
  virtual TrialState look(const std::string& id, const TrialJob& job) = 0;
  virtual void end(const std::string& id) = 0;
};

// What a look at the cluster shows, and the cluster itself if it answers.
struct SiteReport {
  std::vector<SiteFinding> findings;
  std::unique_ptr<Site> site;
};

} // namespace dt::jobs
