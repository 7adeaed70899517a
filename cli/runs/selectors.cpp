#include "cli/runs/selectors.hpp"

#include "core/error.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t shortest_prefix = 4;
constexpr std::size_t listed_candidates = 8;

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
               fmt::format("there is no study or run `{}`{}ee: dtctl status --all (give at least {} digits of an id or key)",
                           printable(what), near ? "; did you mean `" + *near + "`? S" : "; s", shortest_prefix));
}

// The studies with this name, newest first, or the one with this id prefix. "last" names the newest of all, and so its name.
std::vector<store::StudyRow> studies_named(ResultsStore& results, const std::string& what)
{
  auto found = store::find_studies(results.database(), what);
  if (found.empty()) return found;
  const bool by_name = what == "last" || std::any_of(found.begin(), found.end(), [&](const auto& s) { return s.name == what; });
  const auto name = what == "last" ? found.front().name : what;
  if (by_name) {
    if (what == "last") found = store::find_studies(results.database(), name);
    std::erase_if(found, [&](const auto& study) { return study.name != name; });
    return found;
  }
  if (what.size() < shortest_prefix) return {};
  if (found.size() == 1) return found;
  std::vector<std::string> lines;
  for (const auto& study : found) lines.push_back(short_key(study.id) + "  " + printable(study.name));
  throw Error(ErrorKind::usage,
              fmt::format("{} matches the ids of {} studies; give more digits:{}", what, found.size(), listed(lines)));
}

std::string shown(const store::StudyRow& study)
{
  return fmt::format("{} ({})", short_key(study.id), format_time_local(study.submitted_unix_s));
}

// Tells the user which of several studies with one name was taken, and by which ids the others can be chosen.
void tell_choice(ResultsStore& results, const std::vector<store::StudyRow>& studies, std::size_t taken)
{
  constexpr std::size_t most = 3;
  if (studies.size() < 2) return;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < studies.size() && others.size() < most; ++i)
    if (i != taken) others.push_back(shown(studies[i]));
  const auto more = studies.size() - 1 - others.size();
  results.tell_once(fmt::format("{} studies have the name {}; this is {}, {}. For another give its id: {}{}", studies.size(),
                                printable(studies[taken].name), shown(studies[taken]),
                                taken == 0 ? "the newest" : "the newest that has this point", join(others, ", "),
                                more > 0 ? fmt::format(" and {} more (dtctl status --all)", more) : ""));
}

// Several studies may have a run of one name: keeps those of the study that was submitted last, and tells the user.
void keep_newest(ResultsStore& results, const std::string& what, std::vector<RunView>& runs)
{
  std::map<std::string, double> submitted; // by study
  for (const auto& run : runs)
    for (const auto& study : store::find_studies(results.database(), run.row.study))
      if (study.id == run.row.study) submitted[study.id] = study.submitted_unix_s;
  if (submitted.size() < 2) return;
  const auto newest =
      std::max_element(submitted.begin(), submitted.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::string> others;
  for (const auto& run : runs)
    if (run.row.study != newest->first) others.push_back(fmt::format("{} ({})", short_key(run.row.key), name_of(run.row.state)));
  results.tell_once(fmt::format("{} runs have the name {}; this is the one of the newest study, {}. For another give its key: {}",
                                runs.size(), printable(what), short_key(newest->first), join(others, ", ")));
  std::erase_if(runs, [&](const RunView& run) { return run.row.study != newest->first; });
}

// The run with this key prefix or full name. Throws a usage error if there are several in one study.
std::vector<RunView> find_run(ResultsStore& results, const std::string& what)
{
  if (!is_prefix(what) && what.find('/') == std::string::npos) return {};
  auto runs = results.up_to_date([&] { return store::find_runs(results.database(), what); });
  if (!is_prefix(what)) keep_newest(results, what, runs);
  std::set<std::string> keys;
  std::vector<std::string> lines;
  for (const auto& run : runs)
    if (keys.insert(run.row.key).second) lines.push_back(line_of(run.row));
  if (keys.size() > 1)
    throw Error(ErrorKind::usage,
                fmt::format("{} matches {} runs; give more digits of a key:{}", printable(what), keys.size(), listed(lines)));
  return runs;
}

// The runs of a point of a study: "STUDY/LABEL", where the label may leave out the size, or be as tables show it; of several
// studies with that name, of the newest that has the point. Nothing if there is no such point. Both names may contain a slash, so
// each division is tried.
std::optional<Selection> find_point(ResultsStore& results, const std::string& what)
{
  for (auto slash = what.find('/'); slash != std::string::npos; slash = what.find('/', slash + 1)) {
    const auto label = what.substr(slash + 1);
    const auto studies = label.empty() ? std::vector<store::StudyRow>() : studies_named(results, what.substr(0, slash));
    for (std::size_t i = 0; i < studies.size(); ++i) {
      Selection selection{.study = studies[i], .runs = {}};
      selection.runs = results.up_to_date([&] { return store::runs_of_study(results.database(), studies[i].id); });
      const auto labels = labels_of(selection);
      std::erase_if(selection.runs, [&](const RunView& run) {
        return run.row.is_control || (run.row.label != label && run.row.series != label && labels.shown(run.row.series) != label);
      });
      if (selection.runs.empty()) continue;
      tell_choice(results, studies, i);
      return selection;
    }
  }
  return std::nullopt;
}

// A job's id as its scheduler shows it: "82", "82_3", "local-4"; of an array that waits, squeue shows "82_[0-3%2]".
bool is_job(const std::string& text)
{
  const auto digits = [](std::string_view part) { return !part.empty() && part.find_first_not_of("0123456789") == part.npos; };
  if (text.starts_with("local-")) return digits(std::string_view(text).substr(6));
  const auto task = text.find('_');
  return digits(text.substr(0, task)) && (task == text.npos || digits(std::string_view(text).substr(task + 1)));
}

// The runs of a job. Throws a usage error if the digits are also the beginning of another run's key.
std::vector<RunView> find_job(ResultsStore& results, const std::string& shown)
{
  const auto what = shown.ends_with(']') && shown.find("_[") != shown.npos ? shown.substr(0, shown.find("_[")) : shown;
  if (!is_job(what)) return {};
  auto runs = results.up_to_date([&] { return store::runs_of_job(results.database(), what); });
  if (runs.empty() || !is_prefix(what)) return runs;
  std::set<std::string> keys;
  for (const auto& run : runs) keys.insert(run.row.key);
  std::vector<std::string> lines;
  for (const auto& row : store::find_runs(results.database(), what))
    if (!keys.contains(row.key)) lines.push_back(line_of(row));
  if (lines.empty()) return runs;
  lines.insert(lines.begin(), fmt::format("the {} of job {}", runs.size() == 1 ? "run" : "runs", what));
  throw Error(
      ErrorKind::usage,
      fmt::format("{} is the id of a job and the beginning of a run's key; give more digits of the key:{}", what, listed(lines)));
}

Selection find(ResultsStore& results, const std::string& what)
{
  Selection selection;
  if (what == "all") {
    selection.runs = results.up_to_date([&] { return store::runs_where(results.database(), "repeat>=0", all_runs); });
    return selection;
  }
  const auto studies = studies_named(results, what);
  const bool is_name = !studies.empty() && studies.front().name == what;
  if (!is_name) selection.runs = find_job(results, what);
  if (!selection.runs.empty()) return selection;
  if (!studies.empty()) {
    selection.study = studies.front();
    tell_choice(results, studies, 0);
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

Option* add_selector(Verb& verb, Selector& selector)
{
  const std::string first = selector.what.empty() ? "last (the newest study)" : "last (default: the newest study)";
  auto* what = verb.add_option("SELECTOR", selector.what,
                               first + ", the name or id of a study, a point (STUDY/LABEL), the key or name of a run, the id of "
                                       "a job, or all");
  what->type_name("SELECTOR");
  verb.add_flag("--failed", selector.failed, "only runs that ended without success");
  verb.add_option("--where", selector.where,
                  "only runs that meet the condition: 'tag=paper nodes>=2'; operators: = != < <= > >= ~")
      ->type_name("CONDITION");
  return what;
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

std::map<std::string, std::string> own_labels(const Selection& selection)
{
  return selection.study ? selection.study->labels : std::map<std::string, std::string>();
}

std::vector<store::ComparedPoint> compared_points(const Selection& selection)
{
  return compared_points(selection, store::figures_of(rows_of(selection.runs)));
}

std::vector<store::ComparedPoint> compared_points(const Selection& selection, std::vector<store::Run> figures)
{
  return store::points_of(std::move(figures), "", own_labels(selection));
}

store::PointLabels labels_of(const Selection& selection, Controls controls)
{
  std::vector<std::string> labels;
  for (const auto& run : selection.runs)
    if (controls == Controls::shown || !run.row.is_control) labels.push_back(run.row.series);
  return store::PointLabels(labels, own_labels(selection));
}

} // namespace dt::cli
