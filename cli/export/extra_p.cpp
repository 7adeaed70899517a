// The format extra-p: the JSON input of Extra-P, which finds how times grow with the number of ranks.
#include "cli/export/exports.hpp"
#include "cli/export/flat_rows.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "store/query/pictures/phases.hpp"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// In seconds a step, over the ranks: call path -> ranks -> values of the runs.
using Paths = std::map<std::string, std::map<std::int64_t, std::vector<double>>>;

// "->" separates the parts of a call path.
std::string part_of_path(std::string text)
{
  for (auto at = text.find("->"); at != std::string::npos; at = text.find("->")) text.replace(at, 2, "-");
  return text;
}

// The mean over the workers of each phase of a run, and of its step.
std::map<std::string, double> means_of(ResultsStore& results, const std::string& key)
{
  std::map<std::string, std::pair<double, int>> sums;
  for (const auto& rank : store::phases_of_ranks(results.database(), key)) {
    if (rank.role == "server") continue;
    for (const auto& [phase, seconds] : rank.phases) {
      sums[phase].first += seconds;
      ++sums[phase].second;
    }
  }
  std::map<std::string, double> means;
  for (const auto& [phase, sum] : sums)
    if (std::isfinite(sum.first)) means[phase] = sum.first / sum.second;
  return means;
}

Json measurements_of(const Paths& paths)
{
  Json all = Json::object();
  for (const auto& [path, points] : paths) {
    auto& list = all[path]["time"] = Json::array();
    for (const auto& [ranks, values] : points) list.push_back({{"point", {ranks}}, {"values", values}});
  }
  return all;
}

} // namespace

std::string extra_p_of(ResultsStore& results, const FlatRows& rows)
{
  std::set<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) labels.insert(rows.text(i, "series"));
  Paths paths;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.text(i, "state") != "succeeded" || rows.number(i, "control") != 0) continue;
    const auto ranks = static_cast<std::int64_t>(rows.number(i, "ranks"));
    const auto root = labels.size() > 1 ? part_of_path(rows.text(i, "series")) : std::string("training");
    for (const auto& [phase, seconds] : means_of(results, rows.text(i, "key")))
      if (phase != "evaluation") paths[root + "->step" + (phase == "step" ? "" : "->" + phase)][ranks].push_back(seconds);
  }
  if (paths.empty()) throw Error(ErrorKind::usage, "no selected run has succeeded with phases, so there is nothing for Extra-P");
  return Json{{"parameters", {"ranks"}}, {"measurements", measurements_of(paths)}}.dump(1) + "\n";
}

} // namespace dt::cli
