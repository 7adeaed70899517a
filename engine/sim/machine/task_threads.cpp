// Simulated threads that do tasks concurrently: a task is done at once, and finished after the time that it spent.
#include "engine/sync/machine/task_threads.hpp"

#include "core/error.hpp"
#include "engine/sim/machine/rank_time.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace dt::sync {
namespace {

// Times that differ by less are equal to the simulator.
constexpr double shortest_s = 1e-9;

} // namespace

class TaskThreads::Pool {
 public:
  Pool(std::int64_t threads, Work work) : threads_(static_cast<std::size_t>(threads)), work_(std::move(work)) {}

  void give(std::size_t task)
  {
    if (running_.size() == threads_) throw Error(ErrorKind::internal, "a task was given to simulated threads that are all busy");
    const sim::CapturedTime time;
    const double begin_s = sim::thread_clock_s();
    work_(task);
    running_.push_back({task, time.seconds(), begin_s + time.seconds()});
  }
  std::optional<std::size_t> finished(bool wait)
  {
    const auto first = next_end();
    if (first == running_.end()) return std::nullopt;
    const double left_s = first->end_s - sim::thread_clock_s();
    if (left_s > shortest_s) {
      if (!wait) return std::nullopt;
      sim::spend_s(left_s);
    }
    const auto task = first->number;
    running_.erase(first);
    return task;
  }
  // A message is seen at most half a percent of a task late. A simulated clock stands still without a pause.
  void pause()
  {
    constexpr double looks = 200;
    const auto first = next_end();
    const double pause_s = first->duration_s / looks, left_s = first->end_s - sim::thread_clock_s();
    sim::spend_s(std::max(shortest_s, std::min(pause_s, left_s)));
  }

 private:
  struct Task {
    std::size_t number;
    double duration_s, end_s;
  };
  std::vector<Task>::iterator next_end()
  {
    return std::ranges::min_element(running_, {}, [](const Task& task) { return task.end_s; });
  }
  std::size_t threads_;
  Work work_;
  std::vector<Task> running_;
};

TaskThreads::TaskThreads(std::int64_t threads, Work work) : pool_(std::make_unique<Pool>(threads, std::move(work))) {}
TaskThreads::~TaskThreads() = default;
void TaskThreads::give(std::size_t task) { pool_->give(task); }
std::optional<std::size_t> TaskThreads::finished(bool wait) { return pool_->finished(wait); }
void TaskThreads::pause_between_looks() { pool_->pause(); }

} // namespace dt::sync
