// Finds dtctl's jobs among the jobs that Slurm reports: by their comment, or, where somebody has changed that, by id, time of
// submission and name.
#pragma once

#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace dt::jobs::slurm {

// A job of a batch as Slurm showed it just after its submission. dtctl keeps it in the batch's folder: <batch>/jobs has a line
// "<id> <submit_unix_s> <name>" for each.
struct SeenJob {
  std::uint32_t id = 0; // of an array, the array's
  std::int64_t submit_unix_s = 0;
  std::string name;
};
std::vector<SeenJob> read_seen_jobs(const std::filesystem::path& batch_folder);
void add_seen_job(const std::filesystem::path& batch_folder, const SeenJob& job);

// The batches of tokens, with what was seen of their jobs.
using SeenBatches = std::unordered_map<std::string, std::vector<SeenJob>>; // key: "a<batch>", "j<batch>", "l<batch>"
SeenBatches read_seen_batches(const Home& home, std::span<const std::string> tokens);

// Whether the record is of that job. A job that was started again has a later time of submission.
bool is_of(const SeenJob& job, const SlurmRecord& record);

// Indexes records by batch and array index. If several records have the same place (a second submission, or a reused id), a
// living job wins, then the newest.
class KnownJobs {
 public:
  // `seen` is called if a job has no comment of dtctl.
  explicit KnownJobs(std::vector<SlurmRecord> records, const std::function<SeenBatches()>& seen = {});
  KnownJobs(const KnownJobs&) = delete;
  KnownJobs& operator=(const KnownJobs&) = delete;
  // Returns the job with this token, or nullptr.
  const SlurmRecord* find(const BatchToken& token) const;
  // Returns all living jobs with this token. There are several if Slurm accepted a submission that was assumed lost.
  std::vector<const SlurmRecord*> living(const BatchToken& token) const;

  // Returns all living jobs of a batch, of any of its runs.
  std::vector<const SlurmRecord*> living_of(BatchKind kind, std::string_view batch) const;
  // When the array of an id such as "12_3" was submitted, if the controller still knows it as this batch's, living or ended.
  std::optional<std::int64_t> submission_of_array(const BatchToken& token, const std::string& job_id) const;
  // A living job that has this id, but which nothing else identifies as one of dtctl's; nullptr if there is none.
  const SlurmRecord* stranger(const BatchToken& token, const std::string& job_id) const;

 private:
  void add(const std::string& place, const SlurmRecord& record);
  std::vector<SlurmRecord> records_;
  std::unordered_map<std::string, const SlurmRecord*> places_; // "a<batch>.<index>", "j<batch>", "l<batch>"
  std::unordered_multimap<std::string, const SlurmRecord*> outranked_;
  std::unordered_multimap<std::string, const SlurmRecord*> batches_; // key: "a<batch>", …
  std::vector<const SlurmRecord*> strangers_;                        // of no batch
};

// Returns the job's id; for a task of an array, the array's id.
std::uint32_t job_of(const SlurmRecord& record);
// Returns the id as dtctl stores it: "123", "123_4".
std::string id_of(const SlurmRecord& record, const BatchToken& token);

} // namespace dt::jobs::slurm
