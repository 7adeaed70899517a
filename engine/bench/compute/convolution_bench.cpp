// Times every convolution of a model, computed by the fast kernels and by plain loops.
#include "engine/bench/bench.hpp"
#include "engine/bench/compute/fixed_step.hpp"
#include "engine/bench/compute/profile.hpp"
#include "engine/nn/graph/make_layers.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::bench {
namespace {

// One operation of a layer in a step.
struct Row {
  std::string layer, what; // "conv1", "backward weights"
  double flops = 0, seconds = 0, reference_s = 0;
  double factor() const { return seconds > 0 ? reference_s / seconds : 0; }
};

std::set<std::string> convolutions_of(const nn::NetworkOptions& options)
{
  std::set<std::string> names;
  for (const auto& layer : model::build_model(nn::model_options(options)).layers)
    if (layer.is<model::ConvolutionSpec>()) names.insert(layer.name);
  return names;
}

Row& row_of(std::vector<Row>& rows, const nn::OperationTime& operation)
{
  const auto is_same = [&](const Row& row) { return row.layer == operation.layer && row.what == operation.what; };
  const auto found = std::find_if(rows.begin(), rows.end(), is_same);
  if (found != rows.end()) return *found;
  return rows.emplace_back(Row{operation.layer, operation.what});
}

// Adds the convolutions' times to the member `seconds` of their rows, and creates missing rows.
void add_times(std::vector<Row>& rows, const nn::NetworkOptions& options, int passes, double Row::*seconds)
{
  FixedStep step(options);
  step.profile(); // warm-up
  std::vector<StepProfile> profiles;
  for (int pass = 0; pass < passes; ++pass) profiles.push_back(step.profile());
  const auto convolutions = convolutions_of(options);
  for (const auto& operation : median_of(profiles).operations) {
    if (operation.flops == 0 || !convolutions.contains(operation.layer)) continue;
    auto& row = row_of(rows, operation);
    row.flops = std::max(row.flops, operation.flops);
    row.*seconds += operation.seconds;
  }
}

Row sum_of(const std::vector<Row>& rows)
{
  Row sum{"all", "convolutions"};
  for (const auto& row : rows) {
    sum.flops += row.flops;
    sum.seconds += row.seconds;
    sum.reference_s += row.reference_s;
  }
  return sum;
}

// Measures one network after the other, so that only one is in memory. The last row is the sum.
std::vector<Row> measure(const std::string& model, const ConvolutionBench& bench)
{
  constexpr int passes = 5, reference_passes = 1; // plain loops take a thousand times a timer's error
  auto options =
      natural_options({.model = model, .image = {1, 28, 28}, .batch = bench.batch, .threads = bench.threads, .dropout = false});
  std::vector<Row> rows;
  add_times(rows, options, passes, &Row::seconds);
  options.reference = true;
  add_times(rows, options, reference_passes, &Row::reference_s);
  rows.push_back(sum_of(rows));
  return rows;
}

void print_text(const std::string& model, const ConvolutionBench& bench, const std::vector<Row>& rows)
{
  constexpr const char* format = "{:<28} {:<18} {:>10} {:>12} {:>9} {:>9}\n";
  fmt::print("{}, batch {}, threads {}\n", model, bench.batch, bench.threads);
  fmt::print(format, "layer", "what", "ms", "plain ms", "GFLOP/s", "factor");
  for (const auto& row : rows)
    fmt::print(format, row.layer, row.what, fmt::format("{:.3f}", 1e3 * row.seconds),
               fmt::format("{:.1f}", 1e3 * row.reference_s), fmt::format("{:.1f}", 1e-9 * row.flops / row.seconds),
               fmt::format("{:.2f}x", row.factor()));
}

nlohmann::ordered_json json_of(const std::string& model, const ConvolutionBench& bench, const std::vector<Row>& rows)
{
  nlohmann::ordered_json json{{"model", model}, {"batch", bench.batch}, {"threads", bench.threads}};
  for (const auto& row : rows)
    json["rows"].push_back({{"layer", row.layer},
                            {"what", row.what},
                            {"ms", 1e3 * row.seconds},
                            {"reference_ms", 1e3 * row.reference_s},
                            {"gflops", 1e-9 * row.flops / row.seconds},
                            {"factor", row.factor()}});
  return json;
}

} // namespace

int bench_convolution(const ConvolutionBench& options)
{
  auto all = nlohmann::ordered_json::array();
  for (const auto& model : options.models) {
    const auto rows = measure(model, options);
    if (options.json)
      all.push_back(json_of(model, options, rows));
    else
      print_text(model, options, rows);
  }
  if (options.json) fmt::print("{}\n", all.dump());
  return 0;
}

} // namespace dt::bench
