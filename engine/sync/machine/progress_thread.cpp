#include "engine/sync/machine/progress_thread.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
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

// How long to sleep between two looks. Meanwhile the kernel sends and receives as much as its buffers hold, so a look is worth
// its fixed cost of some 15 us only when much has arrived. On a fast link the intervals become short; while nothing arrives they
// become long, and the looks take less than a hundredth of the core.
class Interval {
 public:
  // seconds: processor time of the look
  void note_look(double seconds)
  {
    constexpr double short_look_s = 50e-6, long_look_s = 150e-6, shortest_s = 300e-6, longest_s = 2e-3;
    if (seconds < short_look_s) seconds_ *= 1.25;
    if (seconds > long_look_s) seconds_ *= 0.8;
    seconds_ = std::clamp(seconds_, shortest_s, longest_s);
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 500e-6;
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
