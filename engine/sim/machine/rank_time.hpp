// The time of a simulated rank's threads. The simulator knows one actor for each rank, whichever of the rank's threads runs on
// it.
//
// A communication thread has a core of its own, so its work goes on beside the computation. While the computing thread passes
// time, the actor makes the communication thread's blocking calls. A call that ends later than the time that the computing thread
// wanted to pass leaves the computing thread's clock behind the simulator's. The simulated times are exact all the same: until it
// has waited for all tasks, a computing thread only computes, gives tasks, which could not begin before that call has ended, and
// waits for tasks, whose ends are known.
#pragma once

#include <functional>

namespace dt::sim {

// Seconds on the clock of the calling rank's running thread.
double thread_clock_s();

// Advances that clock. Time of the computing thread lets the communication thread of the same rank go on.
void spend_s(double seconds);

// The same for a wait that is no work (idle_s).
void wait_s(double seconds);

// Since when the calling rank's running thread has not advanced its clock: for how long it has waited.
double idle_s();

// Whether nothing else of the calling rank goes on while its running thread waits, so that the rank's actor may block.
bool may_block();

// Work of a rank's communication thread.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;
  // Does the next task, if there is one, and returns whether there was one.
  virtual bool run_next() = 0;
};

// While it exists, `work` is done beside the computation of the rank that made it. A rank has at most one at a time. It must be
// destroyed by the same rank.
class BesideComputation {
 public:
  explicit BesideComputation(BackgroundWork& work);
  ~BesideComputation();
  BesideComputation(const BesideComputation&) = delete;
  BesideComputation& operator=(const BesideComputation&) = delete;

  // Runs a task as the communication thread and returns the time of its end.
  static double run(const std::function<void()>& task);
  // The computing thread has waited for a task that ended at `end_s`.
  static void has_waited(double end_s);
};

// Work of a rank's progress thread, which shares the core of the computing thread.
class InterruptingWork {
 public:
  virtual ~InterruptingWork() = default;
  virtual bool has_work() const = 0;
  // Does what can be done at once. The time that it spends delays the computing thread.
  virtual void look() = 0;
};

// While it exists, `work` looks at intervals while the rank that made it passes time. A rank has at most one at a time, and none
// beside a BesideComputation. It must be destroyed by the same rank.
class AmidComputation {
 public:
  explicit AmidComputation(InterruptingWork& work);
  ~AmidComputation();
  AmidComputation(const AmidComputation&) = delete;
  AmidComputation& operator=(const AmidComputation&) = delete;
};

// While it exists, time that the calling rank spends is added up, and the simulator's clock stands still for the rank. The rank
// must not communicate meanwhile.
class CapturedTime {
 public:
  CapturedTime();
  ~CapturedTime();
  CapturedTime(const CapturedTime&) = delete;
  CapturedTime& operator=(const CapturedTime&) = delete;

  double seconds() const { return seconds_; }

 private:
  friend void wait_s(double seconds);
  friend double thread_clock_s();
  double seconds_ = 0;
};

} // namespace dt::sim
