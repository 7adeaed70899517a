// The environment of a job.
#pragma once

#include <map>
#include <string>

namespace dt::jobs {

// What a job keeps of the environment it was submitted in: enough to find programs, libraries and modules, nothing of a
// surrounding job or MPI launch.
std::map<std::string, std::string> environment_to_keep();

} // namespace dt::jobs
