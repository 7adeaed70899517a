// The jobs that Slurm knows, found again by what dtctl wrote into them.
#pragma once

#include "jobs/slurm/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace dt::jobs::slurm {

// Records by batch and array index. Of several for one place (a second submission, an id given out twice) the one that still
// lives counts, then the newest.
class KnownJobs {
 public:
  explicit KnownJobs(std::vector<SlurmRecord> records);
  KnownJobs(const KnownJobs&) = delete;
  KnownJobs& operator=(const KnownJobs&) = delete;
  // The job of that token whose name is right too; nullptr when there is none. `key` is the run's.
  const SlurmRecord* find(const BatchToken& token, const std::string& key) const;
  // Every living job of that token: more than one when a submission that was given up for lost was taken after all.
  std::vector<const SlurmRecord*> living(const BatchToken& token, const std::string& key) const;

  // All living jobs of a batch, whichever of its runs they are for.
  std::vector<const SlurmRecord*> living_of(BatchKind kind, std::string_view batch) const;
  // Whether the controller still knows the array that an id such as "12_3" belongs to, and that it is the batch's, alive or
  // ended.
  bool knows_array(const BatchToken& token, const std::string& job_id) const;

 private:
  void add(const std::string& place, const SlurmRecord& record);
  std::vector<SlurmRecord> records_;
  std::unordered_map<std::string, const SlurmRecord*> places_; // "a<batch>.<index>", "j<batch>", "l<batch>"
  std::unordered_multimap<std::string, const SlurmRecord*> outranked_;
  std::unordered_multimap<std::string, const SlurmRecord*> batches_; // by "a<batch>", …
};

// The job's own number; of an array's task, the array's.
std::uint32_t job_of(const SlurmRecord& record);
// Its id as records keep it: "123", "123_4".
std::string id_of(const SlurmRecord& record, const BatchToken& token);

} // namespace dt::jobs::slurm
