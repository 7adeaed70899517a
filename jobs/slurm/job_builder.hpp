// Builds Slurm jobs from batches of requests. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

// Values that all jobs of a submission share.
struct SubmissionContext {
  std::string work_dir;                           // working directory of dtctl's caller
  std::map<std::string, std::string> environment; // environment of the job
  std::int64_t max_running = 0;                   // how many tasks of an array may run at once; 0: no limit
  std::int64_t cores_per_node = 0; // cores per node of the partition, needed for runs that oversubscribe; 0: unknown
};

// Builds the job of a batch, without its script. `after` contains ids of jobs that must end before it starts. Throws a recipe
// error if scheduler_args contain an option that dtctl does not know.
SlurmJob job_for(const Batch& batch, std::span<const JobRequest> requests, const std::filesystem::path& folder,
                 const SubmissionContext& context, std::span<const std::string> after);

// Combines the user's --dependency with dtctl's own; the job waits for both. Throws a recipe error if the user's conditions are
// alternatives ("?"), because Slurm cannot combine alternatives with required conditions.
std::string both_dependencies(const std::string& users, const std::string& own);

// Maximum number of tasks in one array at this site: the indices 0 to MaxArraySize - 1, limited by max_array_tasks if the site
// sets it.
std::int64_t most_array_tasks(const SlurmSite& site);

// The batch's lines of <batch>/tasks.
std::vector<BatchTask> tasks_for(const Batch& batch, std::span<const JobRequest> requests);

// Returns "afterany:12:13_4", or an empty text without ids. Several tasks of one array are replaced by the whole array, to keep
// the list short for a sweep.
std::string dependency_on(std::span<const std::string> ids);

// Divides `width` lanes among the batches of a submission, so that its sizes run side by side: one lane each, the others where
// most runs wait for a lane. `runs` are their numbers of runs that can be concurrent. Width 0: no limit, and zeros.
std::vector<std::int64_t> shares_of_lanes(std::span<const std::size_t> runs, std::int64_t width);

// The partition with this name, or the default one if it is empty; nullptr if there is none.
const SlurmPartition* find_partition(std::span<const SlurmPartition> partitions, const std::string& name);

// Number of cores per node in a partition, on average; of the default partition if `name` is empty. 0: there is no such
// partition.
std::int64_t cores_per_node(std::span<const SlurmPartition> partitions, const std::string& name);

// The nodes of the resources' partition on which jobs can run now, without resources.exclude.
std::vector<std::string> usable_nodes(std::span<const SlurmPartition> partitions, std::span<const SlurmNode> nodes,
                                      const ResourcesSpec& resources);

// Enforces that at most `width` runs of a submission run at the same time. A batch takes as many lanes as it can have concurrent
// runs, and depends on the jobs that held these lanes before.
class Lanes {
 public:
  // width 0: no limit
  explicit Lanes(std::int64_t width) : holders_(static_cast<std::size_t>(width < 0 ? 0 : width)) {}
  // Ids of the jobs that a batch of `runs` runs must wait for.
  std::vector<std::string> before(std::size_t runs) const;
  // Assigns the next lanes to the job `id`; call it after the job was submitted.
  void take(std::size_t runs, const std::string& id);

 private:
  std::size_t lane(std::size_t i) const { return (next_ + i) % holders_.size(); }
  std::size_t next_ = 0;
  std::vector<std::string> holders_; // job id per lane; empty: the lane is free
};

} // namespace dt::jobs::slurm
