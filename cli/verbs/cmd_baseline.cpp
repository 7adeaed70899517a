// dtctl baseline: names for studies that later studies are compared with.
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/record/baselines.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <memory>

namespace dt::cli {
namespace {

struct BaselineOptions {
  std::string name, study;
};

void print_baselines(Context& context, const Baselines& baselines)
{
  Table table{"baselines",
              {{"name", "baseline"}, {"study", "id"}, {"study_name", "study"}, {"set_unix_s", "set"}},
              {},
              "no study is pinned; pin one with: dtctl baseline set NAME STUDY"};
  for (const auto& [name, baseline] : baselines)
    table.rows.push_back({text_cell(name, Style::strong), key_cell(baseline.study), text_cell(baseline.study_name),
                          time_cell(baseline.set_unix_s)});
  context.out.table(table);
}

ExitCode set_baseline(Context& context, const BaselineOptions& options)
{
  require_short_name("baseline", options.name);
  const auto home = context.locked_home();
  ResultsStore results(context, home);
  const auto selection = select(results, {.what = options.study, .failed = false, .where = {}});
  if (!selection.whole_study)
    throw Error(ErrorKind::usage,
                printable(options.study) + " is not a study; a baseline is a whole study: its name or id, or last");
  const auto& study = *selection.study;
  if (study.succeeded == 0)
    throw Error(ErrorKind::usage, "no run of " + printable(study.name) +
                                      " has succeeded, so nothing could be compared with it; see: "
                                      "dtctl status " +
                                      short_key(study.id));
  auto baselines = read_baselines(home);
  if (const auto old = baselines.find(options.name); old != baselines.end() && old->second.study != study.id)
    context.messages.info("{} was {} ({})", options.name, printable(old->second.study_name), short_key(old->second.study));
  baselines[options.name] = {study.id, study.name, now_unix_s()};
  write_baselines(home, baselines);
  print_baselines(context, {{options.name, baselines[options.name]}});
  return ExitCode::ok;
}

ExitCode list_baselines(Context& context)
{
  print_baselines(context, read_baselines(context.home()));
  return ExitCode::ok;
}

ExitCode remove_baseline(Context& context, const BaselineOptions& options)
{
  const auto home = context.locked_home();
  auto baselines = read_baselines(home);
  baseline_named(baselines, options.name);
  baselines.erase(options.name);
  write_baselines(home, baselines);
  print_baselines(context, baselines);
  return ExitCode::ok;
}

} // namespace

void add_baseline(Commands& commands)
{
  auto& family = commands.add_family({"baseline", keep_verbs, "Pin studies that later ones are compared with.",
                                      "A baseline is a name for one study, such as main or v1.2. dtctl compare --baseline NAME\n"
                                      "compares with it, and dtctl remove refuses to remove its study. The names lie in\n"
                                      "baselines.json in the home.\n\n"
                                      "Examples:\n"
                                      "  dtctl baseline set main nightly\n"
                                      "  dtctl compare last --baseline main"});
  auto options = std::make_shared<BaselineOptions>();
  auto& setting = commands.add_under(family,
                                     {"set", family_verbs, "Pin a study under a name; a name that is in use moves to it.",
                                      "Example:\n  dtctl baseline set main last"},
                                     [options](Context& context) { return set_baseline(context, *options); });
  setting.add_option("NAME", options->name, "letters, digits, -, _, . and /")->required()->type_name("BASELINE");
  setting.add_option("STUDY", options->study, "name or id of a study, or last for the newest")->required()->type_name("STUDY");
  commands.add_under(family, {"list", family_verbs, "Print the baselines.", "Example:\n  dtctl baseline list"},
                     [](Context& context) { return list_baselines(context); });
  auto& removing = commands.add_under(
      family, {"remove", family_verbs, "Forget a baseline; its study stays.", "Example:\n  dtctl baseline remove main"},
      [options](Context& context) { return remove_baseline(context, *options); });
  removing.add_option("NAME", options->name, "a baseline")->required()->type_name("BASELINE");
}

} // namespace dt::cli
