// Deferred runs: runs that a scheduler refused because of a limit on submitted jobs. They are submitted later, as the limit
// allows.
#pragma once

#include "jobs/submit/submit.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// Submits the deferred runs among `keys` (RunStatus::is_deferred), in that order, each with the intent it already has. Returns
// one report per deferred run; returns none if another process changes the home now. Throws a scheduler error if the scheduler
// cannot be reached. It may be killed at any point.
std::vector<SubmitReport> submit_deferred(const Home& home, std::span<const std::string> keys);

} // namespace dt::jobs
