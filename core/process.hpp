// Starting other programs, and knowing a process again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace dt {

// How a program ended and all that it said.
struct CommandResult {
  int exit_code = 0;   // -1 when a signal ended it
  int signal = 0;      // 0 when it exited
  bool timed_out = false;
  std::string out, err;
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

// Runs a program (looked up in PATH, no shell), input closed, and waits; killed after timeout_s when that is not 0.
// An environment error when it cannot be started.
CommandResult run_command(const std::vector<std::string>& words, double timeout_s = 0);

// Makes writing beyond the limit of a file's size (ulimit -f, RLIMIT_FSIZE) an error of the write, EFBIG, instead of the end of the
// process by SIGXFSZ. Programs started later get the usual behaviour back.
void survive_file_size_limit();

// A process, told apart from a later one with the same number by its start time and the machine's boot.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0; // field 22 of /proc/PID/stat
  std::string boot_id;           // /proc/sys/kernel/random/boot_id
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// The identity of a living process; nothing when there is none (a zombie counts as none).
std::optional<ProcessId> identify_process(pid_t pid);
bool is_alive(const ProcessId& process);

// Living processes whose session is `session` (zombies left out).
std::vector<pid_t> processes_of_session(pid_t session);

// "SIGKILL" for 9.
std::string signal_name(int signal);

std::string host_name();

// Cores in this process's affinity mask, ascending.
std::vector<int> cores_in_mask();

} // namespace dt
