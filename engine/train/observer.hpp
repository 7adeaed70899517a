// Observer: who wants to know how the training goes. This one does not.
#pragma once

#include "core/run_record.hpp"

#include <cstdint>

namespace dt::engine {

class Observer {
public:
  virtual ~Observer() = default;
  // Before the first step: how many there will be at most.
  virtual void planned(std::int64_t /*steps*/) {}
  virtual void step(const StepEvent& /*event*/) {}
  virtual void evaluation(const EvalEvent& /*event*/) {}
};

} // namespace dt::engine
