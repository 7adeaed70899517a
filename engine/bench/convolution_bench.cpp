// Every convolution of a model, as oneDNN computes it and as plain loops do.
#include "engine/bench/bench.hpp"
#include "engine/bench/fixed_step.hpp"
#include "engine/bench/profile.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::engine {
namespace {

// A layer's part of a step.
struct Row {
  std::string layer, what; // "conv1", "backward weights"
  double flops = 0, seconds = 0, reference_s = 0;
  double factor() const { return seconds > 0 ? reference_s / seconds : 0; }
};

bool is_convolution(const Network& network, const std::string& layer)
{
  constexpr std::size_t plain_dims = 4; // outputs, inputs, height, width; groups before them
  const auto& parameters = network.parameters();
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
    return parameter.name == layer + ".weight" && parameter.dims.size() >= plain_dims;
  });
}

Row& row_of(std::vector<Row>& rows, const OperationTime& operation)
{
  const auto is_same = [&](const Row& row) { return row.layer == operation.layer && row.what == operation.what; };
  const auto found = std::find_if(rows.begin(), rows.end(), is_same);
  if (found != rows.end()) return *found;
  return rows.emplace_back(Row{operation.layer, operation.what});
}

// Adds the convolutions' times to the rows' seconds or reference_s, and makes the rows that are not there yet.
void add_times(std::vector<Row>& rows, FixedStep& step, int passes, double Row::*seconds)
{
  step.profile(); // the first one meets cold memory
  for (const auto& operation : median_profile([&] { return step.profile(); }, passes)) {
    if (operation.flops == 0 || operation.reorder || !is_convolution(step.network(), operation.layer)) continue;
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

// One network after the other, so that only one is in memory. The last row is the sum.
std::vector<Row> measure(const std::string& model, const ConvolutionBench& bench)
{
  constexpr int passes = 5, reference_passes = 1; // plain loops take a thousand times a timer's error
  auto options = natural_options({.model = model, .image = {}, .batch = bench.batch, .threads = bench.threads, .dropout = false});
  std::vector<Row> rows;
  {
    FixedStep fast(options);
    add_times(rows, fast, passes, &Row::seconds);
  }
  options.reference = true;
  FixedStep plain(options);
  add_times(rows, plain, reference_passes, &Row::reference_s);
  rows.push_back(sum_of(rows));
  return rows;
}

void print_text(const std::string& model, const ConvolutionBench& bench, const std::vector<Row>& rows)
{
  constexpr const char* format = "{:<28} {:<18} {:>10} {:>12} {:>9} {:>9}\n";
  fmt::print("{}, batch {}, threads {}\n", model, bench.batch, bench.threads);
  fmt::print(format, "layer", "what", "ms", "plain ms", "GFLOP/s", "factor");
  for (const auto& row : rows)
    fmt::print(format, row.layer, row.what, fmt::format("{:.3f}", 1e3 * row.seconds), fmt::format("{:.1f}", 1e3 * row.reference_s),
               fmt::format("{:.1f}", 1e-9 * row.flops / row.seconds), fmt::format("{:.2f}x", row.factor()));
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
    if (options.json) all.push_back(json_of(model, options, rows));
    else print_text(model, options, rows);
  }
  if (options.json) fmt::print("{}\n", all.dump());
  return 0;
}

} // namespace dt::engine
