// Finds dtctl's jobs among the jobs that Slurm reports, by their comment.
#pragma once

#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace dt::jobs::slurm {

// Indexes records by batch and array index. If several records have the same place (a second submission, or a reused id), a
// living job wins, then the newest.
class KnownJobs {
 public:
  explicit KnownJobs(std::vector<SlurmRecord> records);
  KnownJobs(const KnownJobs&) = delete;
  KnownJobs& operator=(const KnownJobs&) = delete;
  // Returns the job with this token, or nullptr.
  const SlurmRecord* find(const BatchToken& token) const;
  // Returns all living jobs with this token. There are several if Slurm accepted a submission that was assumed lost.
  std::vector<const SlurmRecord*> living(const BatchToken& token) const;

  // Returns all living jobs of a batch, of any of its runs.
  std::vector<const SlurmRecord*> living_of(BatchKind kind, std::string_view batch) const;
  // Whether the controller still knows the array of an id such as "12_3" as this batch's array, living or ended.
  bool knows_array(const BatchToken& token, const std::string& job_id) const;

 private:
  void add(const std::string& place, const SlurmRecord& record);
  std::vector<SlurmRecord> records_;
  std::unordered_map<std::string, const SlurmRecord*> places_; // "a<batch>.<index>", "j<batch>", "l<batch>"
  std::unordered_multimap<std::string, const SlurmRecord*> outranked_;
  std::unordered_multimap<std::string, const SlurmRecord*> batches_; // key: "a<batch>", …
};

// Returns the job's id; for a task of an array, the array's id.
std::uint32_t job_of(const SlurmRecord& record);
// Returns the id as dtctl stores it: "123", "123_4".
std::string id_of(const SlurmRecord& record, const BatchToken& token);

} // namespace dt::jobs::slurm
