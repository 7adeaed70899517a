#include "cli/report/reported_study.hpp"

#include "cli/answers/raced_study.hpp"
#include "cli/answers/study_answer.hpp"
#include "cli/report/chart/chart.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace dt::cli {

std::string subtitle_of(const store::StudyRow& study)
{
  const auto kind = study.kind == "single"    ? "single runs"
                    : study.kind == "sweep"   ? "sweep"
                    : study.kind == "scaling" ? "scaling study"
                                              : study.kind + " scaling study";
  return fmt::format("{}{}Study {} ({}), submitted {}.", study.description, study.description.empty() ? "" : ". ",
                     short_key(study.id), study.kind == "partition" ? "partition study" : kind,
                     format_time_local(study.submitted_unix_s));
}

store::Doubts doubts_of(const ReportedStudy& study)
{
  std::vector<std::string> keys;
  for (const auto& run : study.runs) keys.push_back(run.row.key);
  return store::doubts_of(study.source.database, study.source.study.id, keys);
}

std::vector<std::string> verdict_lines(const ReportedStudy& study, const store::Doubts& doubts)
{
  const auto& source = study.source;
  const auto facts = deciding_facts(doubts);
  auto judged =
      verdict_of(source.study.kind, source.compared, source.scaling, facts, study.record ? study.record->tune.metric : "");
  let_race_decide(judged, study.record, source.runs, source.shown, facts);
  auto lines = sentences_of(judged.text);
  for (auto& line : lines) line += ".";
  if (judged.text.headline.empty())
    lines.push_back("There is nothing to compare: the study has one point. Its figures are below.");
  auto answer = answer_of(source.database, study.record, source.compared, source.runs).sentences;
  lines.insert(lines.begin(), std::make_move_iterator(answer.begin()), std::make_move_iterator(answer.end()));
  return lines;
}

std::vector<store::ScalingRow> shown_points(const ChartSource& source)
{
  std::vector<store::ScalingRow> points;
  std::copy_if(source.scaling.begin(), source.scaling.end(), std::back_inserter(points),
               [&](const auto& point) { return source.scaling.size() <= most_table_rows || is_drawn(source, point.label); });
  return points;
}

std::string commands_of(const ReportedStudy& study)
{
  const auto id = short_key(study.source.study.id);
  const auto file = study.record && !study.record->recipe_path.empty() ? study.record->recipe_path : "recipe.yaml";
  return fmt::format("dtctl sweep {}   # and the settings that were given by --set and --over\n"
                     "dtctl results {} --why\ndtctl report {}\n",
                     shell_quote(file), id, id);
}

} // namespace dt::cli
