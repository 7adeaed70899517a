// From requests to what Slurm is asked for. Pure functions.
#pragma once

#include "jobs/slurm/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

// What the jobs of one submission share.
struct SubmissionContext {
  std::string work_dir;                           // where dtctl was called
  std::map<std::string, std::string> environment; // of the job
  std::int64_t max_running = 0;                   // throttle of an array; 0: none
  std::int64_t cores_per_node = 0;                // of the partition's nodes, for runs that oversubscribe; 0: not known
};

// The job for a batch, without its script. `after` are ids of jobs that must have ended before it. A recipe error when
// scheduler_args hold what dtctl does not know.
SlurmJob job_for(const Batch& batch, std::span<const JobRequest> requests, const std::filesystem::path& folder,
                 const SubmissionContext& context, std::span<const std::string> after);

// What the user's own --dependency and dtctl's wait for: all of both. A recipe error when the user's conditions are alternatives
// ("?"), to which Slurm can add none that must hold as well.
std::string both_dependencies(const std::string& users, const std::string& own);

// Time that a ladder is given beyond its runs' own limits, for the pauses between them.
std::int64_t ladder_margin_s(std::size_t runs);

// How many tasks one array may have at this site, as Slurm counts: indices 0 to MaxArraySize - 1, and no more than
// max_array_tasks of them where that is set.
std::int64_t most_array_tasks(const SlurmSite& site);

// Its lines of <batch>/tasks.
std::vector<BatchTask> tasks_for(const Batch& batch, std::span<const JobRequest> requests);

// "afterany:12:13_4"; empty without ids. Several tasks of one array stand for all of it, or a sweep's list would have no end.
std::string dependency_on(std::span<const std::string> ids);

// Who may run beside whom when at most `width` runs of a submission may run at a time: a batch takes as many lanes as runs of it
// can run together, and waits for the batches that hold them.
class Lanes {
 public:
  // Width 0: no limit.
  explicit Lanes(std::int64_t width) : holders_(static_cast<std::size_t>(width < 0 ? 0 : width)) {}
  // Ids of the jobs that a batch of `runs` must wait for.
  std::vector<std::string> before(std::size_t runs) const;
  // The batch is in the queue: it holds its lanes now.
  void take(std::size_t runs, const std::string& id);

 private:
  std::size_t lane(std::size_t i) const { return (next_ + i) % holders_.size(); }
  std::size_t next_ = 0;
  std::vector<std::string> holders_; // a lane; empty: nobody
};

} // namespace dt::jobs::slurm
