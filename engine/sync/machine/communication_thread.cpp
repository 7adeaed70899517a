#include "engine/sync/machine/communication_thread.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace dt::sync {
namespace {

void confine(pid_t thread, const std::vector<int>& cores)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  sched_setaffinity(thread, sizeof set, &set); // fails for a thread that has just ended; that does no harm
}

std::vector<int> cores_of_this_thread()
{
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
  return cores;
}

// Sets the mask of every thread: compute threads may already run, and each thread has its own mask.
void keep_threads_off(const std::vector<int>& cores)
{
  std::vector<int> left;
  for (const int core : cores_of_this_thread())
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) left.push_back(core);
  if (left.empty()) return;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    confine(static_cast<pid_t>(std::atoi(task.path().filename().c_str())), left);
}

} // namespace

class CommunicationThread::Worker {
 public:
  explicit Worker(const std::optional<SpareCore>& spare)
  {
    if (spare) keep_threads_off(spare->others);
    thread_ = std::thread([this, spare] {
      if (spare) confine(0, {spare->core});
      work();
    });
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker()
  {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void give(std::function<void()> task)
  {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      ++given_;
    }
    changed_.notify_all();
  }
  std::size_t given() const { return given_; }
  void wait_for(std::size_t tasks)
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= tasks; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t given_ = 0; // written only by the owner's thread
  std::size_t done_ = 0;
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_; // last member: the thread uses the others
};

void CommunicationThread::Worker::work()
{
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    const bool goes_on = !failure_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (goes_on) task();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    ++done_;
    changed_.notify_all();
  }
}

CommunicationThread::CommunicationThread(const std::optional<SpareCore>& spare) : worker_(std::make_unique<Worker>(spare)) {}
CommunicationThread::~CommunicationThread() = default;
void CommunicationThread::give(std::function<void()> task) { worker_->give(std::move(task)); }
std::size_t CommunicationThread::given() const { return worker_->given(); }
void CommunicationThread::wait_for(std::size_t tasks) { worker_->wait_for(tasks); }

} // namespace dt::sync
