#include "cli/checks/trial_job.hpp"

#include "cli/checks/launcher_trial.hpp"
#include "cli/command/interrupt.hpp"
#include "cli/planning/recipe_options.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/paths.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace dt::cli {
namespace {

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

} // namespace

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

} // namespace dt::cli
