// What every launcher does for a rank: its cores, and the variables that keep its threads on them.
//
// Binding is ours: launchers bind by rules of their own (Open MPI 4.1 counts cores from 0 and ignores the mask it was started in,
// Slurm binds only where a site has set it up). Each rank is therefore started through a few lines of shell that take the rank's
// own T cores out of the mask the job has on its node: local rank r gets the cores r T … r T + T - 1 of it. T counts the compute
// threads and the one that moves messages, if there is one.
#pragma once

#include "core/run_spec.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::jobs {

// `program` with its binding before it; the launcher's last words.
std::vector<std::string> bound(const RunSpec& spec, const std::vector<std::string>& program);

// Thread counts, and no binding by OpenMP.
std::map<std::string, std::string> rank_environment(const RunSpec& spec);

} // namespace dt::jobs
