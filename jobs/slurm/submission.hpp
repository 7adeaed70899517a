// One submission to Slurm: puts each batch into the queue exactly once.
#pragma once

#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/job_builder.hpp"
#include "jobs/slurm/questions.hpp"
#include "jobs/slurm/records.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace dt::jobs::slurm {

// Limits on the number of submitted jobs are counted per purse.
using Purse = std::tuple<std::string, std::string, std::string>; // partition, account, QOS

// If a limit on submitted jobs leaves room for only a part of a batch, that part is submitted, if necessary as several arrays.
// The rest gets the outcome `deferred`.
class Submission {
 public:
  Submission(const Home& home, SlurmApi& api, const Pause& pause, std::span<const JobRequest> requests, const SubmitRules& rules);
  // Returns one outcome per request, in order.
  std::vector<SubmitOutcome> run();

 private:
  bool was_begun(const Batch& batch) const;
  void leave_out_known(std::vector<Batch>& batches);
  Batch without_known(const Batch& batch, const KnownJobs& queue);
  void write_folders(std::vector<Batch>& batches);
  void hand_over(const Batch& batch);
  bool hand_over_part(const Batch& part, SlurmJob& job);
  void write_folder(Batch& batch) const;
  std::uint32_t submit(const Batch& batch, const SlurmJob& job);
  std::optional<std::uint32_t> look_up(const Batch& batch) const;
  void look_at_accepted(std::span<const Batch> batches);
  std::uint32_t without_copies(const Batch& batch, std::uint32_t id) const;
  void keep_pace();
  void share_lanes(std::span<const Batch> batches);
  void settle(const Batch& batch, const SubmitOutcome& outcome);
  std::int64_t cores_of_oversubscribed() const;

  const Home& home_;
  SlurmApi& api_;
  const Pause& pause_;
  std::span<const JobRequest> requests_;
  SubmissionContext context_;
  std::int64_t most_running_ = 0; // of all runs of the submission; 0: no limit
  Lanes lanes_;
  std::map<std::string, std::int64_t> shares_; // of the lanes, by batch
  std::vector<SubmitOutcome> outcomes_;
  std::map<Purse, std::string> full_; // purses without room for more jobs, and Slurm's message
  std::string full_words_;            // message of the last refusal for lack of room
  bool has_contact_ = true;
  double last_call_unix_s_ = 0;
};

} // namespace dt::jobs::slurm
