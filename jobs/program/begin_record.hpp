// begin.json of an attempt of the user's own program.
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/program/report_lines.hpp"

#include <cstddef>
#include <map>

namespace dt::jobs {

// `started`: the first line of the report of each rank that has started, by rank. The time of the record is now.
BeginRecord begin_record(const PlannedRun& run, const std::map<std::size_t, RankLine>& started);

} // namespace dt::jobs
