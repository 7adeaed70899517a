// Starting other programs, and identifying processes reliably.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace dt {

// How a program ended, and everything it printed.
struct CommandResult {
  int exit_code = 0; // -1 if a signal ended the program
  int signal = 0;    // 0 if the program exited by itself
  bool timed_out = false;
  std::string out, err;
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

// Receives a line without its line feed.
using LineReader = std::function<void(std::string_view line)>;

// Runs a program (found in PATH, without a shell) and waits for it. Its standard input holds `input`, which never touches a disk
// and no list of processes shows; without it, standard input is /dev/null. If timeout_s is not 0, the program is killed after
// that many seconds. `on_line` receives every complete line of its standard output as soon as it is there. Throws a SystemError
// if the program cannot be started; its number is ENOENT if there is no such program.
CommandResult run_command(const std::vector<std::string>& words, double timeout_s = 0, std::string_view input = {},
                          const LineReader& on_line = {});

// How run_command starts a program and listens to it. The first three members are as the arguments above.
struct CommandSetting {
  double timeout_s = 0;
  std::string_view input{};
  LineReader on_line{};
  const std::map<std::string, std::string>* environment =
      nullptr;                                           // the program's whole environment; nullptr: that of this process
  std::function<bool(std::string_view err)> is_enough{}; // is given its standard error so far; if true, the program is killed
};
CommandResult run_command(const std::vector<std::string>& words, const CommandSetting& setting);

// After this call, a write beyond the file size limit (ulimit -f, RLIMIT_FSIZE) fails with EFBIG; by default SIGXFSZ would end
// the process. Programs started later keep the default behaviour.
void survive_file_size_limit();

// The body of main() of the engine's programs: runs `work` with the file-size limit as an ordinary error. Prints an exception as
// "NAME: message" to stderr and returns its exit code.
int run_program(std::string_view name, const std::function<int()>& work);

// Identifies a process. Start time, boot and PID namespace distinguish it from every other process with the same number. Equal
// machine ids prove nothing (images are copied), so they are not compared.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;   // field 22 of /proc/PID/stat
  std::string boot_id;             // /proc/sys/kernel/random/boot_id
  std::uint64_t pid_namespace = 0; // number of the PID namespace in which `pid` counts; 0: /proc shows another one or none
  std::string machine_id;          // /etc/machine-id; empty if there is none
  friend bool operator==(const ProcessId& a, const ProcessId& b)
  {
    return a.pid == b.pid && a.start_ticks == b.start_ticks && a.boot_id == b.boot_id && a.pid_namespace == b.pid_namespace;
  }
};

// Returns the identity of a living process, or nothing if there is none. A zombie does not count as living.
std::optional<ProcessId> identify_process(pid_t pid);
bool is_alive(const ProcessId& process);
// Whether the process is stopped, by SIGSTOP, Ctrl-Z or a debugger.
bool is_stopped(pid_t pid);

// Whether this process can see `process`, alive or not: it belongs to the same boot of the same machine and to the same PID
// namespace. If not, is_alive() is false and means nothing.
bool is_in_sight(const ProcessId& process);

// When this machine was started, in seconds since 1970.
double boot_unix_s();

// Living processes (no zombies) whose session id is `session`.
std::vector<pid_t> processes_of_session(pid_t session);

// Returns "SIGKILL" for 9.
std::string signal_name(int signal);

std::string host_name();

// Numbers of the cores in this process's affinity mask, ascending.
std::vector<int> cores_in_mask();

} // namespace dt
