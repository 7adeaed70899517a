#include "engine/bench/compute/profile.hpp"

#include "core/machine/host_list.hpp"
#include "core/machine/process.hpp"
#include "core/maths/statistics.hpp"
#include "engine/bench/bench.hpp"
#include "engine/nn/graph/make_layers.hpp"
#include "engine/train/record/cpu_info.hpp"
#include "engine/train/record/environment.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace dt::bench {
namespace {

constexpr const char* line_format = "{:<28} {:<18} {:<28} {:>10} {:>9} {:>7}\n";

double gflops_of(const nn::OperationTime& operation)
{
  return operation.seconds > 0 ? 1e-9 * operation.flops / operation.seconds : 0;
}

std::string line_of(const nn::OperationTime& operation, double step_s)
{
  return fmt::format(line_format, operation.layer, operation.what, operation.kernel,
                     fmt::format("{:.3f}", 1e3 * operation.seconds),
                     operation.flops > 0 ? fmt::format("{:.1f}", gflops_of(operation)) : "",
                     fmt::format("{:.1f}%", 100 * operation.seconds / step_s));
}

bool is_longer(const nn::OperationTime& a, const nn::OperationTime& b) { return a.seconds > b.seconds; }

// The sums over all layers for each kind of operation, longest first.
std::vector<nn::OperationTime> sums_of_kinds(const std::vector<nn::OperationTime>& operations)
{
  std::map<std::string, nn::OperationTime> sums;
  for (const auto& operation : operations) {
    const auto kind = operation.reorder ? std::string("reorders") : operation.what;
    auto& sum = sums[kind];
    sum.layer = "all";
    sum.what = kind;
    sum.flops += operation.flops;
    sum.seconds += operation.seconds;
  }
  std::vector<nn::OperationTime> rows;
  for (const auto& [kind, sum] : sums) rows.push_back(sum);
  std::stable_sort(rows.begin(), rows.end(), is_longer);
  return rows;
}

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
  std::vector<double> medians;
  for (const auto& row : rows) medians.push_back(row[step_at]);
  return node_spread_of(medians);
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

StepProfile median_of(const std::vector<StepProfile>& steps)
{
  const auto median = [&](auto seconds_in) {
    std::vector<double> seconds;
    for (const auto& step : steps) seconds.push_back(seconds_in(step));
    return summarize(seconds).median;
  };
  auto middle = steps.front();
  for (std::size_t i = 0; i < middle.operations.size(); ++i)
    middle.operations[i].seconds = median([i](const StepProfile& step) { return step.operations.at(i).seconds; });
  middle.step_s = median([](const StepProfile& step) { return step.step_s; });
  return middle;
}

bool is_compute(const nn::OperationTime& operation) { return !operation.reorder; }
bool is_onednn(const nn::OperationTime& operation) { return !operation.reorder && !operation.kernel.empty(); }

double share_of(const std::vector<StepProfile>& steps, bool (*is_counted)(const nn::OperationTime&))
{
  std::vector<double> shares;
  for (const auto& step : steps) {
    double sum_s = 0;
    for (const auto& operation : step.operations) sum_s += is_counted(operation) ? operation.seconds : 0;
    shares.push_back(sum_s / step.step_s);
  }
  return summarize(shares).median;
}

std::string profile_table(StepProfile step)
{
  const auto sums = sums_of_kinds(step.operations);
  std::stable_sort(step.operations.begin(), step.operations.end(), is_longer);
  const auto head = fmt::format(line_format, "layer", "what", "kernel", "ms", "GFLOP/s", "share");
  auto table = head;
  for (const auto& operation : step.operations) table += line_of(operation, step.step_s);
  table += "\n" + head;
  for (const auto& sum : sums) table += line_of(sum, step.step_s);
  return table;
}

nlohmann::ordered_json profile_json(const std::vector<nn::OperationTime>& operations)
{
  auto rows = nlohmann::ordered_json::array();
  for (const auto& operation : operations)
    rows.push_back({{"layer", operation.layer},
                    {"what", operation.what},
                    {"kernel", operation.kernel},
                    {"reorder", operation.reorder},
                    {"ms", 1e3 * operation.seconds},
                    {"gflops", gflops_of(operation)}});
  return rows;
}

} // namespace dt::bench
