// dtctl sweep: turns a recipe into jobs.
#include "cli/checks/input_checks.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/submission/raced_sweep.hpp"
#include "cli/submission/submission.hpp"
#include "cli/submission/tuned_sweep.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/machine/host_list.hpp"
#include "core/text.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct SweepCommand {
  RecipeOptions recipe;
  SubmissionOptions submission;
  bool until_decided = false, distribute = false;
  std::string when_idle;
  RecipeOptions asked() const
  {
    auto options = recipe;
    if (!when_idle.empty()) options.set.push_back("resources.when_idle=" + when_idle);
    return options;
  }
};

ExitCode submit_checked(Context& context, recipes::Plan plan, const SubmissionOptions& options)
{
  warn_of(context, plan);
  check_inputs(context, context.home(), plan);
  const auto missing = options.dry_run ? MissingData::accept : MissingData::refuse;
  return submit(context, resolve(context.home(), std::move(plan), missing), options);
}

// The options for the same run on every node that its scheduler or resources.hosts has, each alone. Throws a usage error if the
// recipe asks for several runs or nodes, or if there are no nodes to choose from.
RecipeOptions on_every_node(Context& context, const RecipeOptions& recipe)
{
  const auto plan = load_plan(context, recipe);
  const auto& run = plan.runs.front();
  const auto is_same = [&](const RunSpec& other) { return other.label == run.label && other.resources.nodes == 1; };
  if (!std::ranges::all_of(plan.runs, is_same))
    throw Error(ErrorKind::usage,
                fmt::format("--distribute starts the same run on each node alone, but {} asks for {}{}; give it a "
                            "recipe of one run with resources.nodes: 1 (repeats are allowed)",
                            plan.name, describe(plan),
                            run.resources.nodes == 1 ? "" : fmt::format(" on {} nodes", run.resources.nodes)));
  const auto nodes = jobs::scheduler_kind(run.resources.scheduler).nodes(run.resources);
  if (nodes.empty())
    throw Error(ErrorKind::usage, fmt::format("--distribute found no node for {}; name hosts in resources.hosts, or a cluster's "
                                              "scheduler and a resources.partition with nodes that are up (sinfo)",
                                              plan.name));
  auto options = recipe;
  options.set.push_back("name=" + plan.name + "-nodes");
  options.over.push_back("resources.nodelist=" + join(nodes, ","));
  context.messages.info("the run is started on each of {}: {}; dtctl results {}-nodes compares them",
                        counted(nodes.size(), "node"), compact_hosts(nodes), plan.name);
  return options;
}

// Nobody is there to run the command when dtctl has submitted the runs and ended.
void require_wait(const SweepCommand& command)
{
  if (command.submission.notify.empty() || command.submission.wait || command.until_decided) return;
  throw Error(ErrorKind::usage, "--notify needs --wait: dtctl runs the command itself when the runs have ended. Of runs that are "
                                "submitted already: dtctl status --follow --notify COMMAND");
}

ExitCode sweep(Context& context, const SweepCommand& command)
{
  require_wait(command);
  if (command.until_decided) return sweep_until_decided(context, command.asked(), command.submission);
  auto recipe = command.distribute ? on_every_node(context, command.asked()) : command.asked();
  auto plan = load_plan(context, recipe);
  if (!plan.runs.front().study.tune.keys.empty()) return sweep_tuned(context, recipe, std::move(plan), command.submission);
  return submit_checked(context, std::move(plan), command.submission);
}

} // namespace

void add_sweep(Commands& commands)
{
  auto command = std::make_shared<SweepCommand>();
  auto& verb = commands.add(
      {"sweep", run_verbs, "Submit the runs of a recipe: one run, a sweep or a scaling study. `dtctl submit` is the same.",
       "Only runs that are missing or failed are submitted: the key of a run is a hash of all that went into it. Arguments\n"
       "after -- are passed to the cluster's scheduler, like resources.scheduler_args.\n\n"
       "Examples:\n"
       "  dtctl sweep quickstart --over optimizer.learning_rate=0.02,0.05 --wait\n"
       "  dtctl sweep study.yaml --profile cluster -- --reservation=team"},
      [command](Context& context) { return sweep(context, *command); });
  add_recipe_options(verb, command->recipe);
  add_over_option(verb, command->recipe);
  verb.add_option("--when-idle", command->when_idle,
                  "let runs wait, so long at most, until nothing else computes on this machine")
      ->type_name("DURATION");
  add_submission_options(verb, command->submission);
  auto* distribute = verb.add_flag("--distribute", command->distribute,
                                   "start a recipe of one run on every node of the partition or of resources.hosts, alone");
  verb.add_flag("--until-decided", command->until_decided,
                "repeat runs until the study's decision is made (see study.until); waits for them")
      ->excludes(distribute);
  commands.pass_rest(verb, command->submission.scheduler_args);
}

} // namespace dt::cli
