#include "core/spec/scheduler_table.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr std::array schedulers{
    SchedulerRow{.name = {"local", "this machine's cores, without a daemon"},
                 .uses_this_machine = true,
                 .starts_ranks_on_hosts = true,
                 .keeps_queue_here = true},
    SchedulerRow{.name = {"slurm", "a cluster's Slurm, through libslurm"},
                 .restarts_jobs = true,
                 .shares_allocations = true,
                 .takes_arguments = true,
                 .signals_launcher = true,
                 .serves_other_users = true},
};

constexpr SchedulerRow unknown_scheduler{.name = {}, .restarts_jobs = true};

} // namespace

std::span<const SchedulerRow> scheduler_rows() { return schedulers; }

const SchedulerRow& scheduler_row(std::string_view scheduler)
{
  const auto found = std::ranges::find_if(schedulers, [&](const SchedulerRow& row) { return row.name.name == scheduler; });
  return found == schedulers.end() ? unknown_scheduler : *found;
}

} // namespace dt
