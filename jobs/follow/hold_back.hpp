// Holds back the rest of a study whose first runs all fail before their first step in the same way.
//
// There is no daemon, so dtjob looks when it has recorded a failure. It writes `cancel` into the attempts that nobody has claimed
// yet: the local scheduler then removes them from its queue, and a job of a cluster that comes to its turn runs nothing. Their
// state is cancelled, so the next submission of the study submits them again.
#pragma once

#include "core/record/attempt_files.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// The rest is held back when this many runs have failed. They are of two points at least if the study has more than one.
inline constexpr std::size_t failures_that_hold_back = 3;

// Causes of the same kind differ only in numbers and hashes (ranks, steps, processes, keys of runs), not in the exit code.
std::string kind_of_cause(std::string_view cause);

// Called when `failed` has recorded an end without a result. Returns the attempts that it has cancelled: none if the attempt made
// a step, a run of the submission made one or failed in another way, or the study was submitted with --keep-going. Considered are
// the runs of the study that were submitted at the same time or later. Several processes may call it at once. Throws an
// environment error if files cannot be read or written.
std::vector<AttemptFolder> hold_back_rest(const AttemptFolder& failed);

} // namespace dt::jobs
