// The update rules; each makes one pass over the packed buffer. In the formulas, g is the clipped gradient times the step's
// gradient factor.
#pragma once

#include "engine/optim/optimizer.hpp"

namespace dt::optim {

// A buffer of zeros that a rule keeps: in memory of its own, or of the caller.
class RuleBuffer {
 public:
  explicit RuleBuffer(std::size_t size) : own_(size, 0.0F), values_(own_) {}
  RuleBuffer(const RuleBuffer&) = delete;
  RuleBuffer& operator=(const RuleBuffer&) = delete;
  void move_to(std::span<float> memory)
  {
    values_ = memory;
    own_ = std::vector<float>();
  }
  std::span<float> values() const { return values_; }
  float* data() const { return values_.data(); }

 private:
  std::vector<float> own_;
  std::span<float> values_;
};

// Common part of all rules: divides the segments among threads, updates statistics, and clips gradients.
class Rule : public Optimizer, private ElementwiseRule {
 public:
  Rule(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments);
  using Optimizer::step;
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part) final;
  ElementwiseRule* elementwise() final { return clip_norm_ <= 0 && !has_norms() ? this : nullptr; }

 protected:
  // Buffers and factors of one step.
  struct Pass {
    float* weights;
    const float* gradients;
    double learning_rate;
    float gradient_factor;
    std::size_t gradients_begin = 0; // position of the first gradient
    const float* gradients_of(Range range) const { return gradients + (range.begin - gradients_begin); }
  };
  // Called before the pass, in the calling thread, for each segment of the part that is not a statistic.
  virtual void prepare(std::size_t /*segment*/, const Pass& /*pass*/) {}
  // Applies the rule elementwise to a range of one segment. Called concurrently by several threads with different ranges.
  virtual void update(std::size_t segment, Range range, const Pass& pass) = 0;

  // Whether prepare() reads weights or gradients.
  virtual bool has_norms() const { return false; }
  // The buffers that are as long as the weights, in the order of state().
  virtual std::vector<RuleBuffer*> buffers() { return {}; }

  std::size_t size() const { return size_; }
  const std::vector<Segment>& segments() const { return segments_; }
  float decay_of(std::size_t segment) const { return segments_[segment].decay ? weight_decay_ : 0; }

 private:
  void begin_slices() final;
  void step_slice(std::span<float> weights, std::size_t begin, std::span<const float> gradients, double learning_rate,
                  float factor) final;
  void keep_buffers_in(std::span<const std::span<float>> memory) final;
  void update_share(Range share, const Part& part, const Pass& pass);
  void update_piece(std::size_t segment, Range range, const Pass& pass);
  float clip_factor(const float* gradients, const Part& part) const;

  std::vector<Segment> segments_;
  std::size_t size_;
  float weight_decay_;
  double clip_norm_;
};

// w <- w - lr (g + wd w)
class Sgd final : public Rule {
 public:
  using Rule::Rule;

 private:
  void update(std::size_t segment, Range range, const Pass& pass) override;
};

// A rule with a velocity, which starts at 0.
class VelocityRule : public Rule {
 public:
  VelocityRule(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments);
  std::vector<OptimizerState> state() override { return {{"velocity", velocity_.values()}}; }

 protected:
  float* velocity() { return velocity_.data(); }
  float momentum() const { return momentum_; }
  std::vector<RuleBuffer*> buffers() override { return {&velocity_}; }

 private:
  RuleBuffer velocity_;
  float momentum_;
};

// v <- mu v + (g + wd w); w <- w - lr v
class Momentum final : public VelocityRule {
 public:
  using VelocityRule::VelocityRule;

 private:
  void update(std::size_t segment, Range range, const Pass& pass) override;
};

// v <- mu v - lr (g + wd w); w <- w + v
class MomentumOfSteps final : public VelocityRule {
 public:
  using VelocityRule::VelocityRule;

 private:
  void update(std::size_t segment, Range range, const Pass& pass) override;
};

// Nesterov's momentum as in [Sutskever2013] and PyTorch: v <- mu v + (g + wd w); w <- w - lr (g + wd w + mu v)
class Nesterov final : public VelocityRule {
 public:
  using VelocityRule::VelocityRule;

 private:
  void update(std::size_t segment, Range range, const Pass& pass) override;
};

// v <- mu v - lr (g + wd w); w <- w + mu v - lr (g + wd w)
class NesterovOfSteps final : public VelocityRule {
 public:
  using VelocityRule::VelocityRule;

 private:
  void update(std::size_t segment, Range range, const Pass& pass) override;
};

// The layer's factor on the learning rate: trust |w| / (|g| + wd |w|); 1 if one of the norms is zero.
double lars_factor(double trust, double weight_norm, double gradient_norm, double weight_decay);

// LARS [YouGitmanGinsburg2017], in this form for each segment l:
//   lambda = lars_factor(trust, |w_l|, |g_l|, wd); v <- mu v + lr lambda (g + wd w); w <- w - v.
// The learning rate is part of the velocity, so a change affects only later gradients. Segments without own_rate have lambda = 1.
// Padding is zero, so norms over a blocked layout equal those of the plain tensor. Both norms must be known before any float
// changes, so they need an extra pass that only reads.
class Lars final : public VelocityRule {
 public:
  Lars(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments);

 private:
  bool has_norms() const override { return true; }
  void prepare(std::size_t segment, const Pass& pass) override;
  void update(std::size_t segment, Range range, const Pass& pass) override;

  double trust_;
  std::vector<double> factors_; // lambda of each segment in the current step
};

// Adam [KingmaBa2015], with the weight decay added to the gradient; t counts the updates of a segment:
//   d = g + wd w; m <- b1 m + (1 - b1) d; s <- b2 s + (1 - b2) d^2, with m = s = 0 at the start;
//   w <- w - lr m / (1 - b1^t) / (sqrt(s / (1 - b2^t)) + epsilon).
// t is kept for each segment, because a step may come in parts. It is a float, so it stops at 2^24, where the corrections have
// long been 1.
class Adam : public Rule {
 public:
  // is_decoupled: with AdamW's weight decay.
  Adam(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments, bool is_decoupled = false);
  std::vector<OptimizerState> state() override
  {
    return {{"mean", mean_.values()}, {"square", square_.values()}, {"updates", updates_, true}};
  }

 private:
  void prepare(std::size_t segment, const Pass& pass) override;
  void update(std::size_t segment, Range range, const Pass& pass) override;

  std::vector<RuleBuffer*> buffers() override { return {&mean_, &square_}; }

  double beta1_, beta2_, epsilon_;
  bool is_decoupled_;
  RuleBuffer mean_, square_;
  std::vector<float> updates_;
};

// AdamW [LoshchilovHutter2019]: Adam with d = g, and the weight decay beside the step that the moments give:
//   w <- w - lr (m / (1 - b1^t) / (sqrt(s / (1 - b2^t)) + epsilon) + wd w).
// The decay is multiplied by the step's learning rate, as in PyTorch; in the paper it is multiplied by the schedule's factor
// only.
class AdamW final : public Adam {
 public:
  AdamW(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments) : Adam(spec, size, std::move(segments), true)
  {
  }
};

} // namespace dt::optim
