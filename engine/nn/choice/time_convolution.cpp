#include "engine/nn/choice/time_convolution.hpp"

#include "engine/nn/layers/winograd/winograd_convolution.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace dt::nn {
namespace {

constexpr std::array all_candidates{Algorithm::direct, Algorithm::winograd, Algorithm::channels_last};
constexpr int least_rounds = 2, most_rounds = 7;

bool may_use(Algorithm algorithm, const ConvolutionCase& of)
{
  return algorithm != Algorithm::winograd || (of.winograd && WinogradConvolution::supports(of.spec, of.input.channels));
}

// Whether a plan uses the algorithm in some direction. If not, there is no such algorithm for this shape, and nothing to
// time.
bool has(const LayerAlgorithms& planned, Algorithm algorithm)
{
  return planned.forward == algorithm || planned.backward_data == algorithm || planned.backward_weights == algorithm;
}

struct Measured {
  Algorithm forward, backward;
  ConvolutionTrial trial;
  ConvolutionTimes least{};
  bool is_slow = false; // far behind another one in every direction
};

// Every algorithm that this processor has for the case, in all directions.
std::vector<Measured> trials_of(const ConvolutionCase& of, const Convolution::Layouts& layouts)
{
  std::vector<Measured> all;
  for (const auto algorithm : all_candidates) {
    if (!may_use(algorithm, of)) continue;
    ConvolutionTrial trial(of, layouts, algorithm, algorithm);
    if (has(trial.planned(), algorithm)) all.push_back({algorithm, algorithm, std::move(trial)});
  }
  return all;
}

// Algorithms that do not exist for the shape have no time. A shorter time than one that is known replaces it.
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

// Marks those that need no further round.
void mark_slow(std::vector<Measured>& all)
{
  constexpr double far_behind = 1.5; // more than other load makes of two runs that follow each other
  const auto behind = [&](const Measured& one, double ConvolutionTimes::*direction) {
    const double seconds = one.least.*direction;
    return std::isnan(seconds) || std::any_of(all.begin(), all.end(), [&](const auto& other) {
             return seconds > far_behind * (other.least.*direction); // false for NaN
           });
  };
  for (auto& one : all)
    one.is_slow = behind(one, &ConvolutionTimes::forward) && behind(one, &ConvolutionTimes::backward_data) &&
                  behind(one, &ConvolutionTimes::backward_weights);
}

// Rounds, in which every algorithm has its turn.
void measure(std::vector<Measured>& all, double seconds)
{
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  for (auto& one : all) one.trial.run(); // warm-up: buffers are touched for the first time
  for (int round = 0; round < most_rounds && (round < least_rounds || elapsed_s() < seconds); ++round) {
    for (auto& one : all)
      if (!one.is_slow) add(one, one.trial.run(), round == 0);
    if (round == 0) mark_slow(all);
  }
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

// A pair of a forward and a backward algorithm in the choice that store their weights in different layouts and have not been
// timed together: it costs more than its halves. Empty: there is none.
std::optional<std::pair<Algorithm, Algorithm>> untimed_pair(const LayerAlgorithms& chosen, const std::vector<Measured>& all)
{
  const auto find = [&](Algorithm forward, Algorithm backward) {
    return std::find_if(all.begin(), all.end(),
                        [&](const auto& one) { return one.forward == forward && one.backward == backward; });
  };
  for (const auto backward : {chosen.backward_data, chosen.backward_weights}) {
    if (find(chosen.forward, backward) != all.end()) continue;
    const auto one = find(chosen.forward, chosen.forward), other = find(backward, backward);
    if (one == all.end() || other == all.end()) continue;
    if (one->trial.weight_layout() != other->trial.weight_layout()) return std::pair{chosen.forward, backward};
  }
  return {};
}

} // namespace

std::vector<Algorithm> candidates_of(const ConvolutionCase& of)
{
  std::vector<Algorithm> candidates;
  for (const auto& one : trials_of(of, rule_layouts(of))) candidates.push_back(one.forward);
  return candidates;
}

// First every algorithm in all directions; then, as long as the choice mixes algorithms whose layouts of the weights differ, this
// mixture.
LayerAlgorithms time_convolution(const ConvolutionCase& of, double seconds)
{
  const auto layouts = rule_layouts(of);
  const auto rule = ConvolutionTrial(of, layouts).planned();
  auto all = trials_of(of, layouts);
  measure(all, seconds);
  auto chosen = choose_algorithms(rule, pairs_of(all));
  while (const auto pair = untimed_pair(chosen, all)) {
    std::vector<Measured> mixture;
    mixture.push_back({pair->first, pair->second, ConvolutionTrial(of, layouts, pair->first, pair->second)});
    measure(mixture, 0);
    all.push_back(std::move(mixture.front()));
    chosen = choose_algorithms(rule, pairs_of(all));
  }
  return chosen;
}

} // namespace dt::nn
