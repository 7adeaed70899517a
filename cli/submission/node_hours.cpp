#include "cli/submission/node_hours.hpp"

#include "cli/output/cell.hpp"
#include "core/counted.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/units.hpp"
#include "jobs/scheduler/batch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {

std::int64_t most_starts(const RunSpec& spec)
{
  return scheduler_row(spec.resources.scheduler).restarts_jobs ? 1 + spec.resources.requeue : 1;
}

NodeHours node_hours(const std::vector<const RunSpec*>& runs)
{
  NodeHours hours;
  double separate_node_s = 0;
  for (const auto* run : runs) {
    const auto& resources = run->resources;
    hours.nodes = std::max(hours.nodes, resources.nodes);
    hours.time_limit_s += resources.time_limit_s;
    hours.starts = std::max(hours.starts, most_starts(*run));
    if (run->control) continue;
    separate_node_s += static_cast<double>(resources.nodes * resources.time_limit_s * most_starts(*run));
    ++hours.jobs;
  }
  if (!runs.empty()) hours.time_limit_s += jobs::ladder_margin_s(runs.size());
  hours.ladder = static_cast<double>(hours.nodes) * static_cast<double>(hours.time_limit_s * hours.starts) / 3600;
  hours.separate = separate_node_s / 3600;
  return hours;
}

std::string describe(const NodeHours& hours)
{
  return fmt::format("ladder {} ({} for {}, one wait in the queue), separate jobs {} ({}); both by the time limits{}",
                     real_cell(hours.ladder).text, counted(hours.nodes, "node"),
                     format_duration(static_cast<double>(hours.time_limit_s)), real_cell(hours.separate).text,
                     counted(hours.jobs, "wait"),
                     hours.starts == 1 ? "" : ", with up to " + counted(hours.starts - 1, "requeue") + " a job");
}

} // namespace dt::cli
