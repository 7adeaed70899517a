#include "engine/bench/profile.hpp"

#include "core/error.hpp"
#include "engine/bench/bench.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace dt::engine {
namespace {

constexpr const char* line_format = "{:<28} {:<18} {:<28} {:>10} {:>9} {:>7}\n";

double gflops_of(const OperationTime& operation) { return operation.seconds > 0 ? 1e-9 * operation.flops / operation.seconds : 0; }

std::string line_of(const OperationTime& operation, double step_s)
{
  return fmt::format(line_format, operation.layer, operation.what, operation.kernel, fmt::format("{:.3f}", 1e3 * operation.seconds),
                     operation.flops > 0 ? fmt::format("{:.1f}", gflops_of(operation)) : "",
                     fmt::format("{:.1f}%", 100 * operation.seconds / step_s));
}

bool is_longer(const OperationTime& a, const OperationTime& b) { return a.seconds > b.seconds; }

// One a kind, longest first: what was done, all layers together.
std::vector<OperationTime> sums_of_kinds(const std::vector<OperationTime>& operations)
{
  std::map<std::string, OperationTime> sums;
  for (const auto& operation : operations) {
    const auto kind = operation.reorder ? std::string("reorders") : operation.what;
    auto& sum = sums[kind];
    sum.layer = "all";
    sum.what = kind;
    sum.flops += operation.flops;
    sum.seconds += operation.seconds;
  }
  std::vector<OperationTime> rows;
  for (const auto& [kind, sum] : sums) rows.push_back(sum);
  std::stable_sort(rows.begin(), rows.end(), is_longer);
  return rows;
}

} // namespace

std::vector<OperationTime> median_profile(const std::function<std::vector<OperationTime>()>& pass, int passes)
{
  auto operations = pass();
  std::vector<std::vector<double>> seconds(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) seconds[i].push_back(operations[i].seconds);
  for (int done = 1; done < passes; ++done) {
    const auto again = pass();
    if (again.size() != operations.size()) throw Error(ErrorKind::internal, "Two steps of one network did not do the same operations.");
    for (std::size_t i = 0; i < again.size(); ++i) seconds[i].push_back(again[i].seconds);
  }
  for (std::size_t i = 0; i < operations.size(); ++i) operations[i].seconds = summarize(seconds[i]).median;
  return operations;
}

bool is_compute(const OperationTime& operation) { return !operation.reorder; }
bool is_onednn(const OperationTime& operation) { return !operation.reorder && !operation.kernel.empty(); }

double seconds_of(const std::vector<OperationTime>& operations, bool (*is_counted)(const OperationTime&))
{
  double sum_s = 0;
  for (const auto& operation : operations)
    if (is_counted(operation)) sum_s += operation.seconds;
  return sum_s;
}

std::string profile_table(std::vector<OperationTime> operations, double step_s)
{
  const auto sums = sums_of_kinds(operations);
  std::stable_sort(operations.begin(), operations.end(), is_longer);
  const auto head = fmt::format(line_format, "layer", "what", "kernel", "ms", "GFLOP/s", "share");
  auto table = head;
  for (const auto& operation : operations) table += line_of(operation, step_s);
  table += "\n" + head;
  for (const auto& sum : sums) table += line_of(sum, step_s);
  return table;
}

nlohmann::ordered_json profile_json(const std::vector<OperationTime>& operations)
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

} // namespace dt::engine
