// begin.json of an attempt of the user's own program.
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/program/report_lines.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace dt::jobs {

// What the ranks have reported about their nodes: texts by name, by rank. Only rank 0 and the first rank of each node report.
using NodeFacts = std::map<std::size_t, std::map<std::string, std::string>>;

// `started`: the line "rank" of the report of each rank that has started, by rank. The time of the record is now. Of the facts,
// those of rank 0 are recorded, and where other nodes have other ones also NAME_by_node.
BeginRecord begin_record(const PlannedRun& run, const std::map<std::size_t, RankLine>& started, const NodeFacts& facts);

} // namespace dt::jobs
