#include "engine/bench/compute/profile.hpp"

#include "engine/bench/bench.hpp"

#include <algorithm>
#include <map>

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

} // namespace

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
