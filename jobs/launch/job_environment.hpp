// The environment variables that a job inherits from the shell of its submission.
#pragma once

#include <map>
#include <string>

namespace dt::jobs {

// Returns the variables to keep: those needed to find programs, libraries and modules, and none of a surrounding job or MPI
// launch.
std::map<std::string, std::string> environment_to_keep();

} // namespace dt::jobs
