// Whose an attempt is: attempt/owner.json, created once by the one process that may run it.
//
// owner = { "schema": 1, "pid", "start_ticks", "boot_id", "host", "token", "unix_s" }
// pid 0: claimed by a cancellation before anything ran; nobody will run this attempt.
#pragma once

#include "core/process.hpp"
#include "core/run_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::local {

struct Owner {
  ProcessId process; // leader of the job's session
  std::string host;
  std::string token;
  double unix_s = 0;
};

enum class OwnerState {
  none, // not claimed
  alive,
  dead,      // ended, killed, or of an earlier boot; also a claim by a cancellation
  elsewhere, // claimed on another host: only that host can tell
};

// The calling process, as owner of an attempt.
Owner own_identity(const std::string& token);

// Exactly one caller ever gets true for an attempt. Synced: a job that ran is known to have run, also after a power cut.
bool claim(const AttemptFolder& attempt, const Owner& owner);

// Takes the right to run from everybody; false when somebody has it already.
bool claim_for_cancel(const AttemptFolder& attempt, const std::string& token);

// Nothing when unclaimed. A claim that cannot be read (torn by a power cut) has pid 0.
std::optional<Owner> read_owner(const AttemptFolder& attempt);

OwnerState state_of(const std::optional<Owner>& owner);

// The variable in every process of a job, by which leftovers are known.
inline constexpr const char* token_variable = "DTCTL_JOB_TOKEN";

// Living processes of the owner's job on this host, its leader included: those of its session and those that carry its token
// in their environment. A later process or session with the leader's number is not among them.
std::vector<pid_t> processes_of_job(const Owner& owner);

// Seconds since the leader started; not moved by changes of the clock. 0 when it is not of this boot.
double age_s(const Owner& owner);

} // namespace dt::jobs::local
