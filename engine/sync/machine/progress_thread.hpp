// ProgressThread: a thread on the rank's own cores that moves messages on at short intervals while another thread computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace dt::sync {

// The computing thread calls MPI only through alone(), so one thread at a time calls MPI.
class ProgressThread {
 public:
  // `advance` makes progress without blocking and returns whether there is still something to move on. The thread calls it at
  // intervals, beside the computation.
  explicit ProgressThread(std::function<bool()> advance);
  // Everything must be complete. The thread makes no call of `advance` that has not begun.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Runs `call` on the calling thread; until it returns, `advance` does not run. `call` returns whether there is something to
  // move on: if not, the thread sleeps until the next alone(). Rethrows what `advance` threw before, without running `call`.
  void alone(const std::function<bool()>& call);

  // What the thread has done so far. Call it from the computing thread.
  struct Looks {
    std::int64_t count = 0; // calls of `advance`
    double busy_s = 0;      // processor time of the thread, in seconds
  };
  Looks looks();

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

} // namespace dt::sync
