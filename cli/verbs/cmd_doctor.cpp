// dtctl doctor: checks this machine and advises what to do about problems.
#include "cli/checks/launcher_trial.hpp"
#include "cli/checks/machine.hpp"
#include "cli/command/context.hpp"
#include "cli/command/interrupt.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// Runs the job of dtctl doctor --launchers and reads its results.

struct LauncherTrial {
  std::string profile; // empty: the default profile, if there is one
  std::int64_t nodes = 2;
};

namespace fs = std::filesystem;

constexpr double patience_s = 600; // longest wait in the queue
constexpr double look_every_s = 2;

// The scheduler of a cluster: the first one that other users share.
std::string cluster_scheduler()
{
  const auto rows = scheduler_rows();
  const auto found = std::ranges::find_if(rows, [](const SchedulerRow& row) { return row.serves_other_users; });
  return std::string(found->name.name);
}

// The profile's settings with the trial's size. To get them, applies the profile to a minimal recipe.
RunSpec profile_spec(const fs::path& folder, const std::string& scheduler, const LauncherTrial& trial)
{
  const auto recipe = folder / "recipe.yaml";
  write_file_atomic(recipe, fmt::format("version: 1\nname: launchers\nmodel: {{ name: lenet }}\ndata: {{ name: synthetic }}\n"
                                        "train: {{ batch_per_rank: 1, steps: 1, warmup_steps: 0 }}\n"
                                        "resources: {{ nodes: {}, scheduler: {} }}\n",
                                        trial.nodes, scheduler));
  RecipeOptions options;
  options.recipe = recipe.string();
  options.profile = trial.profile;
  return recipes::load_plan(find_recipe(options.recipe), load_options(options)).runs.front();
}

jobs::TrialJob job_of(const RunSpec& spec, const fs::path& folder, std::size_t ways)
{
  const auto script = folder / "script";
  return {.folder = folder,
          .work_dir = folder,
          .script = read_file(script),
          .command = script.string(),
          .resources = spec.resources,
          .time_limit_min = 1 + static_cast<std::int64_t>(ways) * tries_a_way * (try_limit_s + 5) / 60};
}

// Waits until the job has written `done` or has ended without it. Returns why the scheduler could not run it, if it could not.
std::string wait_for_end(Context& context, jobs::Site& site, const std::string& id, const jobs::TrialJob& job)
{
  using State = jobs::JobStatus::State;
  const Interrupt interrupt;
  const double begin = now_unix_s();
  while (!fs::exists(job.folder / "done")) {
    const auto now = site.look(id, job);
    const auto state = now.status.state;
    if (state != State::queued && state != State::running) return now.status.cause;
    if (state == State::queued && now_unix_s() - begin > patience_s) {
      site.end(id);
      throw Error(ErrorKind::scheduler,
                  fmt::format("{} did not start job {} in {} ({}); it was cancelled. Try again when the cluster is less busy",
                              site.title(), id, format_duration(patience_s), now.native_reason));
    }
    interrupt.sleep_s(look_every_s);
    if (interrupt.signal() == 0) continue;
    site.end(id);
    context.messages.info("job {} was cancelled", id);
    interrupt.obey();
  }
  return {};
}

void require_outcome(const std::vector<TrialOutcome>& outcomes, const std::string& id, const std::string& cause,
                     const fs::path& folder)
{
  if (std::any_of(outcomes.begin(), outcomes.end(), [](const TrialOutcome& outcome) { return outcome.tries > 0; })) return;
  if (!cause.empty()) throw Error(ErrorKind::scheduler, fmt::format("job {} {}", id, cause));
  const auto said = trim(read_file_if_exists(folder / "log").value_or(""));
  throw Error(ErrorKind::scheduler,
              fmt::format("job {} ended without trying a launcher{}; its folder is {}", id,
                          said.empty() ? std::string() : ": " + printable(std::string(said)), folder.string()));
}

// Submits the job, waits for its end (Ctrl-C cancels it) and judges the results. Throws a scheduler error if the scheduler
// cannot be reached, refuses the job or does not start it in time. The folder <home>/doctor/<time> with the outputs is not
// deleted.
std::vector<Finding> try_launchers(Context& context, const LauncherTrial& trial)
{
  const auto folder = fs::absolute(context.home().root()) / "doctor" / fmt::format("{:.0f}", now_unix_s() * 1000);
  make_folders(folder);
  const auto scheduler = cluster_scheduler();
  const auto spec = profile_spec(folder, scheduler, trial);
  const auto site = jobs::scheduler_kind(scheduler).open_site();
  const auto ways = launch_ways(site->mpi_plugins());
  write_file_atomic(folder / "script", trial_script(spec, ways, engine_program().string(), agent_program().string(), folder));
  const auto job = job_of(spec, folder, ways.size());
  const auto id = site->submit(job);
  context.messages.info("job {} starts {} ranks on {} nodes in {} ways, {} times each; Ctrl-C cancels it", id, spec.ranks(),
                        spec.resources.nodes, ways.size(), tries_a_way);
  const auto cause = wait_for_end(context, *site, id, job);
  const auto outcomes = read_outcomes(ways, folder, spec.ranks(), spec.resources.nodes);
  require_outcome(outcomes, id, cause, folder);
  context.out.field("folder", "outputs", text_cell(folder.string()));
  return judge_outcomes(outcomes);
}

Style style_of(Level level)
{
  switch (level) {
  case Level::ok:
    return Style::plain;
  case Level::warn:
    return Style::warning;
  case Level::fail:
    return Style::bad;
  }
  return Style::plain;
}

ExitCode print_findings(Context& context, const std::vector<Finding>& findings)
{
  Json list = Json::array();
  for (const auto& finding : findings) {
    const auto advice = finding.advice.empty() ? "" : ": " + finding.advice;
    context.out.field("", fmt::format("{:<4}  {}", name_of(finding.level), finding.check),
                      text_cell(finding.found + advice, style_of(finding.level)));
    list.push_back(
        {{"check", finding.check}, {"level", name_of(finding.level)}, {"found", finding.found}, {"advice", finding.advice}});
  }
  context.out.data("findings", std::move(list));
  const auto count = [&](Level level) {
    return std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.level == level; });
  };
  const auto warnings = count(Level::warn), failures = count(Level::fail);
  context.out.field("summary", "in all",
                    {{{"ok", count(Level::ok)}, {"warn", warnings}, {"fail", failures}},
                     fmt::format("{} ok, {}, {}", count(Level::ok), counted(warnings, "warning"), counted(failures, "failure")),
                     failures > 0 ? Style::bad : Style::good});
  return failures > 0 ? ExitCode::environment : ExitCode::ok;
}

struct DoctorOptions {
  bool launchers = false;
  LauncherTrial trial;
};

ExitCode doctor(Context& context, const DoctorOptions& options)
{
  return print_findings(context, options.launchers ? try_launchers(context, options.trial) : check_machine(context.home()));
}

} // namespace

void add_doctor(Commands& commands)
{
  auto options = std::make_shared<DoctorOptions>();
  auto& verb = commands.add({"doctor", keep_verbs,
                             "Say what works on this machine (engine, MPI, cores, Slurm, file system) and what to do about it.",
                             "Starts two ranks with mpirun. Exit 74 if something must be repaired before runs can work.\n"
                             "With --launchers, a short job on the cluster starts ranks on several nodes with mpirun and with "
                             "srun and each of its MPI\n"
                             "plugins, several times each. dtctl then prints which launcher the profile should name.\n\n"
                             "Example:\n  dtctl doctor --launchers --profile cluster"},
                            [options](Context& context) { return doctor(context, *options); });
  verb.add_flag("--launchers", options->launchers, "submit a short job to Slurm that tries every launcher");
  verb.add_option("--profile", options->trial.profile, "with --launchers: the machine profile to try")->type_name("NAME");
  verb.add_option("--nodes", options->trial.nodes, "with --launchers: nodes of the job (2)")
      ->type_name("N")
      ->check(positive_number());
}

} // namespace dt::cli
