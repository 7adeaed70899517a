#include "engine/sync/machine/progress_thread.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace dt::sync {
namespace {

// Processor time of the calling thread.
double processor_s()
{
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Asks for short turns on the core. Linux from 6.12 then lets this thread interrupt the computing thread as soon as it wakes;
// without that, a kernel with the EEVDF scheduler may first let the computing thread finish a turn of some milliseconds. Older
// kernels ignore it; a refusal does no harm.
void ask_for_short_turns()
{
  struct Attributes { // struct sched_attr of the kernel, whose header clashes with that of the C library
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns, deadline_ns, period_ns;
  };
  Attributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != SCHED_OTHER) return;
  constexpr std::uint64_t turn_ns = 300'000;
  attributes.runtime_ns = turn_ns;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// How long to sleep between two looks. Messages that arrive are moved on soon, because others wait for the answer; but looks that
// find nothing take at most about a hundredth of the core.
class Interval {
 public:
  // seconds: processor time of the look
  void note_look(double seconds)
  {
    constexpr double share = 0.01, switch_s = 3e-6; // switch_s: of changing to this thread and back
    least_s_ = std::min(least_s_, seconds);
    const bool moved_on = seconds > 4 * least_s_; // to add or copy a message takes longer than to find none
    seconds_ = moved_on ? shortest_s : std::clamp((seconds + switch_s) / share, shortest_s, longest_s);
  }
  double seconds() const { return seconds_; }

 private:
  static constexpr double shortest_s = 300e-6, longest_s = 1e-3;
  double least_s_ = std::numeric_limits<double>::infinity(); // of all looks so far
  double seconds_ = shortest_s;
};

} // namespace

class ProgressThread::Worker {
 public:
  explicit Worker(std::function<bool()> advance) : advance_(std::move(advance))
  {
    thread_ = std::thread([this] { work(); });
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker()
  {
    {
      const std::lock_guard turn(turn_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void alone(const std::function<bool()>& call)
  {
    const std::lock_guard turn(turn_);
    if (failure_) std::rethrow_exception(failure_);
    const bool slept = !has_work_;
    has_work_ = false; // also if `call` throws
    has_work_ = call();
    if (slept && has_work_) changed_.notify_all();
  }
  Looks looks()
  {
    const std::lock_guard turn(turn_);
    return looks_;
  }

 private:
  void work()
  {
    ask_for_short_turns();
    Interval interval;
    while (wait_for_work()) {
      std::this_thread::sleep_for(std::chrono::duration<double>(interval.seconds()));
      look(interval);
    }
  }
  bool wait_for_work()
  {
    std::unique_lock turn(turn_);
    changed_.wait(turn, [this] { return ends_ || has_work_; });
    return !ends_;
  }
  void look(Interval& interval)
  {
    const std::lock_guard turn(turn_);
    if (!has_work_) return;
    const double begin_s = processor_s();
    try {
      has_work_ = advance_();
    } catch (...) {
      failure_ = std::current_exception();
      has_work_ = false;
    }
    const double end_s = processor_s();
    interval.note_look(end_s - begin_s);
    looks_ = {looks_.count + 1, end_s};
  }

  std::function<bool()> advance_;
  std::mutex turn_; // its holder may call MPI; it also guards what follows
  std::condition_variable changed_;
  bool has_work_ = false, ends_ = false;
  std::exception_ptr failure_;
  Looks looks_;
  std::thread thread_; // last member: the thread uses the others
};

ProgressThread::ProgressThread(std::function<bool()> advance) : worker_(std::make_unique<Worker>(std::move(advance))) {}
ProgressThread::~ProgressThread() = default;
void ProgressThread::alone(const std::function<bool()>& call) { worker_->alone(call); }
ProgressThread::Looks ProgressThread::looks() { return worker_->looks(); }

} // namespace dt::sync
