#include "core/machine/process.hpp"

#include "core/error.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace dt {
namespace {

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe()
  {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe", errno);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { close_read(), close_write(); }
  void close_read() { close_one(ends[0]); }
  void close_write() { close_one(ends[1]); }
  static void close_one(int& end)
  {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// Memory that is read as a file, from its begin. It holds any number of bytes, so nobody has to feed the program while it runs.
Descriptor memory_with(std::string_view bytes)
{
  Descriptor memory(::memfd_create("input", MFD_CLOEXEC));
  if (!memory.is_open()) throw system_error("memfd_create", errno);
  write_all(memory.get(), bytes, "the input of a program");
  if (::lseek(memory.get(), 0, SEEK_SET) != 0) throw system_error("lseek", errno);
  return memory;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words)
{
  std::vector<char*> pointers;
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// `input`: what the program reads; a closed descriptor for /dev/null.
pid_t spawn(const std::vector<std::string>& words, const std::map<std::string, std::string>* environment, const Descriptor& input,
            const Pipe& out, const Pipe& err)
{
  const auto argv = pointers_to(words);
  std::vector<std::string> variables;
  if (environment != nullptr)
    for (const auto& [name, value] : *environment) variables.push_back(name + "=" + value);
  const auto envp = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input.is_open())
    posix_spawn_file_actions_adddup2(&actions, input.get(), 0);
  else
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment == nullptr ? environ : envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw system_error("start " + words.front(), error);
  return child;
}

// Passes on the complete lines of a text that grows.
class Lines {
 public:
  explicit Lines(const LineReader& reader) : reader_(reader) {}
  void pass_on(std::string_view text)
  {
    if (!reader_) return;
    for (auto end = text.find('\n', passed_); end != text.npos; end = text.find('\n', passed_)) {
      reader_(text.substr(passed_, end - passed_));
      passed_ = end + 1;
    }
  }

 private:
  const LineReader& reader_;
  std::size_t passed_ = 0;
};

// Reads both streams until they are closed. Returns false if the time ran out first, or if what was read is enough.
bool drain(Pipe& out, Pipe& err, CommandResult& result, const CommandSetting& setting)
{
  const double timeout_s = setting.timeout_s;
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + std::chrono::duration<double>(timeout_s);
  std::array<char, 16384> block{};
  Lines lines(setting.on_line);
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    int wait_ms = -1;
    if (timeout_s > 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
      result.timed_out = left <= 0;
      if (result.timed_out) return false;
      wait_ms = static_cast<int>(std::min<std::int64_t>(left + 1, 1000));
    }
    std::array<pollfd, 2> fds{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR) throw system_error("poll", errno);
    for (std::size_t i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const auto got = ::read(fds[i].fd, block.data(), block.size());
      if (got > 0)
        (i == 0 ? result.out : result.err).append(block.data(), static_cast<std::size_t>(got));
      else if (got == 0 || errno != EINTR)
        (i == 0 ? out : err).close_read();
    }
    lines.pass_on(result.out);
    if (setting.is_enough && setting.is_enough(result.err)) return false;
  }
  return true;
}

// Waits for a child; it can still run after it closed its streams. Returns nothing if the time ran out first.
std::optional<int> wait_for(pid_t child, double timeout_s)
{
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + std::chrono::duration<double>(timeout_s);
  for (auto pause = std::chrono::microseconds(100);; pause = std::min(2 * pause, std::chrono::microseconds(20'000))) {
    int status = 0;
    const auto ended = ::waitpid(child, &status, timeout_s > 0 ? WNOHANG : 0);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) throw system_error("wait for process " + std::to_string(child), errno);
    if (ended == 0 && clock::now() >= deadline) return std::nullopt;
    if (ended == 0) std::this_thread::sleep_for(pause);
  }
}

struct ProcessStat {
  char state = '?';
  pid_t session = 0;
  std::uint64_t start_ticks = 0;
};

std::optional<ProcessStat> read_stat(pid_t pid)
{
  std::optional<std::string> text;
  try {
    text = read_file_if_exists("/proc/" + std::to_string(pid) + "/stat");
  } catch (const Error&) { // the process ended between open and read
  }
  if (!text) return std::nullopt;
  const auto close = text->rfind(')'); // the program's name before it may contain any character
  if (close == std::string::npos) return std::nullopt;
  const auto fields = split(trim(std::string_view(*text).substr(close + 1)), ' '); // fields[0] is field 3 of the file
  if (fields.size() < 20) return std::nullopt;
  ProcessStat stat;
  stat.state = fields[0].front();
  std::from_chars(fields[3].data(), fields[3].data() + fields[3].size(), stat.session);
  std::from_chars(fields[19].data(), fields[19].data() + fields[19].size(), stat.start_ticks);
  return stat;
}

const std::string& boot_id()
{
  static const std::string id(trim(read_file_if_exists("/proc/sys/kernel/random/boot_id").value_or("")));
  return id;
}

// 0 if /proc is not that of this process's PID namespace: then no process can be looked up.
std::uint64_t own_pid_namespace()
{
  static const std::uint64_t number = [] {
    struct stat place {};
    std::array<char, 32> self{};
    const auto size = ::readlink("/proc/self", self.data(), self.size() - 1);
    const bool is_ours = size > 0 && std::string_view(self.data()) == std::to_string(::getpid());
    return is_ours && ::stat("/proc/self/ns/pid", &place) == 0 ? static_cast<std::uint64_t>(place.st_ino) : 0;
  }();
  return number;
}

const std::string& machine_id()
{
  static const std::string id = [] { return std::string(trim(text_if_readable("/etc/machine-id"))); }();
  return id;
}

} // namespace

CommandResult run_command(const std::vector<std::string>& words, double timeout_s, std::string_view input,
                          const LineReader& on_line)
{
  return run_command(words, CommandSetting{.timeout_s = timeout_s, .input = input, .on_line = on_line});
}

CommandResult run_command(const std::vector<std::string>& words, const CommandSetting& setting)
{
  if (words.empty()) throw Error(ErrorKind::internal, "run_command needs a program");
  const auto begun = std::chrono::steady_clock::now();
  Pipe out, err;
  const auto memory = setting.input.empty() ? Descriptor(-1) : memory_with(setting.input);
  const pid_t child = spawn(words, setting.environment, memory, out, err);
  out.close_write();
  err.close_write();
  CommandResult result;
  std::optional<int> ended;
  if (drain(out, err, result, setting)) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    ended = wait_for(child, setting.timeout_s > 0 ? std::max(setting.timeout_s - taken.count(), 1e-6) : 0);
    result.timed_out = !ended;
  }
  if (!ended) {
    ::kill(child, SIGKILL);
    ended = wait_for(child, 0);
  }
  const int status = *ended;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

void survive_file_size_limit()
{
  // Install a handler instead of SIG_IGN: exec resets handlers, but jobs would inherit an ignored signal. The kernel sends the
  // signal to the thread that writes, at the end of its call.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

int run_program(std::string_view name, const std::function<int()>& work)
{
  survive_file_size_limit();
  const auto report = [&](const std::exception& error, ExitCode code) {
    std::fprintf(stderr, "%s: %s\n", std::string(name).c_str(), error.what());
    return static_cast<int>(code);
  };
  try {
    return work();
  } catch (const Error& error) {
    return report(error, exit_code_of(error.kind()));
  } catch (const std::exception& error) {
    return report(error, ExitCode::internal);
  }
}

std::optional<ProcessId> identify_process(pid_t pid)
{
  const auto stat = read_stat(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return ProcessId{pid, stat->start_ticks, boot_id(), own_pid_namespace(), machine_id()};
}

bool is_in_sight(const ProcessId& process)
{
  return process.boot_id == boot_id() && process.pid_namespace != 0 && process.pid_namespace == own_pid_namespace();
}

double boot_unix_s()
{
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now_unix_s() - static_cast<double>(now.tv_sec) - static_cast<double>(now.tv_nsec) * 1e-9;
}

bool is_stopped(pid_t pid)
{
  const auto stat = read_stat(pid);
  return stat && (stat->state == 'T' || stat->state == 't');
}

bool is_alive(const ProcessId& process) { return identify_process(process.pid) == process; }

std::vector<pid_t> processes_of_session(pid_t session)
{
  std::vector<pid_t> found;
  for (const auto& name : names_in("/proc")) {
    const auto pid = number_of<pid_t>(name);
    const auto stat = pid ? read_stat(*pid) : std::nullopt;
    if (stat && stat->session == session && stat->state != 'Z' && stat->state != 'X') found.push_back(*pid);
  }
  return found;
}

std::string signal_name(int signal)
{
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string host_name()
{
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::vector<int> cores_in_mask()
{
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &mask)) cores.push_back(core);
  return cores;
}

} // namespace dt
