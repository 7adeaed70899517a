#include "engine/nn/choice/time_convolution.hpp"

#include "engine/nn/layers/winograd_convolution.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

namespace dt::nn {
namespace {

constexpr std::array candidates{Algorithm::direct, Algorithm::winograd, Algorithm::channels_last};
constexpr int least_rounds = 2, most_rounds = 7;

bool may_use(Algorithm algorithm, const ConvolutionCase& of)
{
  if (algorithm != Algorithm::winograd) return true;
  return of.winograd && of.precision == Precision::fp32 &&
         ((of.spec.kernel == 3 && of.spec.stride == 1) || WinogradConvolution::supports(of.spec, of.input.channels));
}

struct Measured {
  Algorithm forward, backward;
  ConvolutionTrial trial;
  ConvolutionTimes least{};
};

// Algorithms that oneDNN does not have for the shape have no time. A shorter time than one that is known replaces it.
void add(Measured& measured, const ConvolutionTimes& found, bool is_first)
{
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto& planned = measured.trial.planned();
  const auto take = [&](double& least, double seconds, bool is_wanted) {
    least = !is_wanted ? none : is_first ? seconds : std::min(least, seconds);
  };
  take(measured.least.forward, found.forward, planned.forward == measured.forward);
  take(measured.least.backward_data, found.backward_data, planned.backward_data == measured.backward);
  take(measured.least.backward_weights, found.backward_weights, planned.backward_weights == measured.backward);
}

void measure(std::vector<Measured>& all, double seconds)
{
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  for (auto& one : all) one.trial.run(); // warm-up: buffers are touched for the first time
  for (int round = 0; round < most_rounds && (round < least_rounds || elapsed_s() < seconds); ++round)
    for (auto& one : all) add(one, one.trial.run(), round == 0);
}

// Every algorithm by itself, then those pairs of a forward and a backward algorithm that store their weights in different
// layouts. Other pairs cost what their halves cost.
std::vector<Measured> trials(const ConvolutionCase& of)
{
  const auto layouts = rule_layouts(of);
  std::vector<Measured> all;
  const auto add_trial = [&](Algorithm forward, Algorithm backward) {
    all.push_back({forward, backward, ConvolutionTrial(of, layouts, forward, backward)});
  };
  for (const auto algorithm : candidates)
    if (may_use(algorithm, of)) add_trial(algorithm, algorithm);
  const auto alone = all.size();
  for (std::size_t f = 0; f < alone; ++f)
    for (std::size_t b = 0; b < alone; ++b)
      if (all[f].trial.weight_layout() != all[b].trial.weight_layout()) add_trial(all[f].forward, all[b].backward);
  return all;
}

// A pair that was not tried has the times of its halves.
std::vector<TimedPair> pairs_of(const std::vector<Measured>& all)
{
  std::vector<TimedPair> pairs;
  for (const auto& one : all) pairs.push_back({one.forward, one.backward, one.least});
  const auto is_known = [&](Algorithm forward, Algorithm backward) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return one.forward == forward && one.backward == backward; });
  };
  for (const auto& forward : all)
    for (const auto& backward : all)
      if (forward.forward == forward.backward && backward.forward == backward.backward &&
          !is_known(forward.forward, backward.backward))
        pairs.push_back({forward.forward,
                         backward.backward,
                         {forward.least.forward, backward.least.backward_data, backward.least.backward_weights}});
  return pairs;
}

} // namespace

LayerAlgorithms time_convolution(const ConvolutionCase& of, double seconds)
{
  const auto rule = ConvolutionTrial(of, rule_layouts(of)).planned();
  auto all = trials(of);
  measure(all, seconds);
  return choose_algorithms(rule, pairs_of(all));
}

} // namespace dt::nn
