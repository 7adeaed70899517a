#include "cli/submission/dry_run.hpp"

#include "cli/answers/cost.hpp"
#include "cli/answers/prediction_tables.hpp"
#include "cli/command/context.hpp"
#include "cli/planning/resolve.hpp"
#include "cli/runs/results_store.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/submission/node_hours.hpp"
#include "cli/submission/submission.hpp"
#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/secrets.hpp"
#include "core/spec/simulation_cost.hpp"
#include "core/units.hpp"
#include "jobs/launch/batch_script.hpp"
#include "jobs/launch/launcher.hpp"
#include "jobs/submit/submit.hpp"
#include "store/query/queries.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// Predictions in `dtctl sweep --dry-run`: what the sizes of a recipe that have not run yet will probably give.

// The recipe's sizes.
struct Sizes {
  explicit Sizes(const Resolved& resolved)
  {
    for (const auto& run : resolved.runs) {
      nodes.insert(run.spec.resources.nodes);
      ranks.insert(run.spec.ranks());
    }
  }
  std::set<std::int64_t> nodes, ranks;
};

// The recipe's sizes that were not measured, as the series counts.
std::vector<std::int64_t> missing_sizes(const store::SeriesMeasurements& series, const Sizes& planned)
{
  auto sizes = series.traits.by_nodes ? planned.nodes : planned.ranks;
  for (const auto& size : series.sizes) sizes.erase(size.at.size);
  return {sizes.begin(), sizes.end()};
}

// The series of the newest study of this name that predictions can be made from.
std::vector<store::SeriesMeasurements> measured_series(const Home& home, const std::string& name)
{
  if (!store::holds_anything(home.database())) return {};
  store::Database database(home.database(), store::Access::read_only);
  for (const auto& study : store::find_studies(database, name))
    if (study.name == name && study.succeeded > 0) return store::measurements_of_study(database, study.id, {});
  return {};
}

std::vector<OfSeries<store::Prediction>> predictions_of(const store::SeriesMeasurements& series, const Sizes& planned,
                                                        const std::optional<CostModel>& network)
{
  std::vector<OfSeries<store::Prediction>> all;
  const auto sizes = missing_sizes(series, planned);
  if (sizes.empty() || series.sizes.size() < 2 || series.traits.is_own_program) return all;
  for (auto& prediction : store::forecast(series, sizes, network).predictions)
    all.push_back({series.series, std::move(prediction)});
  return all;
}

void print_predicted(Context& context, const Home& home, const Resolved& resolved)
{
  const auto network = network_of(context, "");
  std::vector<OfSeries<store::Prediction>> all;
  std::int64_t next = 0;
  const Sizes planned(resolved);
  for (const auto& series : measured_series(home, resolved.study.name)) {
    auto found = predictions_of(series, planned, network);
    if (found.empty()) continue;
    all.insert(all.end(), found.begin(), found.end());
    const auto most = 4 * series.sizes.back().at.size;
    next = std::max(next, store::most_informative_size(series, network, most));
  }
  if (all.empty()) return;
  context.out.heading("Predicted, from the sizes that have run (see: dtctl predict)");
  context.out.table(without_empty_columns(with_cost(prediction_table(all), resolved.price)));
  if (next > 0)
    context.out.field("most_informative_size", "tells most",
                      {next, fmt::format("{} (the size whose measurement would improve predictions most)", next), Style::plain});
}

// If a study of this recipe's name is in the database with enough sizes: prints the predicted throughput, efficiency and cost of
// the recipe's other sizes, and the size whose measurement would tell most. Otherwise prints nothing: a plan needs no
// predictions.
void print_planned_sizes(Context& context, const Home& home, const Resolved& resolved)
{
  try {
    print_predicted(context, home, resolved);
  } catch (const Error&) { // dtctl predict says what is missing
  }
}

struct Standing {
  RunState state = RunState::planned;
  std::string cause;
  std::string refusal{}; // why the run would be refused, if it would be submitted and that is known
  bool would_be_submitted() const
  {
    return refusal.empty() && (state == RunState::planned || (is_final(state) && state != RunState::succeeded));
  }
};
using Standings = std::unordered_map<std::string, Standing>; // runs that have a folder or would be refused

// Lists the folder once instead of checking each run.
std::unordered_set<std::string> existing_runs(const Home& home)
{
  const auto names = names_in(home.runs());
  return {names.begin(), names.end()};
}

// Runs that succeeded according to the database. Success is final, so the database need not be up to date.
std::unordered_set<std::string> known_successes(const Home& home, const std::string& study_id)
{
  std::unordered_set<std::string> keys;
  if (!store::holds_anything(home.database())) return keys;
  try {
    store::Database database(home.database(), store::Access::read_only);
    for (const auto& row : store::runs_of_study(database, study_id))
      if (row.state == RunState::succeeded) keys.insert(row.key);
  } catch (const Error&) { // the folders have the same information, but reading them is slower
  }
  return keys;
}

Standings standings_of(Context& context, const Home& home, const Resolved& resolved)
{
  Standings standings;
  const auto existing = existing_runs(home);
  if (existing.empty()) return standings;
  const auto successes = known_successes(home, resolved.study.id);
  std::vector<std::string> unknown;
  for (const auto& run : resolved.runs) {
    if (!existing.contains(run.key)) continue;
    if (successes.contains(run.key))
      standings[run.key] = {RunState::succeeded, ""};
    else
      unknown.push_back(run.key);
  }
  if (unknown.empty()) return standings;
  for (const auto& status : reconcile(context, home, unknown))
    standings[status.key] = {status.verdict.state, status.verdict.cause};
  return standings;
}

void add_refusals(const Resolved& resolved, Standings& standings)
{
  const auto refusals = jobs::known_refusals(resolved.runs);
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    if (refusals[i].empty()) continue;
    auto& standing = standings[resolved.runs[i].key];
    if (standing.would_be_submitted()) standing.refusal = refusals[i];
  }
  for (const auto& [key, why] : resolved.without_data) standings[key].refusal = why;
}

// Why the cluster would never start runs that would be submitted, by its limits. Empty texts if it has none against them or
// cannot be asked.
std::vector<std::string> misfits_of(Context& context, const Home& home, const Resolved& resolved, const Standings& standings)
{
  std::vector<PlannedRun> runs;
  for (const auto& run : resolved.runs) {
    const auto found = standings.find(run.key);
    if (found == standings.end() || found->second.would_be_submitted()) runs.push_back(run);
  }
  try {
    return jobs::misfits(home, runs, resolved.study.id);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::scheduler) throw;
    context.messages.info("whether the cluster can start these runs is unknown: {}", error.what());
    return {};
  }
}

std::string reason(const Standing& standing)
{
  if (!standing.refusal.empty()) return "would be refused";
  if (standing.state == RunState::planned) return standing.cause.empty() ? "new" : standing.cause;
  if (standing.state == RunState::succeeded) return "already done";
  if (standing.state == RunState::unknown) return "unknown";
  if (!is_final(standing.state)) return "already active";
  return "again: " + (standing.cause.empty() ? std::string(name_of(standing.state)) : standing.cause);
}

// Core-hours of one start that uses the whole time limit.
double core_hours_a_start(const PlannedRun& run)
{
  return static_cast<double>(run.spec.resources.time_limit_s) * static_cast<double>(run.spec.cores()) / 3600;
}

// Upper bound: each start that resources.requeue allows uses the whole time limit.
double core_hours(const PlannedRun& run) { return core_hours_a_start(run) * static_cast<double>(most_starts(run.spec)); }

Cell limit_cell(const RunSpec& spec)
{
  const auto limit_s = spec.resources.time_limit_s;
  return {limit_s, format_duration(static_cast<double>(limit_s)), Style::plain};
}

// Builds scripts on demand.
class Scripts {
 public:
  Scripts(const Home& home, const Resolved& resolved) : home_(home), engine_(resolved.engine), simulator_(resolved.simulator) {}
  std::string of(const PlannedRun& run)
  {
    auto& launcher = launchers_[run.spec.resources.launcher];
    if (!launcher) launcher = jobs::make_launcher(run.spec.resources.launcher);
    const auto attempts = attempt_numbers(home_.run(run.key));
    const AttemptFolder attempt(home_.run(run.key), attempts.empty() ? 1 : attempts.back() + 1);
    // The script may be shown or logged, so secrets are masked.
    auto shown = run;
    shown.spec = without_secrets(run.spec);
    return jobs::batch_script({shown, attempt, run.spec.is_simulated() ? simulator_ : engine_,
                               fs::absolute(home_.data_place(run.spec.data)).string(), agent_program().string(),
                               fs::absolute(home_.root()).string()},
                              *launcher);
  }

 private:
  Home home_;
  std::string engine_, simulator_;
  std::map<std::string, std::unique_ptr<jobs::Launcher>> launchers_;
};

Table plan_table(const Resolved& resolved, const Standings& standings, Scripts* scripts)
{
  Table table{"runs",
              {{"key", "key"},
               {"name", "run"},
               {"ranks", "ranks", Align::right},
               {"cores", "cores", Align::right, 2},
               {"time_limit_s", "limit", Align::right, 1},
               {"core_hours", "core-h", Align::right, 1},
               {"state", "state"},
               {"submit", ""},
               {"reason", "why"}},
              {},
              "no runs"};
  if (scripts != nullptr) table.columns.push_back({"script", ""});
  table.rows.reserve(resolved.runs.size());
  for (std::size_t i = 0; i < resolved.runs.size(); ++i) {
    const auto& run = resolved.runs[i];
    const auto found = standings.find(run.key);
    const auto standing = found == standings.end() ? Standing{} : found->second;
    const auto key = resolved.without_data.contains(run.key) ? Cell{nullptr, "-", Style::dim} : key_cell(run.key);
    auto& row = table.rows.emplace_back(
        std::vector<Cell>{key, text_cell(resolved.study.run_names[i]), count_cell(run.spec.ranks()), count_cell(run.spec.cores()),
                          limit_cell(run.spec), real_cell(core_hours(run), 3), state_cell(standing.state),
                          data_cell(standing.would_be_submitted()), text_cell(reason(standing))});
    if (scripts != nullptr) row.push_back(data_cell(scripts->of(run)));
  }
  return table;
}

struct Totals {
  std::size_t to_submit = 0;
  double hours = 0, hours_to_submit = 0; // with all requeues
  double hours_without_requeues = 0;
  double node_hours = 0, node_hours_to_submit = 0; // of separate jobs, with all requeues
};

double node_hours_of(const PlannedRun& run)
{
  const auto& resources = run.spec.resources;
  return static_cast<double>(resources.nodes * resources.time_limit_s * most_starts(run.spec)) / 3600;
}

// The runs of a ladder; none for any other recipe.
std::vector<const RunSpec*> ladder_runs(const Resolved& resolved, const Standings& standings, bool missing_only)
{
  std::vector<const RunSpec*> runs;
  for (const auto& run : resolved.runs) {
    const auto found = standings.find(run.key);
    const bool is_missing = found == standings.end() || found->second.would_be_submitted();
    if (run.spec.study.layout == StudyLayout::ladder && (is_missing || !missing_only)) runs.push_back(&run.spec);
  }
  return runs;
}

void print_node_hours(Context& context, const Resolved& resolved, const Standings& standings)
{
  const auto all = ladder_runs(resolved, standings, false), missing = ladder_runs(resolved, standings, true);
  if (all.empty()) return;
  const auto hours = node_hours(all), to_submit = node_hours(missing);
  Json data{{"ladder", hours.ladder},
            {"separate", hours.separate},
            {"ladder_to_submit", to_submit.ladder},
            {"separate_to_submit", to_submit.separate}};
  context.out.field("node_hours", "node-hours", {std::move(data), describe(hours), Style::plain});
  if (!missing.empty() && missing.size() < all.size()) context.out.field("", "to be submitted", text_cell(describe(to_submit)));
}

// If the machine profile has a price, prints the highest cost of the runs: node-hours by the time limits, times the price. Runs
// on this machine and simulated runs are counted in the same way.
void print_cost(Context& context, const Resolved& resolved, const Standings& standings, const Totals& totals)
{
  if (!resolved.price) return;
  const auto all = ladder_runs(resolved, standings, false), missing = ladder_runs(resolved, standings, true);
  const auto cost = cost_cell(all.empty() ? totals.node_hours : node_hours(all).ladder, *resolved.price);
  const auto to_submit = cost_cell(all.empty() ? totals.node_hours_to_submit : node_hours(missing).ladder, *resolved.price);
  context.out.field("cost", "cost",
                    {Json{{"all", cost.value},
                          {"to_submit", to_submit.value},
                          {"node_hour", resolved.price->node_hour},
                          {"currency", resolved.price->currency}},
                     fmt::format("at most {} by the time limits, of which {} would be submitted", cost.text, to_submit.text),
                     Style::plain});
}

// Prints how many runs dtsim will simulate, and the estimate of their real time in all and of the largest one's memory.
void print_simulations(Context& context, const Resolved& resolved)
{
  std::size_t runs = 0;
  SimulationCost all;
  for (const auto& run : resolved.runs) {
    if (!run.spec.is_simulated()) continue;
    const auto cost = simulation_cost(run.spec);
    ++runs;
    all.real_s += cost.real_s;
    all.memory_bytes = std::max(all.memory_bytes, cost.memory_bytes);
  }
  if (runs == 0) return;
  context.out.field("simulations", "simulations",
                    {Json{{"runs", runs}, {"real_s", all.real_s}, {"memory_bytes", all.memory_bytes}},
                     fmt::format("{}, about {} of real time on one core, each with at most about {} of memory",
                                 counted(runs, "run"), format_seconds(all.real_s), format_bytes(all.memory_bytes)),
                     Style::plain});
}

Totals totals_of(const Resolved& resolved, const Standings& standings)
{
  Totals totals;
  for (const auto& run : resolved.runs) {
    const auto found = standings.find(run.key);
    totals.hours += core_hours(run);
    totals.node_hours += node_hours_of(run);
    totals.hours_without_requeues += core_hours_a_start(run);
    if (found != standings.end() && !found->second.would_be_submitted()) continue;
    ++totals.to_submit;
    totals.hours_to_submit += core_hours(run);
    totals.node_hours_to_submit += node_hours_of(run);
  }
  return totals;
}

// Returns "at most 24 by the time limits and with every requeue (6 without requeues), of which 12 would be submitted".
std::string describe(const Totals& totals)
{
  const bool has_requeues = totals.hours > totals.hours_without_requeues;
  return fmt::format(
      "at most {} by the time limits{}, of which {} would be submitted", real_cell(totals.hours).text,
      has_requeues ? fmt::format(" and with every requeue ({} without requeues)", real_cell(totals.hours_without_requeues).text)
                   : "",
      real_cell(totals.hours_to_submit).text);
}

void print_scripts(Context& context, const Resolved& resolved, Scripts& scripts)
{
  for (std::size_t i = 0; i < resolved.runs.size(); ++i) {
    context.out.heading("# " + resolved.study.run_names[i] + "  " + short_key(resolved.runs[i].key));
    context.out.block("", scripts.of(resolved.runs[i]));
  }
}

} // namespace

ExitCode print_dry_run(Context& context, const Home& home, const Resolved& resolved, bool all_scripts)
{
  auto standings = standings_of(context, home, resolved);
  add_refusals(resolved, standings);
  std::vector<std::string> refusals;
  for (const auto& run : resolved.runs)
    if (const auto found = standings.find(run.key); found != standings.end()) refusals.push_back(found->second.refusal);
  Scripts scripts(home, resolved);
  const auto totals = totals_of(resolved, standings);
  const auto count = resolved.runs.size();
  context.out.table(plan_table(resolved, standings, context.json ? &scripts : nullptr));
  print_refusals(context, refusals);
  print_reasons(context, "misfits", "cannot start", misfits_of(context, home, resolved, standings));
  if (!resolved.without_data.empty())
    context.messages.warn("{} of {} runs cannot be submitted before their data set is there, and their keys are known then",
                          resolved.without_data.size(), count);
  context.out.field("study", "study",
                    {resolved.study.id, resolved.study.name + " (" + short_key(resolved.study.id) + ")", Style::strong});
  context.out.field("run_count", "runs",
                    {count, fmt::format("{}, of which {} would be submitted", count, totals.to_submit), Style::plain});
  context.out.field("core_hours", "core-hours", {totals.hours, describe(totals), Style::plain});
  print_node_hours(context, resolved, standings);
  print_cost(context, resolved, standings, totals);
  print_simulations(context, resolved);
  print_planned_sizes(context, home, resolved);
  for (const auto& note : resolved.notes) context.out.field("", "note", text_cell(note));
  context.out.data("notes", resolved.notes);
  context.out.data("to_submit", totals.to_submit);
  context.out.data("core_hours_to_submit", totals.hours_to_submit);
  context.out.data("core_hours_without_requeues", totals.hours_without_requeues);
  if (all_scripts && !context.json) print_scripts(context, resolved, scripts);
  if (!all_scripts && !context.json) context.messages.info("nothing was submitted. Add --scripts to print the job scripts.");
  return ExitCode::ok;
}

} // namespace dt::cli
