// ProgramReplica: the replica of a program that computes elsewhere, through callbacks (dtctl_sync.h). Its packed buffers are the
// program's memory, or mirrors of buffers on a device, which are copied only when a strategy needs them or has changed them.
#pragma once

#include "engine/bindings/dtctl_sync.h"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/replica.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace dt::bindings {

// The packed layout of tensors with these numbers of floats: each begins at a multiple of 16, with padding behind it.
struct Layout {
  std::vector<Range> tensors;
  std::size_t floats = 0; // of the whole buffer
};
Layout lay_out(std::span<const std::size_t> lengths);

class ProgramReplica : public sync::Replica {
 public:
  // The buffers must be as long as the layout and outlive the replica. server_rule: what apply() does; null: never called.
  struct Parts {
    Layout layout;
    std::span<float> weights, gradients;
    dtctl_sync_callbacks callbacks;
    std::unique_ptr<optim::Optimizer> server_rule;
    bool is_alone = false; // no other rank needs its gradients, so they stay where they are
  };
  explicit ProgramReplica(Parts parts);

  void begin_step(const sync::Step& step) { step_ = step; }
  // Called within compute() when the gradient of a tensor is final. The listener hears of the tensors from the last to the first,
  // each when all behind it are final. Throws a run error for a tensor that does not exist or was final before.
  void announce(std::size_t tensor);
  // Copies to the device what the strategy has changed.
  void hand_back();
  // The program has changed its weights itself.
  void forget_mirrors() { weights_.is_fetched = false; }

  // With a mirror: copies the device's weights into it, unless it holds them.
  std::span<float> weights() override { return fetched(weights_); }
  std::span<float> gradients() override { return parts_.is_alone ? gradients_.values : fetched(gradients_); }
  std::span<const Range> tensors() override { return parts_.layout.tensors; }
  using sync::Replica::compute;
  sync::BatchLoss compute(sync::GradientListener* listener) override;
  using sync::Replica::update;
  // Stores the range's gradients. With the last range of the step, the program's rule updates all tensors.
  void update(Range range, float gradient_factor) override;
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  sync::Step step() const override { return step_; }

 private:
  // A buffer in the host's memory and what is known of it. Several threads of a strategy may ask for it.
  struct Mirror {
    std::span<float> values;
    int what;                             // DTCTL_SYNC_WEIGHTS or DTCTL_SYNC_GRADIENTS
    std::atomic<bool> is_fetched = false; // it holds the device's values, or newer ones
    std::atomic<bool> is_changed = false; // a strategy may have written to it since
  };
  bool has_device() const { return parts_.callbacks.fetch != nullptr; }
  std::span<float> fetched(Mirror& mirror);
  void store(Mirror& mirror, Range range);
  void tell_listener();

  Parts parts_;
  Mirror weights_, gradients_;
  sync::Step step_;
  sync::GradientListener* listener_ = nullptr; // during compute()
  std::vector<bool> is_final_;                 // of each tensor
  std::size_t updated_ = 0;                    // floats whose gradients update() has had in this step
  std::size_t untold_ = 0;                     // tensors of which the listener has not heard: the first ones
};

} // namespace dt::bindings
