#include "jobs/local/supervisor.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/home/home_identity.hpp"
#include "core/machine/surroundings.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/local/leader.hpp"
#include "jobs/machine/quiet_watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::local {
namespace {

using Clock = std::chrono::steady_clock;

void log(const std::string& message)
{
  fmt::print(stderr, "{} [{}] {}\n", format_time_utc(now_unix_s()), ::getpid(), message);
  std::fflush(stderr);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A job that has an owner and whose end was not handled yet.
struct Running {
  QueueEntry entry;
  Ticket ticket;
  Owner owner;
  std::optional<TakenCores> cores; // of jobs that this process started; adopted jobs hold their locks themselves
  std::optional<Clock::time_point> asked_to_end{}, folder_gone_since{};
  int stage = 0; // number of signals sent so far
};

void signal_all(const std::vector<pid_t>& processes, int signal, pid_t except = 0)
{
  for (const pid_t process : processes)
    if (process != except) ::kill(process, signal);
}

// Returns a descriptor that becomes readable when the process ends; -1 if there is none. Uses a raw system call, because the
// declaration of pidfd_open in glibc 2.36 does not link from C++.
int open_process(pid_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

// Whether the path certainly does not exist. A file system that does not answer now may still have it.
bool is_gone(const std::filesystem::path& path)
{
  return ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

// A line of text for users who look at the queue. Its space on the disk is allocated early, so that it can be written when the
// disk is full.
class Notice {
 public:
  explicit Notice(const std::filesystem::path& path) : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))
  {
    say("");
  }
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  ~Notice()
  {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void say(std::string text) const
  {
    constexpr std::size_t size = 1024;
    text.resize(size - 1, ' ');
    text += '\n';
    // If this write fails too, only the log may have the message.
    [[maybe_unused]] const auto written = ::pwrite(descriptor_, text.data(), text.size(), 0);
  }

 private:
  int descriptor_;
};

class Supervisor {
 public:
  Supervisor(const Home& home, const SupervisorOptions& options, FileLock lock)
      : queue_(home), locks_(CoreLocks::default_folder()), notice_(queue_.trouble()), options_(options), lock_(std::move(lock))
  {
  }

  int run()
  {
    while (is_in_charge() || follow_home()) {
      if (is_awaited()) {
        log("leaves for a supervisor that can give jobs more");
        return 0;
      }
      try {
        finish_ended();
        end_those_asked();
        start_next();
        if (may_leave()) return 0;
      } catch (const Error& error) {
        report(error.what());
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
      wait_for_change();
    }
    end_homeless();
    return 0;
  }

 private:
  // Returns false if the home was removed or replaced.
  bool is_in_charge() const
  {
    struct stat held {
    }, named{};
    return ::fstat(lock_->descriptor(), &held) == 0 && ::stat(queue_.supervisor_lock().c_str(), &named) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  }

  bool is_awaited() const
  {
    try {
      return ::access(queue_.successor_lock().c_str(), F_OK) == 0 && !FileLock::try_acquire(queue_.successor_lock());
    } catch (const Error&) { // for example too many open files
      return false;
    }
  }

  // If the home was moved, leaves a link at its old place, because the jobs that run, and this process, know it by that. Returns
  // whether the home is there again.
  bool follow_home() const
  {
    constexpr std::string_view deleted = " (deleted)";
    std::error_code error;
    const auto old = queue_.home_root();
    const auto lock = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", lock_->descriptor()), error);
    const auto moved = lock.parent_path().parent_path().parent_path(); // <home>/local/<host>/supervisor.lock
    if (error || lock.string().ends_with(deleted) || moved == old || !is_gone(old)) return false;
    std::filesystem::create_directory_symlink(moved, old, error);
    if (error || !is_in_charge()) return false;
    log(fmt::format("the home was moved to {}; {} is now a link to it, for the jobs that run", moved.string(), old.string()));
    return true;
  }

  // Kills jobs whose folder is gone: they cannot record anything, and no later call could find and end them.
  void end_homeless() const
  {
    for (const auto& job : running_)
      if (is_gone(job.ticket.attempt)) signal_all(processes_of_job(job.owner), SIGKILL);
  }

  void finish_ended()
  {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    for (auto job = running_.begin(); job != running_.end();)
      job = has_ended(*job) && finish(*job) ? running_.erase(job) : job + 1;
  }

  // A job that an earlier supervisor started may be out of sight.
  static bool has_ended(const Running& job)
  {
    const auto state = state_of(AttemptFolder(job.ticket.attempt), job.owner);
    return state == OwnerState::dead || state == OwnerState::silent;
  }

  // Kills the processes that the leader left behind. Returns true when none is left and the entry is removed from the queue. If
  // the home is not at its place at this moment, the entry is removed when it is there again.
  bool finish(const Running& job)
  {
    const auto leftovers = processes_of_job(job.owner);
    signal_all(leftovers, SIGKILL);
    if (!leftovers.empty()) return false;
    queue_.remove(job.entry);
    if (!is_in_charge()) return false;
    log(job.entry.job_id() + " has ended");
    return true;
  }

  void end_those_asked()
  {
    for (auto& job : running_) {
      try {
        end_if_asked(job);
      } catch (const Error& error) { // an error in this job's files must not affect the other jobs
        report(error.what());
      }
    }
  }

  void end_if_asked(Running& job)
  {
    const AttemptFolder attempt(job.ticket.attempt);
    if (!job.asked_to_end && (has_outlived(job, attempt) || has_lost_folder(job, attempt) || is_there(attempt.cancel())))
      job.asked_to_end = Clock::now();
    if (job.asked_to_end) press(job);
  }

  // dtjob keeps the time limit; this is for a dtjob that does not act any more. Whatever the job's files are, it ends.
  static bool has_outlived(const Running& job, const AttemptFolder& attempt)
  {
    constexpr std::int64_t patience_s = 60;
    const auto limit_s = job.ticket.time_limit_s;
    if (limit_s <= 0 || age_s(job.owner) < static_cast<double>(limit_s + patience_s)) return false;
    log(job.entry.job_id() + " has outlived its time limit");
    try {
      write_stop_reason(attempt, {StopKind::time_limit});
    } catch (const Error& error) {
      log(error.what());
    }
    return true;
  }

  // So does dtjob if its folder is gone, after the time in which the link to a home that was moved is made.
  static bool has_lost_folder(Running& job, const AttemptFolder& attempt)
  {
    constexpr double patience_s = 40;
    if (!is_gone(attempt.path()))
      job.folder_gone_since.reset();
    else if (!job.folder_gone_since)
      job.folder_gone_since = Clock::now();
    return job.folder_gone_since && seconds_since(*job.folder_gone_since) > patience_s;
  }

  // Sends a stronger signal in each stage. The first SIGKILL spares dtjob, so that it can still record the end.
  void press(Running& job)
  {
    const double waited = seconds_since(*job.asked_to_end);
    const pid_t leader = job.owner.process.pid;
    if (job.stage == 0) {
      if (is_alive(job.owner.process)) ::kill(leader, SIGTERM);
    } else if (job.stage == 1 && waited > options_.grace_s / 4) {
      signal_all(processes_of_job(job.owner), SIGTERM, leader);
    } else if (job.stage == 2 && waited > options_.grace_s) {
      signal_all(processes_of_job(job.owner), SIGKILL, leader);
    } else if (job.stage >= 3 && waited > options_.grace_s + 1) {
      signal_all(processes_of_job(job.owner), SIGKILL);
    } else {
      return;
    }
    ++job.stage;
  }

  void start_next()
  {
    if (pending_.empty()) scan();
    while (!pending_.empty() && settle(pending_.front())) pending_.pop_front();
    if (pending_.empty()) locks_.drop_turn();
  }

  // Numbers only increase, so jobs added later come after all known ones. It is enough to read the queue again when the known
  // jobs are used up. Requires the lock, because a listing made while jobs are added may contain a later job and miss an earlier
  // one.
  void scan()
  {
    const auto queue_lock = queue_.try_lock();
    if (!queue_lock) return;
    for (auto& entry : queue_.list())
      if (entry.number > last_seen_) pending_.push_back(std::move(entry));
    if (!pending_.empty()) last_seen_ = pending_.back().number;
  }

  // Returns true if the first job needs no more waiting: it runs, or it left the queue.
  bool settle(const QueueEntry& entry)
  {
    auto ticket = queue_.read(entry);
    if (!ticket) return discard(entry, "its file in the queue is damaged");
    const AttemptFolder attempt(ticket->attempt);
    if (const auto owner = read_owner(attempt)) return adopt(entry, *ticket, *owner);
    if (!is_there(attempt.path())) return discard(entry, "its attempt's folder is gone");
    if (is_there(attempt.cancel())) return withdraw(entry, attempt, "it was cancelled");
    if (!is_there(attempt.script())) return refuse(entry, attempt, "its job.sh is gone");
    if (is_for_successor(entry, *ticket)) return false;
    return try_start(entry, *ticket, attempt);
  }

  // Whether the job waits for another supervisor: its submitter had more (limits, niceness) than this process can give to a job,
  // and has started a supervisor that can. After the patience this process starts the job with what it has.
  bool is_for_successor(const QueueEntry& entry, const Ticket& ticket)
  {
    constexpr std::chrono::seconds patience{10};
    if (!ticket.surroundings || !allow_more(*ticket.surroundings, own_surroundings())) return false;
    if (awaiting_.job != entry.number) awaiting_ = {entry.number, Clock::now()};
    return Clock::now() - awaiting_.since < patience;
  }

  // Returns false if files were missing only because the home is not at its place at this moment.
  bool discard(const QueueEntry& entry, const std::string& why)
  {
    if (!is_in_charge()) return false;
    log(entry.job_id() + " is left out: " + why);
    queue_.remove(entry);
    if (quiet_ && quiet_->job == entry.number) clear_trouble(); // its notice that it waits
    return true;
  }

  bool adopt(const QueueEntry& entry, const Ticket& ticket, const Owner& owner)
  {
    running_.push_back({entry, ticket, owner, std::nullopt});
    return true;
  }

  // Removes the job if no process can run it any more.
  bool withdraw(const QueueEntry& entry, const AttemptFolder& attempt, const std::string& why)
  {
    return claim_for_cancel(attempt, entry.token) && discard(entry, why);
  }

  // Removes a job that can never start, so that it does not block the others.
  bool refuse(const QueueEntry& entry, const AttemptFolder& attempt, const std::string& why)
  {
    write_stop_reason(attempt, {StopKind::not_started, why});
    return withdraw(entry, attempt, why);
  }

  // Whether the job must wait for other jobs, or because its group has reached its limit.
  bool must_wait(const Ticket& ticket) const
  {
    const auto is_of_group = [&](const Running& job) { return job.ticket.group == ticket.group; };
    if (ticket.max_running > 0 && std::count_if(running_.begin(), running_.end(), is_of_group) >= ticket.max_running) return true;
    if (ticket.after.empty()) return false;
    const auto entries = queue_.list_all_hosts();
    return std::any_of(entries.begin(), entries.end(), [&](const QueueEntry& other) {
      return std::find(ticket.after.begin(), ticket.after.end(), other.number) != ticket.after.end();
    });
  }

  // Whether the machine is quiet, or the job has waited for as long as it wants to. Puts into the job's environment which of the
  // two it was.
  bool is_time_for(const QueueEntry& entry, Ticket& ticket)
  {
    if (!quiet_ || quiet_->job != entry.number) quiet_ = QuietWait{.job = entry.number};
    const double waited_s = seconds_since(quiet_->since);
    const auto busy = quiet_->watch.busy_cores();
    const bool is_quiet = busy && *busy < quiet_->watch.least_busy();
    const auto limit = static_cast<double>(ticket.when_idle_s);
    if (!is_quiet && waited_s < limit) {
      notice_.say(fmt::format("{}, at most until {}", waits_for_quiet, format_time_utc(quiet_->begin_unix_s + limit)));
      return false;
    }
    ticket.environment["DTCTL_WHEN_IDLE"] = is_quiet ? fmt::format("waited {:.0f} s until the machine was quiet", waited_s)
                                                     : fmt::format("waited {:.0f} s for a quiet machine, in vain", waited_s);
    return true;
  }

  bool try_start(const QueueEntry& entry, Ticket& ticket, const AttemptFolder& attempt)
  {
    if (must_wait(ticket)) return false;
    const auto allowed = settable_cores(ticket.allowed_cores);
    const auto count = static_cast<std::size_t>(ticket.cores);
    if (allowed.size() < count)
      return refuse(entry, attempt, fmt::format("it needs {} cores, but this machine now has {}", count, allowed.size()));
    if (ticket.when_idle_s > 0 && !is_time_for(entry, ticket)) return false;
    auto cores = locks_.take(count, allowed, attempt.path());
    if (!cores) return false;
    const auto outcome = start_leader(ticket, *cores, entry.job_id());
    if (outcome.kind == StartOutcome::Kind::failed)
      throw Error(ErrorKind::environment, entry.job_id() + " could not be started: " + outcome.error);
    const auto owner = read_owner(attempt);
    if (!owner) throw Error(ErrorKind::environment, entry.job_id() + " was started but its owner.json is gone");
    const bool ours = outcome.kind == StartOutcome::Kind::started;
    running_.push_back({entry, ticket, *owner, ours ? std::move(cores) : std::nullopt});
    log(entry.job_id() + (ours ? " has started" : " was started by somebody else"));
    clear_trouble();
    return true;
  }

  // The lock is released only after the queue was found empty under the queue lock. Nobody can add a job in between, so no job is
  // left without a supervisor.
  bool may_leave()
  {
    if (!running_.empty() || !pending_.empty()) return false;
    const auto queue_lock = queue_.try_lock();
    if (!queue_lock || !queue_.list().empty() || !is_in_charge()) return false;
    lock_.reset();
    return true;
  }

  void report(const std::string& message)
  {
    if (message == trouble_) return;
    trouble_ = message;
    log(message);
    notice_.say(message);
  }

  void clear_trouble()
  {
    trouble_.clear();
    notice_.say("");
  }

  // Waits until a job's leader ends, at most one tick.
  void wait_for_change() const
  {
    std::vector<pollfd> leaders;
    for (const auto& job : running_)
      if (is_alive(job.owner.process))
        if (const int descriptor = open_process(job.owner.process.pid); descriptor >= 0)
          leaders.push_back({descriptor, POLLIN, 0});
    ::poll(leaders.data(), leaders.size(), static_cast<int>(options_.tick_s * 1000));
    for (const auto& leader : leaders) ::close(leader.fd);
  }

  Queue queue_;
  CoreLocks locks_;
  Notice notice_;
  SupervisorOptions options_;
  std::optional<FileLock> lock_;
  std::deque<QueueEntry> pending_;
  std::int64_t last_seen_ = 0;
  std::vector<Running> running_;
  std::string trouble_; // last reported message
  // The first job of the queue, if it waits for a supervisor that can give it more, and since when.
  struct {
    std::int64_t job = 0;
    Clock::time_point since{};
  } awaiting_;
  // The first job of the queue, if it waits for a quiet machine.
  struct QuietWait {
    std::int64_t job = 0;
    Clock::time_point since = Clock::now();
    double begin_unix_s = now_unix_s();
    QuietWatch watch{};
  };
  std::optional<QuietWait> quiet_;
};

// The variables that a job would keep, and those that say where dtctl's own things are. The supervisor serves other shells, too.
std::vector<std::string> own_environment()
{
  constexpr std::array<const char*, 3> places{"DTCTL_CORE_LOCKS", "DTCTL_JOB_AGENT", "DTCTL_PROC_STAT"};
  std::vector<std::string> words;
  for (const auto& [name, value] : environment_to_keep()) words.push_back(name + "=" + value);
  for (const auto* name : places)
    if (const char* value = std::getenv(name)) words.push_back(std::string(name) + "=" + value);
  return words;
}

// Runs in a grandchild. Gives up the caller's terminal, session and open files.
[[noreturn]] void become_supervisor(const char* log_path, char* const* words, char* const* environment)
{
  const int null = ::open("/dev/null", O_RDWR);
  const int out = ::open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(null, 0);
  ::dup2(out >= 0 ? out : null, 1);
  ::dup2(out >= 0 ? out : null, 2);
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) // Linux before 5.9
    for (int descriptor = 3; descriptor < ::sysconf(_SC_OPEN_MAX); ++descriptor) ::close(descriptor);
  if (::chdir("/") != 0) ::_exit(126);
  ::execve("/proc/self/exe", words, environment);
  ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& words)
{
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

void spawn_supervisor(const Home& home, const Queue& queue, bool succeeds)
{
  std::vector<std::string> words{own_program().string(), "supervise", "--home", std::filesystem::absolute(home.root()).string()};
  if (succeeds) words.emplace_back("--succeed");
  auto variables = own_environment();
  const auto argv = pointers_to(words), environment = pointers_to(variables);
  const auto log_path = queue.supervisor_log().string();
  const pid_t child = ::fork();
  if (child < 0) throw system_error("start the local queue's supervisor", errno);
  if (child == 0) {
    ::setsid();
    if (::fork() == 0) become_supervisor(log_path.c_str(), argv.data(), environment.data());
    ::_exit(0);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Waits for the end of the present supervisor. Returns nothing if another process waits already.
std::optional<FileLock> succeed(const Queue& queue)
{
  const auto turn = FileLock::try_acquire(queue.successor_lock());
  return turn ? std::optional(FileLock::acquire(queue.supervisor_lock())) : std::nullopt;
}

// Whether a supervisor that this process starts could give jobs more than the present one. Older ones do not say what they can.
bool can_do_better(const Queue& queue)
{
  const auto text = text_if_readable(queue.supervisor_lock());
  return !text.empty() && allow_more(own_surroundings(), parse_surroundings(text)) &&
         FileLock::try_acquire(queue.successor_lock());
}

} // namespace

int run_supervisor(const Home& home, const SupervisorOptions& options)
{
  if (original_of(home)) return 0; // what a copy's queue holds is the original's
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE}) ::signal(signal, SIG_IGN);
  leave_surroundings();
  const Queue queue(home);
  auto lock = FileLock::try_acquire(queue.supervisor_lock());
  if (!lock && options.succeeds) lock = succeed(queue);
  if (!lock) return 0;
  const auto own = to_json(own_surroundings()) + "\n";
  if (::ftruncate(lock->descriptor(), 0) == 0) (void)!::pwrite(lock->descriptor(), own.data(), own.size(), 0);
  try {
    return Supervisor(home, options, std::move(*lock)).run();
  } catch (const Error& error) { // of the locks of cores: whoever looks at a job that waits is told
    log(error.what());
    Notice(queue.trouble()).say(error.what());
    return static_cast<int>(exit_code_of(error.kind()));
  }
}

void ensure_supervisor(const Home& home)
{
  const Queue queue(home);
  if (queue.list().empty() || original_of(home)) return;
  bool is_one_there = false;
  try {
    is_one_there = !FileLock::try_acquire(queue.supervisor_lock());
    if (is_one_there && !can_do_better(queue)) return;
  } catch (const Error&) { // a read-only home: no job can run here, but status requests must work
    return;
  }
  spawn_supervisor(home, queue, is_one_there);
}

} // namespace dt::jobs::local
