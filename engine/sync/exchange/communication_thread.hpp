// CommunicationThread: a thread that makes a rank's blocking communication calls while another thread computes.
#pragma once

#include "engine/comm/placement.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace dt::sync {

// The core of a rank's communication thread.
struct SpareCore {
  int core = -1;           // core of this rank's communication thread
  std::vector<int> others; // the cores kept free on this host for all ranks with the same mask; includes `core`
};

// Finds a core in the rank's mask that no compute thread needs. Empty if there is none, or if masks on the host overlap without
// being equal. places: of all ranks. Pure.
std::optional<SpareCore> find_spare_core(const std::vector<comm::RankPlace>& places, int rank, std::int64_t threads_per_rank);

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
  std::size_t given() const { return given_; }
  // Blocks until the first `tasks` tasks are done. Rethrows the exception of a task.
  void wait_for(std::size_t tasks);

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

} // namespace dt::sync
