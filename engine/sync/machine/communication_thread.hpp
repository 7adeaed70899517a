// CommunicationThread: a thread that makes a rank's blocking communication calls while another thread computes.
#pragma once

#include "engine/sync/spare_core.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace dt::sync {

// Runs tasks one after another, in the order in which they were given.
class CommunicationThread {
 public:
  // With `spare`, this thread runs on spare->core and the process's other threads stay off spare->others. Without it, any core of
  // the process may be used.
  explicit CommunicationThread(const std::optional<SpareCore>& spare);
  // Waits for all given tasks.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  // Tasks are numbered from 0. After a task throws, all later tasks are skipped.
  void give(std::function<void()> task);
  std::size_t given() const;
  // Blocks until the first `tasks` tasks are done. Rethrows the exception of a task.
  void wait_for(std::size_t tasks);

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

} // namespace dt::sync
