// The race of a study that `dtctl sweep --until-decided` repeats: its rule, the values of its runs, its verdict.
#pragma once

#include "cli/answers/verdict_output.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/run_spec.hpp"
#include "store/analysis/statistics/race.hpp"
#include "store/analysis/verdict/point_labels.hpp"
#include "store/query/queries.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// The rule of the race that study.json keeps (study.until of the recipe, with its defaults).
StudyRace race_of_recipe(const StudySpec& study);

store::RaceRule rule_of(const StudyRace& race);

// The value of a run by the race's metric. Nothing: it has not ended, or it was cancelled. NaN: it ended without a value.
// Infinity: it missed its target.
std::optional<double> race_value(const store::RunRow& row, const StudyRace& race);

// In place of a verdict on candidates, puts that of the study's race. Leaves the verdict as it is if the study is no race, or has
// no size at which candidates compete. `rows`: all runs of the study. `facts`: as of verdict_of.
void let_race_decide(StudyVerdict& verdict, const std::optional<StudyRecord>& study, const std::vector<store::RunRow>& rows,
                     const store::PointLabels& labels, const std::vector<std::string>& facts);

} // namespace dt::cli
