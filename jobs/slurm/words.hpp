// Slurm's states, reasons and errors in plain words, and what they mean for a run. Pure functions.
#pragma once

#include "jobs/scheduler.hpp"
#include "jobs/slurm/api.hpp"

#include <string>
#include <string_view>

namespace dt::jobs::slurm {

// What a reason of a waiting job means: "waits for Resources", "held by an administrator"; Slurm's own word for one that we do
// not know. The native word is always in it, so that it can be looked up.
std::string reason_words(std::string_view native);

// The same for a whole record: with the estimated start ("starts about 14:20"), the jobs it depends on and Slurm's own details.
std::string waiting_words(const SlurmRecord& record);

// What keeps a job with that reason from starting as it is: limits that it exceeds by itself, constraints that no node meets,
// a hold. `job` is the job's number. Empty for a job that waits for others or for time.
Hindrance hindrance_of(std::string_view reason, std::uint32_t job);

// What a record of the queue or the accounting says about a job. Its job_id is left empty.
JobStatus status_of(const SlurmRecord& record);

// What a wait status amounts to: 0 to 255, 128 + n when signal n ended it.
int exit_code_of(std::uint32_t wait_status);

// The answer is not known: the request may have been carried out all the same.
bool is_ambiguous(int code);
// No answer came in time, though somebody listens.
bool is_slow(int code);
// Slurm asks to try again later: its queue is full, or it is just starting.
bool is_temporary(int code);
// The job that was to be ended has ended already, or is not known any more.
bool is_gone(int code);

// The queue holds as many jobs as it may, of this user, account or QOS or of all: fewer jobs, or later ones, may be taken.
bool is_full(const SlurmFailure& failure);
// "not handed to Slurm yet: the QOS's limit of submitted jobs a user is reached (QOSMaxSubmitJobPerUserLimit)".
std::string full_words(const SlurmFailure& failure);

// Why a submission was refused, in Slurm's words with the setting at fault: "Slurm refused it: Invalid partition name specified
// (resources.partition: gpu)."
std::string refusal_words(const SlurmFailure& failure, const SlurmJob& job);

} // namespace dt::jobs::slurm
