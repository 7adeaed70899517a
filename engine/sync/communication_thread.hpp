// CommunicationThread: a thread that makes a rank's blocking calls while another one computes.
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

namespace dt::engine {

// Where a rank's communication thread runs.
struct SpareCore {
  int core = -1;           // of this rank's thread
  std::vector<int> others; // of its host, kept free for the communication threads of ranks that share its mask, its own included
};

// A core in the rank's mask that no compute thread of a rank with the same mask needs; nothing when there is none, or when masks
// overlap without being equal. places: of all ranks. Pure.
std::optional<SpareCore> find_spare_core(const std::vector<RankPlace>& places, int rank, std::int64_t threads_per_rank);

// One task after another, in the order they were given.
class CommunicationThread {
public:
  // Runs on `spare` alone, and every other thread of this process elsewhere; nothing: wherever the process may.
  explicit CommunicationThread(const std::optional<SpareCore>& spare);
  // Waits for the tasks that were given.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  // Tasks are counted from 0. Those behind one that threw are passed over.
  void give(std::function<void()> task);
  std::size_t given() const { return given_; }
  // Blocks until so many are done; throws what a task threw.
  void wait_for(std::size_t tasks);

private:
  void work();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t given_ = 0; // by the owner's thread
  std::size_t done_ = 0;
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_; // last: it uses the rest
};

} // namespace dt::engine
