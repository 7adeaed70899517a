// The answer of a tuned study over several sizes, in at most five lines: which point is the soonest, which is the cheapest, from
// where more nodes are not worth it, what limits it, and what it rests on.
#pragma once

#include "cli/command/context.hpp"
#include "cli/output/cell.hpp"
#include "core/record/study_record.hpp"
#include "store/analysis/verdict/compared_points.hpp"
#include "store/database/database.hpp"
#include "store/query/queries.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct AnswerText {
  std::vector<std::string> sentences; // empty: the study gives no answer
  Json data;                          // the same for programs; null without an answer
};

// Computes the answer of a study that was tuned by the time to target (StudyRecord::tune); any other study has none. `points` and
// `rows` are those of the study.
AnswerText answer_of(store::Database& database, const std::optional<StudyRecord>& study,
                     const std::vector<store::ComparedPoint>& points, const std::vector<store::RunRow>& rows);

// Prints nothing without an answer.
void print_answer(Context& context, const AnswerText& answer);

} // namespace dt::cli
