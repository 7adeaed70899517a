// ComputeProfile: the measured computation of one rank, layer by layer, from which a simulation computes its steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// Seconds of one layer for one batch. They include the layer's copies into another layout or precision and its elementwise work;
// the last layer's include the loss. 0 where another layer does the layer's work, as a convolution does the forward pass of the
// ReLU behind it.
struct LayerTime {
  std::string name; // as `dtengine model` prints it
  double forward_s = 0, backward_s = 0;
  std::optional<std::int64_t> parameters{}; // of 4 bytes each; nothing: the model's description tells them
};

// Times are medians over steps, and over processes if several were measured.
//
// The profile of a program of the user stands for a network that nobody has described: each of its layers has its parameters, and
// it has neither image, nor classes, nor precision. Its layers are groups of gradients that become ready one after another, and
// one more for the forward pass, of which no parts are known.
struct ComputeProfile {
  std::string model{}, image{}, precision{}; // image: "3x224x224"; model of a program: its name
  std::string processor{}, host{};           // where it was measured; host: "node[1-4]" for several
  std::int64_t classes = 0, batch = 0, threads = 1;
  std::vector<LayerTime> layers{};      // in the order of the forward pass, with the layers that have no parameters
  double input_s = 0;                   // for which a step waits for its batch
  double update_s = 0;                  // the optimizer's step over all parameters
  std::int64_t steps = 0;               // steps of each process on which the distribution rests
  std::vector<double> step_quantiles{}; // of a step's time divided by the median step time, ascending, at equally spaced
                                        // probabilities from 0 (the minimum) to 1 (the maximum)
  double node_spread = 0;     // standard deviation of ln(median step time) between processes; 0 if one process was measured
  std::int64_t processes = 1; // on which node_spread rests

  double forward_s() const;   // sum over the layers
  double backward_s() const;  // likewise
  bool is_of_program() const; // the layers have their parameters
};

// The number of values that step_quantiles() returns if it is given the times of `steps` steps: 33 for fewer than 64 steps, and
// 32 more for every further 32 steps, up to 1025.
//
// A fixed small number would not do: the last interval ends at the slowest step, so with 32 intervals the one slow step in a
// thousand would become a draw in a hundred, and the slowest of many ranks much too slow.
std::size_t step_quantile_count(std::size_t steps);

// The step_quantiles of a profile, from the times of steps in any unit. Needs at least one time.
std::vector<double> step_quantiles(std::vector<double> step_times);

// The mean of the factors that StepFactors draws from these step_quantiles.
double mean_factor(std::span<const double> step_quantiles);

// The node_spread of a profile, from the median step times of the processes in any unit, each above 0.
double node_spread_of(std::span<const double> medians);

// Reads the text that to_json writes, or the object that has it as its member `compute_profile`, which is what
// `dtbench compute --profile --json` prints. `origin` is the file's name, for messages. Throws a recipe error that says where,
// what and what to do if the text is not JSON, has another schema, a member is missing or of another type, a time or quantile is
// not in its range, quantiles do not ascend or their median is not 1, or layers are missing or have equal names.
ComputeProfile parse_compute_profile(const std::string& json_text, const std::string& origin);

// The file of a value of train.compute_profile: a shipped profile if the value is only a name, else the value as a path.
std::filesystem::path compute_profile_file(const std::string& value);

// Whether the value is a path: it contains a slash or ends in .json.
bool is_compute_profile_path(std::string_view value);

// Reads that file. Throws a recipe error if there is none, or if it is not a profile; it names the shipped profiles.
ComputeProfile read_compute_profile(const std::string& value);

// One JSON object. parse_compute_profile reads it back to the same bits.
std::string to_json(const ComputeProfile& profile);

// Factors on a rank's compute time: how much longer than the median a step takes on a node. A pure function of seed, node, rank
// and step: equal arguments give equal factors, in any order of calls, and on every machine but for the rounding of exp.
//
// The median of the factors is 1, over steps and over nodes, because a profile's times are medians. Their mean is not 1: steps
// are more often much slower than much faster than the median, so a simulated step takes longer on average than the sum of the
// profile's times, as the measured steps did.
class StepFactors {
 public:
  // `profile` as parse_compute_profile accepts it.
  StepFactors(const ComputeProfile& profile, std::uint64_t seed);
  // Without a profile: exp(step_spread x z) in place of the draw from step_quantiles, with z drawn for (seed, rank, step).
  StepFactors(double step_spread, double node_spread, std::uint64_t seed);
  // A draw from step_quantiles for (seed, rank, step), linear between two quantiles, times exp(node_spread x z), where z is
  // normal with mean 0 and standard deviation 1, drawn for (seed, node).
  double factor(std::int64_t node, std::int64_t rank, std::int64_t step) const;

 private:
  double step_factor(std::int64_t rank, std::int64_t step) const;
  double node_factor(std::int64_t node) const;

  std::vector<double> quantiles_; // empty: log-normal with step_spread_
  double step_spread_ = 0, node_spread_;
  std::uint64_t seed_;
};

} // namespace dt
