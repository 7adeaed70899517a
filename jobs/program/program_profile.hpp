// The compute profile of a program of the user: what a simulation of it needs, from what its ranks have reported.
#pragma once

#include "core/record/run_record.hpp"
#include "core/spec/compute_profile.hpp"
#include "jobs/program/rank_report.hpp"

#include <optional>
#include <span>
#include <string>

namespace dt::jobs {

// `reports`: of all ranks, rank 0 first. `processor`: what they computed on. The layers are the gradients in the reverse order of
// their readiness; those that are ready together are one layer. In front of them stands one for the forward pass and for what the
// backward pass does after the last gradient. The update includes what a step takes beside its phases. Times are medians over the
// measured steps of all ranks.
//
// Nothing if rank 0 has not told when its gradients are ready, or if the times of its passes or its samples are not known.
std::optional<ComputeProfile> profile_of_program(const RunSpec& spec, std::span<const RankReport> reports,
                                                 const std::string& processor);

} // namespace dt::jobs
