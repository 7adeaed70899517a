// The registry of schedulers: the only place that names them all.
#pragma once

#include "jobs/scheduler/scheduler.hpp"

#include <memory>
#include <span>
#include <string>

namespace dt::jobs {

// Throws a recipe error if the scheduler cannot use these resources.scheduler_args. Does not contact the scheduler.
void check_scheduler_args(const std::string& scheduler, std::span<const std::string> args);

// Returns the scheduler with this name (one of scheduler_names()).
std::unique_ptr<Scheduler> make_scheduler(const std::string& name, const Home& home);

} // namespace dt::jobs
