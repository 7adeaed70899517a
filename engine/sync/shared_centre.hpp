// SharedCentre: one centre in the memory that the ranks of a node share, read and written by all of them without a lock.
#pragma once

#include "engine/comm/shared_window.hpp"
#include "engine/sync/strategy.hpp"

#include <cstdint>
#include <span>

namespace dt::engine {

class SharedCentre {
public:
  // A recipe error when the ranks are on several nodes. Collective.
  SharedCentre(const StrategyParts& parts, std::span<const float> start);

  // Of all ranks; what one reads while others write is partly old and partly new.
  std::span<float> values() { return values_; }
  // Numbers this rank's next update among those of all ranks; returns how many of the others began since its last one.
  std::int32_t begin_update();

private:
  SharedWindow window_;
  std::int64_t* begun_; // updates of all ranks, in the window
  std::span<float> values_;
  std::int64_t read_ = 0; // of them when this rank last read
};

} // namespace dt::engine
