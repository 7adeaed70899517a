// Whether the compute nodes of a cluster see the home: jobs find their files there and write their records there.
#pragma once

#include "cli/checks/machine.hpp"
#include "jobs/scheduler/site.hpp"

#include <optional>
#include <string>

namespace dt::cli {

// A warning for a submission to a cluster. Nothing if the home is on a file system that machines share, or if a node has written
// to it before. Sends nothing to the scheduler.
std::optional<std::string> doubt_of_home_on_nodes(const Home& home);

// For dtctl doctor: if the type of the file system does not tell, submits a job that prints the name of its node into the home,
// waits at most half a minute for it, and looks for the output.
Finding check_home_on_nodes(const Home& home, const std::string& scheduler, jobs::Site& site);

} // namespace dt::cli
