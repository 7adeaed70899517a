#include "engine/sync/machine/task_threads.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>

namespace dt::sync {
namespace {

std::size_t take_last(std::vector<std::size_t>& tasks)
{
  const auto last = tasks.back();
  tasks.pop_back();
  return last;
}

} // namespace

class TaskThreads::Pool {
 public:
  Pool(std::int64_t threads, Work work) : work_(std::move(work))
  {
    for (std::int64_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool()
  {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    was_given_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void give(std::size_t task)
  {
    {
      const std::lock_guard lock(mutex_);
      given_.push_back(task);
    }
    was_given_.notify_one();
  }
  std::optional<std::size_t> finished(bool wait)
  {
    std::unique_lock lock(mutex_);
    if (wait) was_finished_.wait(lock, [&] { return !finished_.empty(); });
    if (finished_.empty()) return std::nullopt;
    return take_last(finished_);
  }

 private:
  void run();
  std::optional<std::size_t> next_task();

  Work work_;
  std::mutex mutex_; // protects the members below
  std::condition_variable was_given_, was_finished_;
  std::vector<std::size_t> given_, finished_;
  bool ends_ = false;
  std::vector<std::thread> threads_; // last member: the threads use the others
};

// These threads already use the rank's cores, so each one must not start an OpenMP team of its own.
void TaskThreads::Pool::run()
{
  omp_set_num_threads(1);
  while (const auto task = next_task()) {
    work_(*task);
    {
      const std::lock_guard lock(mutex_);
      finished_.push_back(*task);
    }
    was_finished_.notify_one();
  }
}

// Blocks until a task is given, and returns its number. Returns nothing if the pool is being destroyed and no task is left.
std::optional<std::size_t> TaskThreads::Pool::next_task()
{
  std::unique_lock lock(mutex_);
  was_given_.wait(lock, [&] { return ends_ || !given_.empty(); });
  if (given_.empty()) return std::nullopt;
  return take_last(given_);
}

TaskThreads::TaskThreads(std::int64_t threads, Work work) : pool_(std::make_unique<Pool>(threads, std::move(work))) {}
TaskThreads::~TaskThreads() = default;
void TaskThreads::give(std::size_t task) { pool_->give(task); }
std::optional<std::size_t> TaskThreads::finished(bool wait) { return pool_->finished(wait); }
void TaskThreads::pause_between_looks() { std::this_thread::yield(); }

} // namespace dt::sync
