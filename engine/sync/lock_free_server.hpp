// LockFreeServer: a server rank whose threads update the same centre at the same time, without a lock on it (Hogwild).
#pragma once

#include "engine/sync/parameter_server.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dt::engine {

// The thread that calls serve() alone talks to MPI. It takes requests as they come, hands each to a thread that is idle, and answers
// when that thread is done; a thread has its task to itself, and shares the centre with all others.
class LockFreeServer {
public:
  struct Task {
    Request request;
    std::vector<float> received, answer, scratch; // laid out as the weights; the answer is for the update to fill in
    std::exception_ptr failure;
  };
  // Called by several threads at once.
  using Update = std::function<void(Task& task)>;

  // Buffers of so many floats a thread.
  LockFreeServer(std::int64_t threads, std::size_t floats, Update update);
  LockFreeServer(const LockFreeServer&) = delete;
  LockFreeServer& operator=(const LockFreeServer&) = delete;
  ~LockFreeServer();

  // So many exchanges. The log has them in the order in which they were handed to threads. Throws what an update throws.
  void serve(std::int64_t exchanges, ParameterServers& servers, UpdateLog& log);

private:
  // What one call of serve() has done.
  struct Round {
    ParameterServers& servers;
    UpdateLog& log;
    std::int64_t exchanges, taken = 0, answered = 0;
    Request head{};
    Transfer arrival{};
    bool is_all_taken() const { return taken == exchanges; }
  };
  void advance(Round& round);
  void take_request(Round& round);
  void answer(Round& round, Task& task);
  // Null when none is finished and it was not to wait.
  Task* finished_task(bool wait);
  void work();
  Task* next_task();

  Update update_;
  std::vector<Task> tasks_;
  std::vector<Task*> idle_; // the serving thread's

  std::mutex mutex_; // of what lies between the threads; the centre has none
  std::condition_variable was_given_, was_finished_;
  std::vector<Task*> given_, finished_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

} // namespace dt::engine
