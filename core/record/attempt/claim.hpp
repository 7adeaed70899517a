// The claim on an attempt: owner.json names the one process that may run it. The file is created once and never changed.
//
// owner.json = { "schema": 1, "pid", "start_ticks", "boot_id", "pid_namespace", "machine_id", "host", "token", "job_id",
//   "restart", "unix_s" }
//
// pid 0: a cancellation claimed the attempt before anything ran; nobody will run it.
//
// The other half of the rule that an attempt has one owner is the fence (run_record.hpp): an attempt that is replaced gets a
// result.json that names its successor.
#pragma once

#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt {

struct Owner {
  ProcessId process; // leader of the job's session
  std::string host;
  std::string token;
  std::string job_id; // the scheduler's id of the job; empty on this machine, where the token identifies it
  int restart = 0;    // how often the scheduler had started this job before
  double unix_s = 0;
};

enum class OwnerState {
  none, // not claimed
  alive,
  dead,         // ended, killed, or from an earlier boot of this machine; also if a cancellation made the claim
  out_of_sight, // on another machine or in another PID namespace, where this process cannot look; it may live
  silent,       // out of sight, and without a heartbeat for `silence_margin_s`
};

// An owner that cannot be looked at counts as living until its last heartbeat is older than this. After that another attempt may
// take its place, which fences it off: should it live after all, it cannot leave a result.
inline constexpr double silence_margin_s = 600;

std::string to_json(const Owner& owner);

// Makes an owner record of the calling process.
Owner own_identity(const std::string& token, const std::string& job_id = {}, int restart = 0);

// Exactly one caller ever gets true for an attempt. The file is synced: also after a power cut it is known that the job ran.
bool claim(const AttemptFolder& attempt, const Owner& owner);

// Claims the attempt so that nobody can run it. Returns false if somebody has claimed it already.
bool claim_for_cancel(const AttemptFolder& attempt, const std::string& token);

// Returns nothing if the attempt is not claimed. For a claim that cannot be read (torn by a power cut) returns pid 0.
std::optional<Owner> read_owner(const AttemptFolder& attempt);

// `owner` is that of the attempt, or nothing.
OwnerState state_of(const AttemptFolder& attempt, const std::optional<Owner>& owner);

// Environment variable of every process of a job, used to find processes that the job left behind.
inline constexpr const char* token_variable = "DTCTL_JOB_TOKEN";

// Living processes on this host with this token in their environment.
std::vector<pid_t> processes_with_token(const std::string& token);

// Living processes of the owner's job, if they are in sight, with its leader: those in its session and those with its token in
// their environment. Excludes a later process or session that reuses the leader's number.
std::vector<pid_t> processes_of_job(const Owner& owner);

// Seconds since the leader started, independent of changes of the clock. 0 if the leader is from an earlier boot.
double age_s(const Owner& owner);

} // namespace dt
