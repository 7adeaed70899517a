// WishAgreement: the steps after which the ranks look at their overseers' wishes (stop, write a checkpoint), and the wish that
// they agree on.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/train/agreement/council.hpp"
#include "engine/train/agreement/lookout.hpp"
#include "engine/train/loop/overseer.hpp"
#include "engine/train/loop/training_clock.hpp"

#include <cstdint>
#include <functional>

namespace dt::train {

class WishAgreement {
 public:
  struct Options {
    // Whether the strategy's ranks run at their own pace. Synchronous ranks agree at once on the wishes of a look. Asynchronous
    // ranks agree at the next look, so that no rank waits for a slower rank's step.
    bool asynchronous = false;
    std::int64_t steps_done = 0; // by earlier attempts
  };
  // clock and comm must outlive the WishAgreement.
  WishAgreement(const Options& options, const TrainingClock& clock, comm::Communicator& comm);

  // Call it before the first step, after clock.start().
  void begin() { looked_s_ = clock_.training_s(); }
  // Whether the ranks look after this step. Equal on all ranks.
  bool is_due(std::int64_t step) const { return lookout_.is_due(step); }
  // Looks at the wishes after a step: afterwards all ranks have the same wish(). Calls write_checkpoint on every rank if that
  // wish asks for a checkpoint. Collective.
  void look(std::int64_t step, Overseer& overseer, const std::function<void()>& write_checkpoint);
  // Call it after the last look: completes the exchange of wishes that asynchronous ranks have begun. Collective.
  void end() { council_.read(); }

  // The wishes of all ranks combined, as agreed at the last look. Before the first look: no wish.
  const Overseer::Wish& wish() const { return wish_; }

 private:
  bool is_cancelled(Overseer& overseer);

  bool asynchronous_;
  const TrainingClock& clock_;
  Lookout lookout_;
  Council council_;
  Overseer::Wish wish_;
  double looked_s_ = 0; // training time at the end of the last look
};

} // namespace dt::train
