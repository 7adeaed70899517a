#include "engine/sync/modelled_replica.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pass.hpp"
#include "engine/comm/machine/pause.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dt::sync {
namespace {

std::size_t scaled(std::int64_t parameters, double scale)
{
  return static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(parameters) * scale)));
}

// Rounds up to whole cache lines.
std::size_t padded(std::size_t floats)
{
  constexpr std::size_t line = 16;
  return (floats + line - 1) / line * line;
}

// Places the tensors one after another, each padded to whole cache lines.
std::vector<Range> lay_out(const std::vector<ModelledLayer>& layers, double scale)
{
  std::vector<Range> tensors;
  std::size_t begin = 0;
  for (const auto& layer : layers)
    for (const auto parameters : {layer.weights, layer.biases}) {
      if (parameters == 0) continue;
      tensors.push_back({begin, begin + scaled(parameters, scale)});
      begin = padded(tensors.back().end);
    }
  return tensors;
}

std::size_t floats_of(const std::vector<Range>& tensors) { return tensors.empty() ? 0 : padded(tensors.back().end); }

void fill(std::span<float> values, float value)
{
  if (comm::begin_pass(values.data(), values.size_bytes())) std::ranges::fill(values, value);
}

std::vector<std::size_t> first_tensors_of(const std::vector<ModelledLayer>& layers)
{
  std::vector<std::size_t> first{0};
  for (const auto& layer : layers) first.push_back(first.back() + (layer.weights > 0) + (layer.biases > 0));
  return first;
}

// Some microseconds of arithmetic in registers, which does not depend on what else is in the caches.
void compute_unit()
{
  double value = 1;
  for (int i = 0; i < 4000; ++i) value = value * 1.0000001 + 1e-9;
  [[maybe_unused]] volatile double kept = value;
}

std::vector<double> shares_of(const std::vector<ModelledLayer>& layers)
{
  std::vector<double> shares;
  for (const auto& layer : layers) shares.push_back(layer.work);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (auto& share : shares) share /= all;
  return shares;
}

} // namespace

std::vector<ModelledLayer> alexnet_layers()
{
  return {{34'848, 96, 105.4e6},   {614'400, 256, 447.9e6},    {884'736, 384, 149.5e6},    {1'327'104, 384, 224.3e6},
          {884'736, 256, 149.5e6}, {37'748'736, 4096, 37.7e6}, {16'777'216, 4096, 16.8e6}, {4'096'000, 1000, 4.1e6}};
}

double work_units_per_s()
{
  constexpr int bursts = 40, units = 500;
  double shortest_s = std::numeric_limits<double>::infinity();
  for (int burst = 0; burst < bursts; ++burst) {
    const double begin_s = comm::monotonic_s();
    for (int unit = 0; unit < units; ++unit) compute_unit();
    shortest_s = std::min(shortest_s, comm::monotonic_s() - begin_s);
  }
  return units / shortest_s;
}

ModelledReplica::ModelledReplica(const Options& options)
    : options_(options), tensors_(lay_out(options.layers, options.scale)), shares_(shares_of(options.layers)),
      first_tensors_(first_tensors_of(options.layers)), weights_(floats_of(tensors_)), gradients_(floats_of(tensors_))
{
  for (const auto& tensor : tensors_) {
    fill(values_at(weights(), tensor), options_.start);
    fill(values_at(gradients(), tensor), options_.slope);
  }
}

BatchLoss ModelledReplica::compute(GradientListener* listener)
{
  spend(forward_s());
  // The listener's time delays the following layers, as in a real pass: each layer's time starts when the layer starts.
  for (auto layer = shares_.size(); layer-- > 0;) {
    spend(backward_s() * shares_[layer]);
    if (listener == nullptr) continue;
    for (auto tensor = first_tensors_[layer + 1]; tensor-- > first_tensors_[layer];) listener->gradients_ready(tensors_[tensor]);
  }
  return {0, 1};
}

void ModelledReplica::update(Range range, float gradient_factor)
{
  if (options_.update_s > 0)
    spend(options_.update_s * static_cast<double>(range.size()) / static_cast<double>(weights().size()));
  else
    apply(range, weights(), gradients(), step().learning_rate * gradient_factor);
}

void ModelledReplica::apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate)
{
  if (!comm::begin_pass(weights.data(), options_.update_vectors * range.size() * sizeof(float))) return;
  const auto rate = static_cast<float>(learning_rate);
  for (std::size_t i = range.begin; i < range.end; ++i) weights[i] -= rate * gradients[i];
}

std::vector<double> ModelledReplica::lead_s() const
{
  std::vector<double> lead(tensors_.size());
  double left_s = 0; // backward time of the layers below
  for (std::size_t layer = 0; layer < shares_.size(); ++layer) {
    for (auto tensor = first_tensors_[layer]; tensor < first_tensors_[layer + 1]; ++tensor) lead[tensor] = left_s;
    left_s += options_.backward_s * shares_[layer];
  }
  return lead;
}

void ModelledReplica::spend(double seconds) const
{
  if (options_.units_per_s > 0) {
    for (auto units = std::llround(seconds * options_.units_per_s); units > 0; --units) compute_unit();
    return;
  }
  const double until_s = comm::monotonic_s() + seconds;
  while (comm::monotonic_s() < until_s) {
    if (options_.sleeps) comm::pause_s(std::max(0.0, until_s - comm::monotonic_s()));
  }
}

} // namespace dt::sync
