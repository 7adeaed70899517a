// SharedCentre: one centre in the shared memory of a node. All ranks read and write it without a lock.
#pragma once

#include "engine/comm/machine/ranks/shared_window.hpp"
#include "engine/sync/strategy.hpp"

#include <cstdint>
#include <span>

namespace dt::sync {

class SharedCentre {
 public:
  // Throws a recipe error if the ranks are on several nodes. Collective.
  SharedCentre(const StrategyParts& parts, std::span<const float> start);

  // The centre, shared by all ranks. A read during another rank's write may return a mix of old and new numbers.
  std::span<float> values() { return values_; }
  // Registers this rank's next update. Returns the number of updates that other ranks began since this rank's last one.
  std::int32_t begin_update();

 private:
  comm::SharedWindow window_;
  std::int64_t* begun_; // counter of all ranks' updates, in the window
  std::span<float> values_;
  std::int64_t read_ = 0; // value of the counter at this rank's last update
};

} // namespace dt::sync
