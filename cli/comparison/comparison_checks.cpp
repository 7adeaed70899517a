#include "cli/comparison/comparison_checks.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace dt::cli {

double margin_of(const std::string& text)
{
  const bool is_percent = text.ends_with('%');
  const auto digits = trim(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)));
  const double margin = number_of<double>(digits).value_or(not_measured) / (is_percent ? 100 : 1);
  if (!(margin >= 0 && margin < 1))
    throw Error(ErrorKind::usage, "--margin takes a share from 0 to below 100%, such as 2% or 0.02, not " + printable(text));
  return margin;
}

void warn_about(Context& context, const std::vector<std::string>& differences)
{
  for (const auto& difference : differences) context.messages.warn("{}", printable(difference));
  Json list = Json::array();
  for (const auto& difference : differences) list.push_back(difference);
  context.out.data("differences", std::move(list));
}

void require_metric(store::Metric metric, const std::vector<const store::Sample*>& samples)
{
  const auto has_values = [](const store::Sample* sample) { return !sample->candidate.values.empty(); };
  if (std::any_of(samples.begin(), samples.end(), has_values)) return;
  const auto has_succeeded = [](const store::Sample* sample) { return sample->succeeded > 0; };
  if (std::none_of(samples.begin(), samples.end(), has_succeeded))
    throw Error(ErrorKind::usage, "none of these runs has succeeded, so there is nothing to compare; see: dtctl status");
  const auto& row = store::metric_row(metric);
  throw Error(ErrorKind::usage, "none of these runs has a value of " + std::string(row.words) +
                                    (row.needs_target ? ", because their recipes have no train.target_accuracy" : "") +
                                    "; choose another --metric");
}

void require_one_target(const std::vector<store::ComparedRun>& a, const std::vector<store::ComparedRun>& b)
{
  std::set<double> targets;
  for (const auto* runs : {&a, &b})
    for (const auto& run : *runs)
      if (run.succeeded && run.target_accuracy > 0) targets.insert(run.target_accuracy);
  if (targets.size() < 2) return;
  throw Error(ErrorKind::usage, "times to different targets cannot be compared: the runs have the target accuracies " +
                                    format_shortest(*targets.begin()) + " and " + format_shortest(*targets.rbegin()) +
                                    "; choose another --metric, or runs with one target");
}

void check_overlap(Context& context, const ComparedSide& a, const ComparedSide& b)
{
  std::set<std::string> keys;
  for (const auto& run : a.runs) keys.insert(run.key);
  const auto shared = std::count_if(b.runs.begin(), b.runs.end(), [&](const auto& run) { return keys.contains(run.key); });
  if (static_cast<std::size_t>(shared) == b.runs.size() && keys.size() == b.runs.size())
    throw Error(ErrorKind::usage, "A and B are the same runs: a run belongs to every study whose recipe asks for the same work");
  if (shared > 0)
    context.messages.warn("{} on both sides, so that A and B seem more alike than they are",
                          counted(shared, "run is", "runs are"));
}

void warn_about_unfinished(Context& context, const char* side, const std::vector<store::ComparedRun>& runs)
{
  const auto missing = std::count_if(runs.begin(), runs.end(), [](const auto& run) { return !run.succeeded; });
  if (missing > 0)
    context.messages.warn("{} of {} runs of {} {} not succeeded and {} not count", missing, runs.size(), side,
                          missing == 1 ? "has" : "have", missing == 1 ? "does" : "do");
}

} // namespace dt::cli
