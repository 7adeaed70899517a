// Recorder: writes a running attempt's event lines and heartbeat from a thread of its own, so that no step waits for a disk.
#pragma once

#include "core/run_record.hpp"
#include "engine/train/observer.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace dt::engine {

// Lives on rank 0 from the moment the attempt is ours. Costs a step about a microsecond.
class Recorder : public Observer {
public:
  struct Options {
    AttemptFolder attempt;
    double flush_every_s = 0.5; // event lines
    double beat_every_s = 1;    // heartbeat
    std::function<void()> before_beat{}; // called on the recorder's thread before every heartbeat but the first
  };
  // Makes events.log and the first heartbeat; an environment error that names the file when that fails.
  explicit Recorder(const Options& options);
  // Writes what it still can and says nothing; call close() to be sure.
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void planned(std::int64_t steps) override;
  // Both throw what went wrong with earlier lines, an environment error that names the file.
  void step(const StepEvent& event) override;
  void evaluation(const EvalEvent& event) override;

  // All lines are written and synced, the thread has ended; throws when that failed.
  void close();

private:
  template<class Event> void append(const Event& event, std::int64_t step);
  void work(const std::stop_token& stop);
  void flush();
  void beat();

  Options options_;
  int events_ = -1;  // descriptor of events.log
  std::mutex mutex_; // guards the four below
  std::condition_variable_any wake_;
  std::string pending_; // lines not yet written
  Heartbeat heartbeat_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

} // namespace dt::engine
