// Observer: interface for reports on the training's progress. This base class ignores them. RecordingObserver writes them into
// the attempt's events.log and heartbeat.
#pragma once

#include "core/record/attempt/attempt_writer.hpp"
#include "engine/train/record/start_times.hpp"

#include <cstdint>
#include <string>

namespace dt::train {

class Observer {
 public:
  virtual ~Observer() = default;
  // Called if the weights come from the file in train.start_from, not from the seed. origin: "step 800 of run 3fa92c1b07:
  // weights".
  virtual void started_from(const std::string& /*origin*/) {}
  // Called before the first step with the largest number of steps.
  virtual void planned(std::int64_t /*steps*/) {}
  // Called after the first step of this attempt.
  virtual void started(const StartTimes& /*times*/) {}
  virtual void step(const StepEvent& /*event*/) {}
  virtual void evaluation(const EvalEvent& /*event*/) {}
};

class RecordingObserver : public Observer {
 public:
  explicit RecordingObserver(AttemptWriter& writer) : writer_(writer) {}
  void planned(std::int64_t steps) override { writer_.progress(0, steps); }
  void step(const StepEvent& event) override { writer_.add(event); }
  void evaluation(const EvalEvent& event) override { writer_.add(event); }

 private:
  AttemptWriter& writer_;
};

} // namespace dt::train
