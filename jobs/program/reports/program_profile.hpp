// The compute profile of a program of the user: what a simulation of it needs, from what its ranks have reported.
#pragma once

#include "core/record/run_record.hpp"
#include "core/spec/compute_profile.hpp"
#include "jobs/program/reports/rank_report.hpp"

#include <optional>
#include <span>
#include <string>

namespace dt::jobs {

// `reports`: of all ranks, rank 0 first. `processor`: what they computed on. The layers are the gradients in the reverse order of
// their readiness; those that are ready together are one layer. In front of them stands one for the forward pass and for what the
// backward pass does after the last gradient. The update includes what a step takes beside its phases. A simulated step without
// communication takes as long on average as rank 0's measured steps; the phases are their shares of all its steps, and the steps
// vary as whole steps did. So a pause that hits another phase in each step stays a part of every step.
//
// `attempt`: continued_attempt(). Returns nothing if the report of rank 0 has no lines about gradients, or no measured step with
// samples and the times of both passes.
std::optional<ComputeProfile> profile_of_program(const RunSpec& spec, std::span<const RankReport> reports,
                                                 const std::string& processor, int attempt = 1);

} // namespace dt::jobs
