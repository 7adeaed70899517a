#include "cli/runs/selectors.hpp"

#include "core/error.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t shortest_prefix = 4;
constexpr std::size_t listed_candidates = 8;
constexpr std::int64_t all_runs = 10'000'000;

bool is_prefix(const std::string& text)
{
  return text.size() >= shortest_prefix && text.size() <= 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string listed(const std::vector<std::string>& candidates)
{
  std::string lines;
  for (std::size_t i = 0; i < std::min(candidates.size(), listed_candidates); ++i) lines += "\n  " + candidates[i];
  if (candidates.size() > listed_candidates) lines += fmt::format("\n  and {} more", candidates.size() - listed_candidates);
  return lines;
}

std::string line_of(const store::RunRow& row)
{
  return fmt::format("{}  {}  {}", short_key(row.key), name_of(row.state), printable(row.name));
}

Error nothing_there(ResultsStore& results, const std::string& what)
{
  const auto studies = store::list_studies(results.database(), 200);
  if (studies.empty())
    return Error(ErrorKind::usage, "nothing has been submitted yet; start with: dtctl sweep quickstart --wait");
  std::vector<std::string> names;
  for (const auto& study : studies)
    if (std::find(names.begin(), names.end(), study.name) == names.end()) names.push_back(study.name);
  const auto near = nearest(what, names);
  return Error(ErrorKind::usage,
               fmt::format("there is no study or run \"{}\"{}; see: dtctl list (give at least {} digits of an id or key)",
                           printable(what), near ? ", did you mean " + *near + "?" : "", shortest_prefix));
}

// The study with this name or id prefix. Of several studies with the same name, the newest.
std::optional<store::StudyRow> find_study(ResultsStore& results, const std::string& what)
{
  const auto found = store::find_studies(results.database(), what);
  if (found.empty()) return std::nullopt;
  const bool by_id = found.front().name != what && what != "last";
  if (by_id && what.size() < shortest_prefix) return std::nullopt;
  if (!by_id || found.size() == 1) return found.front();
  std::vector<std::string> lines;
  for (const auto& study : found) lines.push_back(short_key(study.id) + "  " + printable(study.name));
  throw Error(ErrorKind::usage,
              fmt::format("{} matches the ids of {} studies; give more digits:{}", what, found.size(), listed(lines)));
}

// The run with this key prefix or full name. Throws a usage error if there are several.
std::vector<RunView> find_run(ResultsStore& results, const std::string& what)
{
  if (!is_prefix(what) && what.find('/') == std::string::npos) return {};
  auto runs = results.up_to_date([&] { return store::find_runs(results.database(), what); });
  std::set<std::string> keys;
  std::vector<std::string> lines;
  for (const auto& run : runs)
    if (keys.insert(run.row.key).second) lines.push_back(line_of(run.row));
  if (keys.size() > 1)
    throw Error(ErrorKind::usage,
                fmt::format("{} matches {} runs; give more digits of a key:{}", printable(what), keys.size(), listed(lines)));
  return runs;
}

// The runs of a point of a study: "STUDY/LABEL", where the label may leave out the size. Nothing if there is no such point. Both
// names may contain a slash, so each division is tried.
std::optional<Selection> find_point(ResultsStore& results, const std::string& what)
{
  for (auto slash = what.find('/'); slash != std::string::npos; slash = what.find('/', slash + 1)) {
    const auto label = what.substr(slash + 1);
    Selection selection{.study = find_study(results, what.substr(0, slash)), .runs = {}};
    if (!selection.study || label.empty()) continue;
    selection.runs = results.up_to_date([&] { return store::runs_of_study(results.database(), selection.study->id); });
    std::erase_if(selection.runs,
                  [&](const RunView& run) { return run.row.is_control || (run.row.label != label && run.row.series != label); });
    if (!selection.runs.empty()) return selection;
  }
  return std::nullopt;
}

Selection find(ResultsStore& results, const std::string& what)
{
  Selection selection;
  if (what == "all") {
    selection.runs = results.up_to_date([&] { return store::runs_where(results.database(), "repeat>=0", all_runs); });
    return selection;
  }
  selection.study = find_study(results, what);
  if (selection.study) {
    selection.runs = results.up_to_date([&] { return store::runs_of_study(results.database(), selection.study->id); });
    selection.whole_study = true;
    return selection;
  }
  selection.runs = find_run(results, what);
  if (!selection.runs.empty()) return selection;
  if (auto point = find_point(results, what)) return std::move(*point);
  throw nothing_there(results, what);
}

bool has_failed(const RunView& run) { return is_final(run.row.state) && run.row.state != RunState::succeeded; }

} // namespace

void add_selector(Verb& verb, Selector& selector)
{
  verb.add_option(
          "SELECTOR", selector.what,
          selector.what.empty()
              ? "last (the newest study), the name or id of a study, a point (STUDY/LABEL), the key or name of a run, or all"
              : "last (default: the newest study), the name or id of a study, a point (STUDY/LABEL), the key or name of a run, "
                "or all")
      ->type_name("SELECTOR");
  verb.add_flag("--failed", selector.failed, "only runs that ended without success");
  verb.add_option("--where", selector.where,
                  "only runs that meet the condition, such as 'strategy=sync-sgd nodes>=2'; operators: = != < <= > >= ~")
      ->type_name("CONDITION");
}

Selection select(ResultsStore& results, const Selector& selector)
{
  auto selection = find(results, selector.what);
  if (selector.failed) std::erase_if(selection.runs, [](const RunView& run) { return !has_failed(run); });
  if (!selector.where.empty()) {
    std::set<std::string> keys;
    for (const auto& row : store::runs_where(results.database(), selector.where, all_runs)) keys.insert(row.key);
    std::erase_if(selection.runs, [&](const RunView& run) { return !keys.contains(run.row.key); });
  }
  selection.whole_study = selection.whole_study && !selector.filters();
  return selection;
}

std::vector<RunView> look_again(ResultsStore& results, const Selection& selection)
{
  const auto keys = keys_of(selection.runs);
  if (!selection.study) {
    std::vector<RunView> runs;
    for (const auto& key : keys)
      for (auto& run : results.up_to_date([&] { return store::find_runs(results.database(), key); }))
        runs.push_back(std::move(run));
    return runs;
  }
  const std::set<std::string> wanted(keys.begin(), keys.end());
  auto runs = results.up_to_date([&] { return store::runs_of_study(results.database(), selection.study->id); });
  std::erase_if(runs, [&](const RunView& run) { return !wanted.contains(run.row.key); });
  return runs;
}

RunView select_one(ResultsStore& results, const Selector& selector)
{
  auto selection = select(results, selector);
  if (selection.runs.empty()) throw Error(ErrorKind::usage, "no run of " + selector.what + " is selected");
  if (selection.runs.size() == 1) return std::move(selection.runs.front());
  std::vector<std::string> lines;
  for (const auto& run : selection.runs) lines.push_back(line_of(run.row));
  throw Error(ErrorKind::usage,
              fmt::format("{} matches {} runs; give one of them:{}", selector.what, selection.runs.size(), listed(lines)));
}

namespace {

// When the newest attempt of the run began; 0 if none has begun.
double begun_unix_s(const Home& home, const RunView& run)
{
  double newest = 0;
  for (const int number : attempt_numbers(home.run(run.row.key)))
    if (const auto begin = read_begin(AttemptFolder(home.run(run.row.key), number))) newest = std::max(newest, begin->unix_s);
  return newest;
}

} // namespace

RunView select_newest(Context& context, ResultsStore& results, const Selector& selector,
                      const std::function<bool(const RunView&)>& is_wanted)
{
  auto selection = select(results, selector);
  if (!selection.study || selection.runs.size() < 2) return select_one(results, selector);
  const auto count = selection.runs.size();
  if (std::any_of(selection.runs.begin(), selection.runs.end(), is_wanted)) std::erase_if(selection.runs, std::not_fn(is_wanted));
  std::vector<double> begun;
  for (const auto& run : selection.runs) begun.push_back(begun_unix_s(results.home(), run));
  auto& newest = selection.runs[static_cast<std::size_t>(std::max_element(begun.begin(), begun.end()) - begun.begin())];
  context.messages.info("{} has {} runs; this is {}  {}, which began last. To see another, give its key.",
                        printable(selection.study->name), count, short_key(newest.row.key), printable(newest.row.name));
  return std::move(newest);
}

std::optional<StudyRecord> record_of(const Home& home, const store::StudyRow& study) { return read_study(home.study(study.id)); }

std::vector<std::string> keys_of(const std::vector<RunView>& runs)
{
  std::vector<std::string> keys;
  keys.reserve(runs.size());
  for (const auto& run : runs) keys.push_back(run.row.key);
  return keys;
}

std::vector<store::RunRow> rows_of(const std::vector<RunView>& runs)
{
  std::vector<store::RunRow> rows;
  rows.reserve(runs.size());
  for (const auto& run : runs) rows.push_back(run.row);
  return rows;
}

std::vector<store::ComparedPoint> compared_points(ResultsStore& results, const Selection& selection)
{
  return store::points_of(store::compared_runs(results.database(), rows_of(selection.runs), ""));
}

} // namespace dt::cli
