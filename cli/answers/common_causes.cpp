#include "cli/answers/common_causes.hpp"

#include "cli/runs/run_tables.hpp"
#include "cli/runs/tuned_points.hpp"
#include "jobs/follow/hold_back.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

bool ended_without_success(const RunView& run) { return is_final(run.row.state) && run.row.state != RunState::succeeded; }

std::string ended_as(RunState state) { return state == RunState::failed ? "failed" : fmt::format("ended as {}", name_of(state)); }

std::string number_of(std::size_t index, std::size_t count) { return count > 1 ? fmt::format("({})", index + 1) : ""; }

} // namespace

std::vector<CommonCause> common_causes(const std::vector<RunView>& runs)
{
  std::vector<CommonCause> causes;
  std::map<std::pair<RunState, std::string>, std::size_t> places;
  const auto ordinary = ordinary_outcomes(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& row = runs[i].row;
    if (!ended_without_success(runs[i]) || row.cause.empty() || ordinary.contains(row.key)) continue;
    const auto [place, is_new] = places.try_emplace({row.state, jobs::kind_of_cause(row.cause)}, causes.size());
    if (is_new) causes.push_back({row.state, row.cause, {}, row.cause_kind == cause_kind::held_back});
    causes[place->second].runs.push_back(i);
  }
  std::erase_if(causes, [](const CommonCause& common) { return common.runs.size() < 2 && !common.is_held_back; });
  return causes;
}

std::string sentence_of(const CommonCause& common, std::size_t all_runs)
{
  const auto share = fmt::format("{} of {} runs", common.runs.size(), all_runs);
  if (!common.is_held_back) return fmt::format("{} {} in the same way: {}", share, ended_as(common.state), common.cause);
  // The cause follows from the failed runs, which have a sentence of their own.
  return fmt::format(
      "{} {} held back, because the first runs of the study failed before their first step in the same way. Remove "
      "the cause and submit the recipe again: it submits what is missing. With --keep-going it starts every run all "
      "the same",
      share, common.runs.size() == 1 ? "was" : "were");
}

void print_common_causes(Context& context, const std::vector<RunView>& runs)
{
  const auto causes = common_causes(runs);
  Json list = Json::array();
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const auto& common = causes[i];
    Json keys = Json::array();
    for (const auto run : common.runs) keys.push_back(runs[run].row.key);
    list.push_back(
        {{"state", name_of(common.state)}, {"cause", common.cause}, {"held_back", common.is_held_back}, {"runs", keys}});
    const auto number = number_of(i, causes.size());
    context.out.field("", "same cause",
                      text_cell(number + (number.empty() ? "" : " ") + sentence_of(common, runs.size()), Style::bad));
  }
  context.out.data("common_causes", std::move(list));
}

Table status_table_without_common(const std::vector<RunView>& runs)
{
  auto table = status_table(runs);
  const auto column = std::find_if(table.columns.begin(), table.columns.end(), [](const auto& c) { return c.name == "cause"; });
  const auto place = static_cast<std::size_t>(column - table.columns.begin());
  const auto causes = common_causes(runs);
  for (std::size_t i = 0; i < causes.size(); ++i)
    for (const auto run : causes[i].runs) table.rows[run][place].text = number_of(i, causes.size());
  const bool has_text =
      std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return !row[place].text.empty(); });
  if (!has_text && !table.rows.empty()) column->title.clear();
  return table;
}

} // namespace dt::cli
