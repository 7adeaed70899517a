// ProgramReplica: the replica of a program that computes elsewhere, through callbacks (dtctl_sync.h). Its packed buffers are the
// program's memory, or copies of buffers on a device. Ranges are copied only when a strategy needs them or has changed them.
#pragma once

#include "engine/bindings/dtctl_sync.h"
#include "engine/bindings/range_set.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/replica.hpp"
#include "engine/sync/vector.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace dt::bindings {

// The packed layout of tensors with these numbers of floats: each begins at a multiple of 16, with padding behind it. The last
// float of each range is no number of the tensor. In the gradients it says whether the tensor has one, 1 or 0: summed with the
// gradient, it is 0 if no rank has one.
struct Layout {
  std::vector<Range> tensors;
  std::size_t floats = 0; // of the whole buffer
};
Layout lay_out(std::span<const std::size_t> lengths);

class ProgramReplica : public sync::Replica, private sync::Device {
 public:
  // The buffers must be as long as the layout and outlive the replica. server_rule: what apply() does; null: never called.
  struct Parts {
    Layout layout;
    std::span<float> weights, gradients;
    dtctl_sync_callbacks callbacks;
    std::unique_ptr<optim::Optimizer> server_rule;
    bool is_alone = false;    // no other rank needs its gradients, so they stay where they are
    bool tells_absent = true; // a sum keeps the last float of a tensor exact enough to say whether it is 0
  };
  explicit ProgramReplica(Parts parts);

  void begin_step(const sync::Step& step) { step_ = step; }
  // Called within compute() when the gradient of a tensor is final. The listener hears of the tensors from the last to the first,
  // each when all behind it are final. Throws a run error for a tensor that does not exist or was final before.
  void announce(std::size_t tensor);
  // Called within compute(), before announce(): this rank has no gradient of the tensor in this step, and 0 stands for it.
  void note_absent(std::size_t tensor);
  // Within update(): the tensors of which no rank has a gradient, which an update must leave as they are.
  std::vector<std::size_t> absent();
  // Copies to the device what the strategy has changed.
  void hand_back();
  // The program has changed its weights itself.
  void forget_copies();

  std::span<float> weights() override { return brought(DTCTL_SYNC_WEIGHTS); }
  std::span<float> gradients() override;
  std::span<const Range> tensors() override { return parts_.layout.tensors; }
  std::size_t marks() const override { return 1; }
  using sync::Replica::compute;
  sync::BatchLoss compute(sync::GradientListener* listener) override;
  using sync::Replica::update;
  // Stores the range's gradients. With the last range of the step, the program's rule updates all tensors.
  void update(Range range, float gradient_factor) override;
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  sync::Step step() const override { return step_; }
  sync::Device* device() override { return parts_.callbacks.combine != nullptr ? this : nullptr; }

 private:
  // A buffer on the device, its copy in the host's memory, and what is known of the copy.
  struct Copied {
    std::span<float> copy;
    RangeSet old;     // where the device has newer values
    RangeSet changed; // where a strategy may have written to the copy since
    Range whole() const { return {0, copy.size()}; }
  };
  bool has_device() const { return parts_.callbacks.fetch != nullptr; }
  Copied& buffer(int number) { return buffers_[static_cast<std::size_t>(number)]; }
  std::span<float> brought(int number);
  void give(int number, Range range);
  void store(int number, Range range);
  void tell_listener();
  void require_tensor(std::size_t tensor) const;
  void write_presence(std::size_t tensor);

  int add(std::span<float> host) override;
  std::span<float> copy_of(int vector) override { return buffer(vector).copy; }
  void bring(int vector, Range range, bool write) override;
  void combine(int y, float a, int x, float b, int z, float c, Range range) override;
  bool can_sum() const override { return parts_.callbacks.sum != nullptr; }
  void sum(int vector, Range range, std::span<const int> ranks) override;

  Parts parts_;
  std::mutex mutex_;            // of buffers_: several threads of a strategy may ask for weights
  std::vector<Copied> buffers_; // weights, gradients, vectors of the strategy
  sync::Step step_;
  sync::GradientListener* listener_ = nullptr; // during compute()
  std::vector<bool> is_final_, is_absent_;     // of each tensor
  bool has_summed_ = false;                    // the device has summed gradients in this step
  bool is_presence_due_ = false;               // the gradients' buffer does not have it yet
  std::size_t updated_ = 0;                    // floats whose gradients update() has had in this step
  std::size_t untold_ = 0;                     // tensors of which the listener has not heard: the first ones
};

} // namespace dt::bindings
