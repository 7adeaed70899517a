// LockFreeServer: a server rank whose threads update one centre concurrently without a lock (Hogwild). [Recht2011]
#pragma once

#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/exchange/parameter_server.hpp"
#include "engine/sync/machine/task_threads.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

namespace dt::sync {

// Only the thread that calls serve() uses MPI. It receives requests in order of arrival, gives each to an idle thread, and sends
// the answer when that thread is done. A task belongs to one thread; the centre is shared by all.
class LockFreeServer {
 public:
  struct Task {
    Request request;
    comm::Floats received, answer, scratch; // same layout as the weights; the update fills in the answer
    std::exception_ptr failure;
  };
  // Called by several threads concurrently.
  using Update = std::function<void(Task& task)>;

  // Starts the threads. Each task has buffers of `floats` floats.
  LockFreeServer(std::int64_t threads, std::size_t floats, Update update);

  // Serves this number of exchanges. The log gets the updates in the order in which they were handed to threads. Rethrows
  // exceptions of updates.
  void serve(std::int64_t exchanges, ParameterServers& servers, UpdateLog& log);

 private:
  // State of one call of serve().
  struct Round {
    ParameterServers& servers;
    UpdateLog& log;
    std::int64_t exchanges, taken = 0, answered = 0;
    Request head{};
    comm::Transfer arrival{};
    bool is_all_taken() const { return taken == exchanges; }
  };
  void advance(Round& round);
  void take_request(Round& round);
  void answer(Round& round, std::size_t number);
  void work(Task& task);

  Update update_;
  std::vector<Task> tasks_;       // as many as threads; nothing protects the centre
  std::vector<std::size_t> idle_; // numbers of tasks that no thread has
  TaskThreads threads_;           // last member: the threads use the others
};

} // namespace dt::sync
