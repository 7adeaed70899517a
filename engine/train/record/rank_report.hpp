// Collects figures of all ranks on rank 0 for the run's result.
#pragma once

#include "core/record/run_record.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/roles.hpp"

#include <vector>

namespace dt::train {

// Returns the records of all ranks in rank order on rank 0; empty on the other ranks. Collective.
std::vector<RankRecord> gather_records(const RankRecord& mine, comm::Communicator& comm);

// Mean over the workers that measured a number (not NaN), on rank 0. NaN on the other ranks, and if no worker measured one.
// Collective.
double mean_of_workers(double mine, const sync::Roles& roles, comm::Communicator& comm);

// Staleness over all ranks' updates, on every rank; p95 by nearest rank. Collective.
Staleness gather_staleness(const std::vector<std::int32_t>& mine, comm::Communicator& comm);

// Peak resident set size of this process.
std::int64_t memory_peak_bytes();

} // namespace dt::train
