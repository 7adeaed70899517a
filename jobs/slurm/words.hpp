// Translates Slurm's states, reasons and errors into plain sentences and into dtctl's states. Pure functions.
#pragma once

#include "jobs/scheduler/scheduler.hpp"
#include "jobs/slurm/access/api.hpp"

#include <span>
#include <string>
#include <string_view>

namespace dt::jobs::slurm {

// Explains why a job waits: "waits for free nodes (Resources)". The text always contains Slurm's own word, so that it can be
// looked up; for an unknown reason it is "waits (Word)".
std::string reason_words(std::string_view native);

// Like reason_words, and adds the estimated start ("starts about 14:20"), the jobs it depends on, and Slurm's details.
std::string waiting_words(const SlurmRecord& record);

// If a lower time limit would let the job end before a reservation that keeps it from its nodes: "; the reservation maint begins
// at 14:20: …". Else empty.
std::string words_of_reservation(const SlurmRecord& record, std::span<const SlurmReservation> reservations, double now_unix_s);

// The nodes that have failed, those that are down now, of the nodes of a job that ended because a node failed. Empty: nobody can
// tell any more.
std::string failed_nodes(std::span<const SlurmNode> nodes);

// Translates a record of the queue or the accounting. Leaves job_id empty. `folder` is the folder of the job's output, which the
// node may be unable to open; empty: the cause does not name it.
JobStatus status_of(const SlurmRecord& record, const std::string& folder = {});

// Converts a wait status: 0 to 255, or 128 + n if signal n ended the process.
int exit_code_of(std::uint32_t wait_status);

// Whether no answer arrived, so that the request may have been carried out.
bool is_ambiguous(int code);
// Whether the answer did not arrive in time although somebody listens.
bool is_slow(int code);
// Whether Slurm asks to try again later: its queue is full, or it is starting.
bool is_temporary(int code);
// Whether the job to be ended has ended already or is unknown.
bool is_gone(int code);

// Whether a limit on the number of jobs (of this user, account or QOS, or of all users) is reached. Fewer jobs, or a later try,
// may succeed.
bool is_full(const SlurmFailure& failure);
// Returns "not handed to Slurm yet: the QOS's limit of submitted jobs a user is reached (QOSMaxSubmitJobPerUserLimit)".
std::string full_words(const SlurmFailure& failure);

// Returns Slurm's reason for a refusal, with the setting at fault: "Slurm refused it: Invalid partition name specified
// (resources.partition: gpu)."
std::string refusal_words(const SlurmFailure& failure, const SlurmJob& job);

} // namespace dt::jobs::slurm
