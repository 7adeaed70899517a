// The registry of schedulers: the only place that names them all.
#pragma once

#include "jobs/scheduler/kind.hpp"

#include <memory>
#include <span>
#include <string>

namespace dt::jobs {

// One of each kind, in the order of scheduler_names().
std::span<const SchedulerKind* const> scheduler_kinds();

// Throws a recipe error if there is none with this name.
const SchedulerKind& scheduler_kind(const std::string& name);

} // namespace dt::jobs
