// The part of a rank's start that is common to all launchers: binding to cores, and environment variables for threads.
//
// dtctl binds ranks itself, because launchers follow different rules: Open MPI 4.1 counts cores from 0 and ignores the mask it
// was started in, and srun binds only if the site has configured it. Each rank is started by `dtjob bind`, which selects T cores
// from the job's mask on the node: local rank r gets the cores with the positions r T … r T + T - 1. T is the number of compute
// threads plus the progress thread, if there is one. A program that starts the ranks of its node itself (program.launch) gets the
// cores and GPUs of all of them.
#pragma once

#include "core/spec/run_spec.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::jobs {

// Puts `dtjob bind` before `program`. The result is the end of the launcher's command. `agent` is the path of dtjob.
std::vector<std::string> bound(const RunSpec& spec, const std::string& agent, const std::vector<std::string>& program);

// Sets the thread counts and disables binding by OpenMP. On this machine it also says which GPUs the job sees.
std::map<std::string, std::string> rank_environment(const RunSpec& spec);

} // namespace dt::jobs
