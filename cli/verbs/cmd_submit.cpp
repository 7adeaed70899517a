// dtctl submit, sweep, plan: turn a recipe into jobs.
#include "cli/checks/input_checks.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/submission/race_loop.hpp"
#include "cli/submission/submission.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"

#include <memory>

namespace dt::cli {
namespace {

struct SubmitCommand {
  RecipeOptions recipe;
  SubmissionOptions submission;
  bool until_decided = false;
};

ExitCode submit_checked(Context& context, recipes::Plan plan, const SubmissionOptions& options)
{
  warn_of(context, plan);
  check_inputs(context, context.home(), plan);
  const auto missing = options.dry_run ? MissingData::accept : MissingData::refuse;
  return submit(context, resolve(context.home(), std::move(plan), missing), options);
}

ExitCode submit_one(Context& context, const SubmitCommand& command)
{
  auto plan = load_plan(context, command.recipe);
  if (plan.kind != recipes::PlanKind::single)
    throw Error(ErrorKind::usage, plan.name + " asks for " + describe(plan) +
                                      ", but submit takes a single run; use: dtctl sweep " + shell_quote(command.recipe.recipe));
  return submit_checked(context, std::move(plan), command.submission);
}

ExitCode submit_all(Context& context, const SubmitCommand& command)
{
  if (command.until_decided) return sweep_until_decided(context, command.recipe, command.submission);
  return submit_checked(context, load_plan(context, command.recipe), command.submission);
}

constexpr const char* submission_details =
    "Only runs that are missing or failed are submitted: the key of a run is a hash of all that went into it.\n"
    "Arguments after -- are passed to the cluster's scheduler, like resources.scheduler_args.\n";

} // namespace

void add_submit(Commands& commands)
{
  auto command = std::make_shared<SubmitCommand>();
  auto& verb =
      commands.add({"submit", run_verbs, "Submit a recipe that asks for one run.",
                    std::string(submission_details) + "\nExample:\n  dtctl submit lenet.yaml --set train.epochs=5 --wait"},
                   [command](Context& context) { return submit_one(context, *command); });
  add_recipe_options(verb, command->recipe);
  add_submission_options(verb, command->submission);
  commands.pass_rest(verb, command->submission.scheduler_args);
}

void add_sweep(Commands& commands)
{
  auto command = std::make_shared<SubmitCommand>();
  auto& verb = commands.add({"sweep", run_verbs, "Submit every run of a recipe's sweep or scaling study.",
                             std::string(submission_details) +
                                 "With --until-decided, only points whose decision is open get more repeats; see study.until.\n\n"
                                 "Examples:\n  dtctl sweep quickstart --over optimizer.learning_rate=0.02,0.05 --wait\n"
                                 "  dtctl sweep study.yaml --until-decided\n"
                                 "  dtctl sweep study.yaml --profile cluster -- --reservation=team"},
                            [command](Context& context) { return submit_all(context, *command); });
  add_recipe_options(verb, command->recipe);
  add_over_option(verb, command->recipe);
  add_submission_options(verb, command->submission);
  verb.add_flag("--until-decided", command->until_decided,
                "repeat runs, round by round, until the study's decision is made (see study.until); waits for them");
  commands.pass_rest(verb, command->submission.scheduler_args);
}

void add_plan(Commands& commands)
{
  auto command = std::make_shared<SubmitCommand>();
  command->submission.dry_run = true;
  auto& verb = commands.add({"plan", write_verbs,
                             "Print every run of a recipe, its key and whether it would be submitted; submit nothing.",
                             "The same as sweep --dry-run. With --json, every run holds its job script.\n\n"
                             "Example:\n  dtctl plan quickstart --scripts"},
                            [command](Context& context) { return submit_all(context, *command); });
  add_recipe_options(verb, command->recipe);
  add_over_option(verb, command->recipe);
  verb.add_flag("--scripts", command->submission.scripts, "also print the job script of every run");
  commands.pass_rest(verb, command->submission.scheduler_args);
}

} // namespace dt::cli
