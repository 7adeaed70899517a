// The records of an attempt from the texts of their files. Private to core/record.
//
// All return nothing when the text is torn, damaged or of another format; of lines, those that are complete.
#pragma once

#include "core/record/load_record.hpp"
#include "core/record/rank_state.hpp"
#include "core/record/run_record.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace dt::record {

std::optional<Submission> parse_submission(std::string_view text);
std::optional<Deferral> parse_deferral(std::string_view text);
std::optional<BeginRecord> parse_begin(std::string_view text);
std::optional<Heartbeat> parse_heartbeat(std::string_view text);
std::optional<RankError> parse_error(std::string_view text);
std::optional<Outcome> parse_outcome(std::string_view text);
std::optional<Preemption> parse_preemption(std::string_view text);
std::optional<ProbeRecord> parse_probe(std::string_view text);
std::optional<LoadRecord> parse_load(std::string_view text);
std::optional<StallRecord> parse_stall(std::string_view text);
std::optional<JobEnd> parse_end(std::string_view text);
std::vector<Launch> parse_launches(std::string_view text);
// Never fails: the file's presence alone counts as the wish to cancel.
Cancellation parse_cancellation(std::string_view text);

} // namespace dt::record
