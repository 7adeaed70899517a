// Batches of Slurm: groups of requests that become one Slurm job, and how such a job is known again.
//
// The job's comment, "dtctl:<kind><batch> <keys>", identifies the job. A job id alone proves nothing, because Slurm gives out ids
// again. The job's name is for people: several jobs may have the same.
#pragma once

#include "jobs/scheduler/batch.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// "dtctl:<kind><batch> <key>"; of several runs their short keys, in order, as many as Slurm's limit for comments allows.
std::string comment_of(BatchKind kind, std::string_view batch, std::span<const std::string> keys);
// "<kind><batch>" of such a comment, or of the line "sbatch … --comment=…" that the accounting keeps of it; empty if it is not
// one of dtctl's.
std::string_view batch_of_comment(std::string_view comment);

// "dtctl:study/label#2" for a run with the title "study/label/#2"; for several runs what their titles have in common. Cut to what
// Slurm's accounting keeps of a name; the repeat stays. Characters that squeue's columns, the accounting or a shell could misread
// become "_". Without a title, the name is made of `key`.
std::string job_name_of(std::span<const std::string> titles, std::string_view key);
// The name of the batch's job, as its submission recorded it in <batch>/name. Without that file the name is made of the key.
std::string recorded_job_name(const std::filesystem::path& batch_folder, const BatchToken& token, std::string_view key);
// Returns "123", or "123_4" for a task of an array.
std::string format_job_id(BatchKind kind, std::uint32_t id, std::uint32_t index);

// <home>/slurm/<batch>.
inline std::filesystem::path batch_folder(const Home& home, std::string_view batch)
{
  return jobs::batch_folder(home, "slurm", batch);
}

// Requests that are submitted as one Slurm job.
struct Batch {
  BatchKind kind = BatchKind::single;
  std::string id;                     // 16 hexadecimal digits
  std::vector<std::size_t> members;   // indices into the requests
  std::vector<std::uint32_t> indices; // one per member
  std::string name{};                 // of the job
};

// Groups the requests that have no token yet, in the order of the requests. Runs of one ladder form one batch. Two or more
// requests of equal shape (equal requirements) form arrays of at most max_tasks tasks. All others become single jobs.
std::vector<Batch> plan_batches(std::span<const JobRequest> requests, std::int64_t max_tasks,
                                const std::function<std::string()>& new_id);

// Restores the groups from the tokens, in the order of their first members, and names their jobs. Ignores requests with other
// tokens.
std::vector<Batch> batches_of(std::span<const JobRequest> requests);

// The value of Slurm's std_out that leads to <folder>/log, or <folder>/log-<array index> for each task of an array. In Slurm's
// language % begins a field. A path with a backslash has no fields there, so start_script then gives each task its own log.
std::string slurm_output(const std::filesystem::path& folder, BatchKind kind);

// Makes the text of <batch>/script, which Slurm runs: it becomes `dtjob batch`.
std::string start_script(const BatchStart& start);

} // namespace dt::jobs::slurm
