// Every rank's record, brought to rank 0 for the run's result.
#pragma once

#include "core/run_record.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/roles.hpp"

#include <vector>

namespace dt::engine {

// All ranks' records in rank order on rank 0; empty elsewhere. Collective.
std::vector<RankRecord> gather_records(const RankRecord& mine, Communicator& comm);

// Mean of the workers' numbers on rank 0, those left out that measured none; NaN elsewhere, and when none did. Collective.
double mean_of_workers(double mine, const Roles& roles, Communicator& comm);

// Of all ranks' updates together, on every rank; p95 by nearest rank. Collective.
Staleness gather_staleness(const std::vector<std::int32_t>& mine, Communicator& comm);

// High-water mark of this process's resident set.
std::int64_t memory_peak_bytes();

} // namespace dt::engine
