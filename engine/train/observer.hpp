// Observer: who wants to know how the training goes. This one does not.
#pragma once

#include "core/run_record.hpp"

#include <cstdint>
#include <string>

namespace dt::engine {

class Observer {
public:
  virtual ~Observer() = default;
  // The weights are not the seed's, but of the file that train.start_from names: "step 800 of run 3fa92c1b07: weights".
  virtual void started_from(const std::string& /*origin*/) {}
  // Before the first step: how many there will be at most.
  virtual void planned(std::int64_t /*steps*/) {}
  virtual void step(const StepEvent& /*event*/) {}
  virtual void evaluation(const EvalEvent& /*event*/) {}
};

} // namespace dt::engine
