// What Slurm's commands print when they fail, as the error numbers of slurm_errno.h. Pure functions.
#pragma once

#include "core/machine/process.hpp"
#include "jobs/slurm/access/api.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// The failure that a command reports on its standard error. Its words are Slurm's, without "sbatch: error: ". A text that
// dtctl does not know has the code `refused_by_command`.
SlurmFailure failure_of(std::string_view command, const CommandResult& result);
inline constexpr int refused_by_command = 1;

// Whether sbatch has told that the queue is full and waits to try again, which takes minutes.
bool waits_for_room(std::string_view err);

} // namespace dt::jobs::slurm
