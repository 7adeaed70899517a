// Training in a test: momentum SGD on a few samples that look random, until the network knows them by heart.
#pragma once

#include "engine/model/models/registry.hpp"
#include "engine/nn/graph/network.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace dt::nn {

// Images and classes that the model was made for.
inline NetworkOptions natural(const std::string& model, std::int64_t batch, int threads = 1)
{
  const auto [image, classes] = model::natural_input(model);
  NetworkOptions options{.model = model};
  options.image = image;
  options.classes = classes;
  options.batch = batch;
  options.threads = threads;
  options.dropout = false;
  return options;
}

struct Samples {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

inline Samples random_samples(const NetworkOptions& options, std::int64_t count, std::uint64_t stream = 20)
{
  Samples samples{to_float(numbers(count * options.image.size(), stream)), {}};
  for (std::int64_t i = 0; i < count; ++i) samples.labels.push_back(static_cast<std::int32_t>(i * 7 % options.classes));
  return samples;
}

class Learner {
 public:
  Learner(const NetworkOptions& options, float rate)
      : network_(options), evaluation_(options, network_), rate_(rate), velocity_(network_.weights().size())
  {
  }
  Network& network() { return network_; }
  // With the same weights, without dropout and with the running statistics.
  Network& evaluation() { return evaluation_; }
  // One step on one batch; its loss before.
  double step(std::span<const float> images, std::span<const std::int32_t> labels)
  {
    const double loss = network_.forward_backward(images, labels);
    const float share = clipped_share();
    for (const auto& parameter : network_.parameters()) update(parameter, share);
    return loss;
  }
  // No step follows a longer gradient than this.
  void clip(float norm) { clip_norm_ = norm; }
  double step(const Samples& samples) { return step(samples.images, samples.labels); }
  // All samples once, a batch after the other; the mean of their losses.
  double epoch(const Samples& samples)
  {
    double sum = 0;
    int batches = 0;
    for_batches(samples, [&](auto images, auto labels) { sum += step(images, labels), ++batches; });
    return sum / batches;
  }
  std::int64_t correct(const Samples& samples)
  {
    std::int64_t correct = 0;
    for_batches(samples, [&](auto images, auto labels) { correct += evaluation_.evaluate(images, labels).correct; });
    return correct;
  }
  // Whether all samples are classified right after so many epochs or fewer. Near its end, which the loss tells, the rate falls,
  // so that running statistics come to rest.
  bool memorizes(const Samples& samples, int epochs, double near_end = 0.1)
  {
    for (int done = 0; done < epochs; ++done) {
      const double loss = epoch(samples);
      story_ += "loss " + std::to_string(loss);
      const auto right = loss < near_end ? correct(samples) : 0;
      if (loss < near_end) story_ += ", " + std::to_string(right) + " right", rate_ *= 0.85F;
      story_ += "\n";
      if (right == static_cast<std::int64_t>(samples.labels.size())) return true;
    }
    return false;
  }
  // What memorizes() has seen, a line an epoch.
  const std::string& story() const { return story_; }

 private:
  template<class Visit> void for_batches(const Samples& samples, Visit visit)
  {
    const auto batch = static_cast<std::size_t>(network_.options().batch);
    const auto image = static_cast<std::size_t>(network_.options().image.size());
    for (std::size_t first = 0; first < samples.labels.size(); first += batch)
      visit(std::span(samples.images).subspan(first * image, batch * image), std::span(samples.labels).subspan(first, batch));
  }
  // Of the gradient that a step follows.
  float clipped_share()
  {
    double squares = 0;
    for (const auto& parameter : network_.parameters())
      if (parameter.kind != ParameterKind::statistic)
        for (const float g :
             network_.gradients().subspan(static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.size)))
          squares += static_cast<double>(g) * g;
    return static_cast<float>(std::min(1.0, clip_norm_ / std::sqrt(squares + 1e-30)));
  }
  void update(const Parameter& parameter, float share)
  {
    const auto offset = static_cast<std::size_t>(parameter.offset), size = static_cast<std::size_t>(parameter.size);
    const auto weights = network_.weights().subspan(offset, size), gradients = network_.gradients().subspan(offset, size);
    const auto velocity = std::span(velocity_).subspan(offset, size);
    const bool is_statistic = parameter.kind == ParameterKind::statistic;
    for (std::size_t i = 0; i < size; ++i) {
      velocity[i] = is_statistic ? 0.1F * (weights[i] - gradients[i]) : 0.9F * velocity[i] + rate_ * share * gradients[i];
      weights[i] -= velocity[i];
    }
  }
  Network network_, evaluation_;
  float rate_, clip_norm_ = std::numeric_limits<float>::infinity();
  std::vector<float> velocity_;
  std::string story_;
};

} // namespace dt::nn
