// Recorder: writes an attempt's event lines and heartbeat from a separate thread, so that no step waits for a disk.
#pragma once

#include "core/record/run_record.hpp"
#include "engine/train/loop/observer.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace dt::train {

// Exists on rank 0 once this process has claimed the attempt. Costs about one microsecond per step.
class Recorder : public Observer {
 public:
  struct Options {
    AttemptFolder attempt;
    double flush_every_s = 0.5;          // event lines
    double beat_every_s = 1;             // heartbeat
    std::function<void()> before_beat{}; // called on the recorder's thread before every heartbeat except the first
  };
  // Creates events.log and writes the first heartbeat. Throws an environment error that names the file if that fails.
  explicit Recorder(const Options& options);
  // Writes the remaining lines and ignores errors; call close() to see them.
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void planned(std::int64_t steps) override;
  // Both rethrow an error of earlier lines: an environment error that names the file.
  void step(const StepEvent& event) override;
  void evaluation(const EvalEvent& event) override;

  // Writes and syncs all lines and ends the thread. Throws if that fails.
  void close();

 private:
  template<class Event> void append(const Event& event, std::int64_t step);
  void work(const std::stop_token& stop);
  void flush();
  void beat();

  Options options_;
  int events_ = -1;  // file descriptor of events.log
  std::mutex mutex_; // protects the four members below
  std::condition_variable_any wake_;
  std::string pending_; // lines not yet written
  Heartbeat heartbeat_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

} // namespace dt::train
