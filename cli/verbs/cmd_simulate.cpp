// dtctl simulate: a measured program on another machine, on more nodes, under other strategies.
#include "cli/answers/doubt_output.hpp"
#include "cli/answers/scaling_table.hpp"
#include "cli/answers/verdict_output.hpp"
#include "cli/checks/input_checks.hpp"
#include "cli/recipe_text/simulation_text.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/submission/submission.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/record/attempt_files.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/compute_profile.hpp"
#include "core/text.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/doubts.hpp"
#include "store/query/scaling_query.hpp"

#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct SimulateOptions {
  std::string study = "last", platform, nodes = "1..64", strategies = "sync-sgd";
  std::int64_t ranks_per_node = 0; // 0: as many as were measured
  std::vector<std::string> set;
  bool dry_run = false;
};

// A run with its compute profile.
struct MeasuredProgram {
  const RunView* run = nullptr;
  fs::path file;
};

fs::path profile_file(const Home& home, const RunView& run)
{
  return AttemptFolder(home.run(run.row.key), run.row.attempt).path_of(AttemptFile::compute_profile);
}

// The one with the fewest ranks, which disturb each other least; of these the newest.
MeasuredProgram measured_program(const Home& home, const Selection& selection, const std::string& asked)
{
  MeasuredProgram best;
  for (const auto& run : selection.runs) {
    const auto file = profile_file(home, run);
    if (run.row.state != RunState::succeeded || !is_there(file)) continue;
    const bool is_better = best.run == nullptr || run.row.ranks < best.run->row.ranks ||
                           (run.row.ranks == best.run->row.ranks && run.row.begin_unix_s > best.run->row.begin_unix_s);
    if (is_better) best = {&run, file};
  }
  if (best.run == nullptr)
    throw Error(
        ErrorKind::usage,
        fmt::format("{} has no succeeded run with a compute profile. dtctl takes one of a PyTorch program that it observes "
                    "(program.observe) and that makes at least 16 steps; a run on one rank is enough. For a model of "
                    "dtengine, measure one with dtbench compute --profile and name it in train.compute_profile",
                    printable(asked)));
  return best;
}

// Platforms are names, or paths that the recipe, which lies in the home, must find from there.
std::string platform_of(const std::string& asked)
{
  const bool is_path = asked.find('/') != asked.npos || asked.ends_with(".yaml");
  return is_path ? fs::absolute(asked).string() : asked;
}

// "ethernet-10g" of "platforms/ethernet-10g.yaml".
std::string name_of_platform(const std::string& platform) { return fs::path(platform).stem().string(); }

// Whether the samples of a step stay when the program gets more ranks: as its sizes have recorded them; of one size alone, as the
// study's kind says.
bool is_strong(ResultsStore& results, const Selection& selection, const MeasuredProgram& measured)
{
  if (!selection.study) return false;
  const auto rules = store::batch_rules_of_study(results.database(), selection.study->id);
  const auto rule = rules.find(measured.run->row.series);
  if (rule == rules.end() || !rule->second.is_recorded) return selection.study->kind == "strong";
  return rule->second.is_strong();
}

// Writes the recipe and the profile into the home, where a later call finds them again. Returns the recipe's path.
fs::path write_recipe(ResultsStore& results, const Selection& selection, const MeasuredProgram& measured,
                      const SimulateOptions& options)
{
  const auto& home = results.home();
  const auto spec = read_planned_run(home.run(measured.run->row.key)).spec;
  const auto profile = read_compute_profile(measured.file.string());
  const auto platform = platform_of(options.platform);
  SimulationChoices choices{.name = spec.name + "-on-" + name_of_platform(platform),
                            .program = profile.model,
                            .platform = platform,
                            .profile = {},
                            .batch_per_rank = is_strong(results, selection, measured) ? 0 : profile.batch,
                            .global_batch = profile.batch * spec.ranks(),
                            .ranks_per_node = options.ranks_per_node > 0 ? options.ranks_per_node : spec.resources.ranks_per_node,
                            .threads_per_rank = profile.threads,
                            .nodes = parse_node_counts(options.nodes),
                            .strategies = parse_simulated_strategies(options.strategies)};
  const auto folder = fs::absolute(home.simulations() / choices.name);
  choices.profile = folder / (measured.run->row.key + ".json");
  fs::create_directories(folder);
  write_file_atomic(choices.profile, read_file(measured.file));
  const auto recipe = folder / "recipe.yaml";
  write_file_atomic(recipe, simulation_recipe(choices));
  return recipe;
}

// Prints the points of the study and its verdict.
std::vector<store::ScalingRow> print_answer(Context& context, ResultsStore& results, const std::string& study_id)
{
  Selector selector;
  selector.what = study_id;
  const auto selection = select(results, selector);
  const auto rows = rows_of(selection.runs);
  const auto figures = store::figures_of(rows);
  const auto points = store::scaling_of(figures, store::sizes_of_kind(selection.study->kind));
  context.out.table(without_empty_columns(scaling_table(points, labels_of(selection))));
  const auto doubts = store::doubts_of(results.database(), study_id, keys_of(selection.runs));
  print_verdict(context, verdict_of(selection.study->kind, compared_points(selection, figures), points, deciding_facts(doubts)));
  return points;
}

// One rank without others computes as it was measured, on any platform. A short simulation of steps that vary much may deviate.
void compare_one_rank(Context& context, const std::vector<store::ScalingRow>& points, double measured)
{
  constexpr double tolerance = 0.05;
  for (const auto& point : points) {
    if (point.ranks != 1 || !(std::abs(point.throughput / measured - 1) > tolerance)) continue;
    context.messages.warn("{}on 1 rank {} samples/s were simulated, and {} were measured: the measured steps vary so much that "
                          "the simulated ones do not tell their mean. Simulate more of them: --set train.steps=400",
                          point.label.empty() ? "" : point.label + ": ", real_cell(point.throughput).text,
                          real_cell(measured).text);
  }
}

ExitCode simulate(Context& context, const SimulateOptions& options)
{
  RecipeOptions recipe;
  recipe.set = options.set;
  double throughput_of_one_rank = not_measured;
  {
    ResultsStore results(context);
    Selector selector;
    selector.what = options.study;
    const auto selection = select(results, selector);
    const auto measured = measured_program(results.home(), selection, options.study);
    recipe.recipe = write_recipe(results, selection, measured, options).string();
    if (measured.run->row.ranks == 1) throughput_of_one_rank = measured.run->row.figure("throughput");
    context.messages.info("Computes as run {} did on {}; the recipe is {}", short_key(measured.run->row.key),
                          counted(measured.run->row.ranks, "rank"), recipe.recipe);
  }
  auto plan = load_plan(context, recipe);
  warn_of(context, plan);
  check_inputs(context, context.home(), plan);
  auto resolved = resolve(context.home(), std::move(plan), MissingData::accept);
  SubmissionOptions submission;
  submission.dry_run = options.dry_run;
  if (options.dry_run) return submit(context, std::move(resolved), submission);
  submission.wait = true;
  ResultsStore results(context);
  const auto code = submit_and_wait(context, results, resolved, submission);
  if (code == ExitCode::ok || code == ExitCode::runs_failed)
    compare_one_rank(context, print_answer(context, results, resolved.study.id), throughput_of_one_rank);
  return code;
}

} // namespace

void add_simulate(Commands& commands)
{
  auto options = std::make_shared<SimulateOptions>();
  auto& verb = commands.add(
      {"simulate", understand_verbs, "Simulate a measured program on another machine, on more nodes, under other strategies.",
       "The computation is that of a run of the study: of a PyTorch program that dtctl has observed, its compute profile.\n"
       "Nothing else of the program runs: its gradients are exchanged by dtctl's strategies, on the links of the platform\n"
       "(dtctl recipe platforms lists them; a file with a `platform:` block describes your own). The runs are a study of\n"
       "their own, so that results, compare, report and query know them, too.\n"
       "\n"
       "Examples:\n"
       "  dtctl simulate last --platform ethernet-25g --nodes 1..256\n"
       "  dtctl simulate mine --platform fat-tree --nodes 16,64 --strategy sync-sgd,hsgd,diloco:period=32"},
      [options](Context& context) { return simulate(context, *options); });
  verb.add_option("STUDY", options->study, "last (default: the newest study), or the name or id of a study or a run")
      ->type_name("STUDY");
  verb.add_option("--platform", options->platform, "the machine: a shipped platform, or a file with a `platform:` block")
      ->type_name("PLATFORM")
      ->required();
  verb.add_option("--nodes", options->nodes, "numbers of nodes: 1,4,16, or by doubling 1..1024 (default 1..64)")
      ->type_name("N,N,...");
  verb.add_option("--strategy", options->strategies,
                  "strategies, each with values of its keys: sync-sgd,diloco:period=32 (default sync-sgd)")
      ->type_name("NAME,...");
  verb.add_option("--ranks-per-node", options->ranks_per_node, "ranks on a node (default: as measured)")->type_name("N");
  verb.add_list("--set", options->set, "set a key of the recipe that is written: sync.wire=bfloat16, train.steps=400")
      ->type_name("KEY=VALUE");
  verb.add_flag("-n,--dry-run", options->dry_run, "print the runs and what their simulation takes, and submit nothing");
}

} // namespace dt::cli
