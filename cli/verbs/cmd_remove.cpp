// dtctl remove: deletes a study, with or without its runs.
#include "cli/runs/removal.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/record/baselines.hpp"
#include "core/record/notes.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct RemoveOptions {
  std::string study;
  bool runs = false, yes = false, dry_run = false;
};

Selection study_to_remove(ResultsStore& results, const std::string& what)
{
  auto selection = select(results, {.what = what, .failed = false, .where = {}});
  if (!selection.study)
    throw Error(
        ErrorKind::usage,
        fmt::format("{} is not a study; give the name or id of a study, or last; see: dtctl status --all", printable(what)));
  return selection;
}

// Refuses to remove live runs and runs whose state is unknown.
void refuse_live(Context& context, const Selection& selection)
{
  std::vector<std::string> live, unknown;
  for (const auto& run : selection.runs) {
    if (run.row.state == RunState::unknown) unknown.push_back(short_key(run.row.key));
    if (!is_final(run.row.state) && run.row.state != RunState::planned && run.row.state != RunState::unknown)
      live.push_back(fmt::format("{} ({})", short_key(run.row.key), name_of(run.row.state)));
  }
  const auto& name = selection.study->name;
  if (!live.empty())
    throw Error(ErrorKind::usage,
                fmt::format("{} of {} {} not ended: {}. Nothing was removed; wait for {}, or: dtctl cancel {}",
                            counted(live.size(), "run"), printable(name), live.size() == 1 ? "has" : "have", join(live, ", "),
                            live.size() == 1 ? "it" : "them", short_key(selection.study->id)));
  if (!unknown.empty())
    throw Error(context.troubles.empty() ? ErrorKind::environment : ErrorKind::scheduler,
                fmt::format("the state of {} of {} is unknown: {}. Nothing was removed", counted(unknown.size(), "run"),
                            printable(name), join(unknown, ", ")));
}

void refuse_baseline(const Home& home, const store::StudyRow& study)
{
  for (const auto& [name, baseline] : read_baselines(home))
    if (baseline.study == study.id)
      throw Error(ErrorKind::usage,
                  fmt::format("{} ({}) is the baseline {}. Nothing was removed; let {} name another study, or forget it: dtctl "
                              "baseline remove {}",
                              printable(study.name), short_key(study.id), name, name, name));
}

// Without their notes and tags, which would say something about other runs if these are done again.
void forget_notes(Context& context, const LockedHome& home, ResultsStore& results, const std::vector<std::string>& ids)
{
  try {
    auto notes = read_notes(home);
    if (std::erase_if(notes, [&](const auto& note) { return std::ranges::find(ids, note.first) != ids.end(); }) == 0) return;
    write_notes(home, notes);
    results.take_in_notes();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    context.messages.warn("the notes of what was removed are still there: {}", error.what());
  }
}

// The runs of all other studies, each with the name of one study that contains it.
std::map<std::string, std::string> runs_of_others(const Home& home, const std::string& study_id)
{
  std::map<std::string, std::string> held;
  for (const auto& id : names_in(home.studies())) {
    const auto record = home.study(id) / "study.json";
    if (id == study_id || !fs::exists(record)) continue;
    const auto study = read_study(home.study(id));
    if (!study)
      throw Error(ErrorKind::environment,
                  fmt::format("{} is damaged, so the runs that it shares are unknown. Nothing was removed; "
                              "without --runs the study goes and all runs stay",
                              record.string()));
    for (const auto& key : study->run_keys) held.emplace(key, study->name);
  }
  return held;
}

// A run of the study, and why it is kept. Empty if it is removed.
struct Fate {
  const RunView* run;
  std::string stays;
};

std::vector<Fate> fates_of(const Home& home, const Selection& selection, bool with_runs)
{
  const auto held = with_runs ? runs_of_others(home, selection.study->id) : std::map<std::string, std::string>();
  std::vector<Fate> fates;
  for (const auto& run : selection.runs) {
    const auto other = held.find(run.row.key);
    fates.push_back({&run, !with_runs            ? "only --runs removes runs"
                           : other != held.end() ? "also in the study " + printable(other->second)
                                                 : ""});
  }
  return fates;
}

std::vector<std::string> leaving(const std::vector<Fate>& fates)
{
  std::vector<std::string> keys;
  for (const auto& fate : fates)
    if (fate.stays.empty()) keys.push_back(fate.run->row.key);
  return keys;
}

void print(Context& context, const Selection& selection, const std::vector<Fate>& fates, bool dry_run)
{
  Table table{"runs", {{"key", "key"}, {"name", "run"}, {"state", "state"}, {"removed", ""}, {"fate", "is"}}, {}, "no runs"};
  for (const auto& [run, stays] : fates)
    table.rows.push_back({key_cell(run->row.key), text_cell(run->row.name), state_cell(run->row.state), data_cell(stays.empty()),
                          text_cell(stays.empty() ? dry_run ? "to be removed" : "removed" : "kept: " + stays)});
  context.out.table(table);
  const auto& study = *selection.study;
  context.out.field(
      "study", dry_run ? "would remove" : "removed",
      {study.id,
       fmt::format("study {} ({}) and {}", printable(study.name), short_key(study.id), counted(leaving(fates).size(), "run")),
       Style::strong});
  context.out.data("dry_run", dry_run);
}

// Removes the rows in the database. On a full disk the database cannot do that, so what the folders hold is removed for good
// first, and the reserve, which makes space. Returns whether the rows are removed.
bool remove_from_database(Context& context, ResultsStore& results, Removal& removal, const std::string& study,
                          const std::vector<std::string>& keys)
{
  std::string full;
  try {
    results.remove(study, keys);
    return true;
  } catch (const Error& error) {
    full = why_full(results.home().root());
    if (error.kind() != ErrorKind::environment || full.empty()) throw;
  }
  removal.free_space();
  context.messages.info("the disk of {} has no space ({}), so the folders were removed first and then their rows in the database",
                        results.home().root().string(), full);
  try {
    results.remove(study, keys);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    context.messages.warn(
        "the folders are removed, but their rows are still in the database: {}. The next dtctl that finds space "
        "removes them",
        error.what());
    return false;
  }
}

ExitCode remove(Context& context, const LockedHome& home, const RemoveOptions& options)
{
  ResultsStore results(context, home);
  const auto selection = study_to_remove(results, options.study);
  refuse_live(context, selection);
  refuse_baseline(home, *selection.study);
  const auto fates = fates_of(home, selection, options.runs);
  const auto keys = leaving(fates);
  if (!options.yes && !options.dry_run)
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "this would remove the study {} ({}) and {} with all results. Add --yes to do it, or --dry-run to see what would go",
            printable(selection.study->name), short_key(selection.study->id), counted(keys.size(), "run")));
  if (!options.dry_run) {
    Removal removal(home);
    for (const auto& key : keys) removal.take(home.run(key), "run-" + key);
    removal.take(home.study(selection.study->id), "study-" + selection.study->id);
    if (remove_from_database(context, results, removal, selection.study->id, keys)) removal.commit();
    auto ids = keys;
    ids.push_back(selection.study->id);
    forget_notes(context, home, results, ids);
  }
  print(context, selection, fates, options.dry_run);
  return ExitCode::ok;
}

} // namespace

void add_remove(Commands& commands)
{
  auto options = std::make_shared<RemoveOptions>();
  auto& verb = commands.add(
      {"remove", keep_verbs, "Delete a study, with or without its runs.",
       "Without --runs, the runs and their results stay: dtctl show finds them by their keys, and they are not run again.\n"
       "With --runs, the folders of the runs are removed too, except those that another study contains. If a run of the\n"
       "study is queued or running, nothing is removed. A removal cannot be undone.\n\n"
       "Example:\n  dtctl remove quickstart --runs --dry-run\n  dtctl remove quickstart --runs --yes"},
      [options](Context& context) {
        const auto home = context.locked_home();
        const auto code = remove(context, home, *options);
        if (!options->dry_run) keep_reserve(home, true); // the database is closed now and needs its space no more
        return code;
      });
  verb.add_option("STUDY", options->study,
                  "name or id of a study, or last for the newest; of several with the same name, the newest")
      ->required()
      ->type_name("STUDY");
  verb.add_flag("--runs", options->runs, "also remove the runs that no other study contains, with all their files");
  verb.add_flag("-y,--yes", options->yes, "do it without asking");
  verb.add_flag("-n,--dry-run", options->dry_run, "print what would be removed; remove nothing");
}

} // namespace dt::cli
