// Every rank's record, brought to rank 0 for the run's result.
#pragma once

#include "core/run_record.hpp"
#include "engine/comm/communicator.hpp"

#include <vector>

namespace dt::engine {

// All ranks' records in rank order on rank 0; empty elsewhere. Collective.
std::vector<RankRecord> gather_records(const RankRecord& mine, Communicator& comm);

// Share of step time that was exposed communication, mean over ranks; NaN when no step was measured.
double communication_share(const std::vector<RankRecord>& ranks);

// High-water mark of this process's resident set.
std::int64_t memory_peak_bytes();

} // namespace dt::engine
