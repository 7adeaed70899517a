// Runs for which their scheduler had no room (a limit on submitted jobs): handed over later, as far as there is room then.
#pragma once

#include "jobs/submit.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// Hands over those of the runs that wait for room (RunStatus::is_deferred), in the order of `keys`, each under the intent that it
// has. A report for every one of them; none when another process is submitting at this moment. A scheduler error when the
// scheduler cannot be reached. Safe beside other submitters and after a kill at any point, as submit_runs is.
std::vector<SubmitReport> submit_deferred(const Home& home, std::span<const std::string> keys);

} // namespace dt::jobs
