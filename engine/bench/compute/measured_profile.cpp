#include "engine/bench/compute/measured_profile.hpp"

#include "core/host_list.hpp"
#include "core/process.hpp"
#include "core/statistics.hpp"
#include "engine/nn/graph/make_layers.hpp"
#include "engine/train/record/cpu_info.hpp"
#include "engine/train/record/environment.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <span>

namespace dt::bench {
namespace {

// One rank's medians as numbers in a row, so that ranks can exchange them: step time, update, forward pass, backward pass, the
// forward pass of each layer, the backward pass of each layer, then the step's quantiles. Equally many on all ranks.
using Numbers = std::vector<double>;
constexpr std::size_t step_at = 0, update_at = 1, forward_at = 2, backward_at = 3, layers_at = 4;

std::vector<std::string> layer_names(const nn::NetworkOptions& network)
{
  std::vector<std::string> names;
  for (const auto& layer : model::build_model(nn::model_options(network)).layers) names.push_back(layer.name);
  return names;
}

// Seconds of the forward pass of each layer, then of the backward pass of each. Operations of no layer are those of the losses,
// which run after the last layer and count as its own.
Numbers layer_seconds(const StepProfile& step, const std::vector<std::string>& names)
{
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]] = i;
  Numbers seconds(2 * names.size());
  for (const auto& operation : step.operations) {
    const auto found = places.find(operation.layer);
    const auto layer = found == places.end() ? names.size() - 1 : found->second;
    seconds[layer + (operation.backward ? names.size() : 0)] += operation.seconds;
  }
  return seconds;
}

// The median of each column.
Numbers column_medians(const std::vector<Numbers>& rows)
{
  Numbers medians;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    Numbers values;
    for (const auto& row : rows) values.push_back(row[column]);
    medians.push_back(median(values));
  }
  return medians;
}

Numbers numbers_of(const StepTimes& steps, const std::vector<StepProfile>& profiled, const std::vector<std::string>& names)
{
  Numbers numbers{median(steps.compute_s), median(steps.update_s), median(steps.forward_s), median(steps.backward_s)};
  std::vector<Numbers> rows;
  for (const auto& step : profiled) rows.push_back(layer_seconds(step, names));
  const auto layers = column_medians(rows);
  numbers.insert(numbers.end(), layers.begin(), layers.end());
  const auto quantiles = step_quantiles(steps.compute_s);
  numbers.insert(numbers.end(), quantiles.begin(), quantiles.end());
  return numbers;
}

// A row a rank on rank 0; only the own row on the others. Collective.
std::vector<Numbers> rows_of_ranks(const Numbers& own, BenchRanks& ranks)
{
  const auto all = ranks.gather(own);
  std::vector<Numbers> rows;
  for (auto row = all.begin(); row != all.end(); row += static_cast<std::ptrdiff_t>(own.size()))
    rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(own.size()));
  if (rows.empty()) rows.push_back(own);
  return rows;
}

// Standard deviation of ln(median step time) between the ranks.
double spread_of(const std::vector<Numbers>& rows)
{
  if (rows.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const auto& row : rows) mean += std::log(row[step_at]) / static_cast<double>(rows.size());
  for (const auto& row : rows) squares += std::pow(std::log(row[step_at]) - mean, 2);
  return std::sqrt(squares / static_cast<double>(rows.size() - 1));
}

// More digits would only be noise, and make the file longer.
double in_nanoseconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }
double in_millionths(double share) { return std::round(share * 1e6) / 1e6; }

double factor_to(double wanted_s, std::span<const double> parts_s)
{
  return wanted_s / std::accumulate(parts_s.begin(), parts_s.end(), 0.0);
}

std::vector<LayerTime> layers_in(const Numbers& medians, const std::vector<std::string>& names)
{
  const auto forward = std::span(medians).subspan(layers_at, names.size());
  const auto backward = std::span(medians).subspan(layers_at + names.size(), names.size());
  const double forward_factor = factor_to(medians[forward_at], forward);
  const double backward_factor = factor_to(medians[backward_at], backward);
  std::vector<LayerTime> layers;
  for (std::size_t i = 0; i < names.size(); ++i)
    layers.push_back({names[i], in_nanoseconds(forward_factor * forward[i]), in_nanoseconds(backward_factor * backward[i])});
  return layers;
}

std::vector<double> quantiles_in(const Numbers& medians, std::size_t layers)
{
  std::vector<double> quantiles;
  for (const double quantile : std::span(medians).subspan(layers_at + 2 * layers)) quantiles.push_back(in_millionths(quantile));
  return quantiles;
}

} // namespace

ComputeProfile measured_profile(const nn::NetworkOptions& network, const StepTimes& steps,
                                const std::vector<StepProfile>& profiled, BenchRanks& ranks)
{
  const auto names = layer_names(network);
  const auto rows = rows_of_ranks(numbers_of(steps, profiled, names), ranks);
  const auto hosts = ranks.gather(host_name());
  const auto medians = column_medians(rows);
  return {.model = network.model,
          .image = to_text(network.image),
          .precision = std::string(name_of(network.precision)),
          .processor = train::cpu_info(cores_in_mask().front(), "model name").value_or("unknown"),
          .host = compact_hosts(hosts),
          .classes = network.classes,
          .batch = network.batch,
          .threads = network.threads,
          .layers = layers_in(medians, names),
          .update_s = in_nanoseconds(medians[update_at]),
          .steps = static_cast<std::int64_t>(steps.compute_s.size()),
          .step_quantiles = quantiles_in(medians, names.size()),
          .node_spread = in_millionths(spread_of(rows)),
          .processes = ranks.size()};
}

} // namespace dt::bench
