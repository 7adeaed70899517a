// TaskThreads: threads of one rank that do tasks concurrently, for a thread that communicates meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace dt::sync {

// Only the thread that constructs it calls the functions below.
class TaskThreads {
 public:
  // Called with a task's number by several threads concurrently. It must neither throw nor communicate.
  using Work = std::function<void(std::size_t task)>;

  TaskThreads(std::int64_t threads, Work work);
  // Waits for all given tasks.
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  // Gives the task to an idle thread. There must be one.
  void give(std::size_t task);
  // The number of a task that is finished; each is returned once. If none is: blocks when `wait` is true, else returns nothing.
  std::optional<std::size_t> finished(bool wait);
  // Called between two looks for a message and for a finished task, by a caller that waits for both.
  void pause_between_looks();

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

} // namespace dt::sync
