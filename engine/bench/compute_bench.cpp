#include "engine/bench/bench.hpp"
#include "engine/nn/network.hpp"
#include "engine/train/network_replica.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::engine {
namespace {

constexpr int warmup_steps = 20;
constexpr std::size_t fewest_steps = 10;
constexpr double learning_rate = 0.01;

// The step of training, on one batch that stays.
class FixedStep {
public:
  explicit FixedStep(const ComputeBench& options)
      : network_({.model = options.model, .image = {}, .batch = options.batch, .threads = options.threads}),
        images_(static_cast<std::size_t>(options.batch * network_.options().image.size())),
        labels_(static_cast<std::size_t>(options.batch)),
        optimizer_(
            make_optimizer({.name = "momentum"}, static_cast<std::int64_t>(network_.weights().size()), segments_of(network_)))
  {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (auto& value : images_) value = normal(generator);
    for (std::int64_t i = 0; i < options.batch; ++i)
      labels_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % network_.options().classes);
  }
  double run()
  {
    const double loss = network_.forward_backward(images_, labels_);
    optimizer_->step(network_.weights(), network_.gradients(), learning_rate);
    return loss;
  }

private:
  Network network_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::unique_ptr<Optimizer> optimizer_;
};

// Times of the steps that fit into so many seconds, after a warm-up; `loss` is the last one's.
std::vector<double> measure(FixedStep& step, double seconds, double& loss)
{
  for (int i = 0; i < warmup_steps; ++i) step.run();
  std::vector<double> times;
  const double begin = monotonic_s();
  for (double now = begin; times.size() < fewest_steps || now - begin < seconds;) {
    loss = step.run();
    const double end = monotonic_s();
    times.push_back(end - now);
    now = end;
  }
  return times;
}

} // namespace

Times summarize(std::vector<double> seconds)
{
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front()};
}

int bench_compute(const ComputeBench& options)
{
  FixedStep step(options);
  double loss = 0;
  const auto times = measure(step, options.seconds, loss);
  const auto [median, least] = summarize(times);
  const double samples_per_s = static_cast<double>(options.batch) / median;
  if (options.json) {
    const nlohmann::ordered_json result{
        {"model", options.model},     {"batch", options.batch},         {"threads", options.threads},
        {"precision", "fp32"},        {"samples_per_s", samples_per_s}, {"step_ms_median", 1e3 * median},
        {"step_ms_min", 1e3 * least}, {"steps", times.size()},          {"loss", loss}};
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("{}, batch {}, threads {}: {:.0f} samples/s; a step {:.3f} ms (median of {}), {:.3f} ms (least)\n", options.model,
               options.batch, options.threads, samples_per_s, 1e3 * median, times.size(), 1e3 * least);
  }
  return 0;
}

} // namespace dt::engine
