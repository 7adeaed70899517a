#include "cli/checks/trial_job.hpp"

#include "cli/checks/launcher_trial.hpp"
#include "cli/command/interrupt.hpp"
#include "cli/planning/recipe_options.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/load.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/words.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;
namespace slurm = jobs::slurm;

constexpr double patience_s = 600; // longest wait in the queue
constexpr double look_every_s = 2;

Error refused(const std::string& what, const slurm::SlurmFailure& failure)
{
  return {ErrorKind::scheduler, fmt::format("Slurm {}: {} ({})", what, failure.what(), failure.code())};
}

// The profile's settings with the trial's size. To get them, applies the profile to a minimal recipe.
RunSpec profile_spec(const fs::path& folder, const LauncherTrial& trial)
{
  const auto recipe = folder / "recipe.yaml";
  write_file_atomic(recipe, fmt::format("version: 1\nname: launchers\nmodel: {{ name: lenet }}\ndata: {{ name: synthetic }}\n"
                                        "train: {{ batch_per_rank: 1, steps: 1, warmup_steps: 0 }}\n"
                                        "resources: {{ nodes: {}, scheduler: slurm }}\n",
                                        trial.nodes));
  RecipeOptions options;
  options.recipe = recipe.string();
  options.profile = trial.profile;
  return recipes::load_plan(find_recipe(options.recipe), load_options(options)).runs.front();
}

slurm::SlurmJob job_of(const RunSpec& spec, const fs::path& folder, std::size_t ways)
{
  const auto& resources = spec.resources;
  slurm::SlurmJob job;
  job.name = "dtctl-doctor";
  job.comment = "dtctl:doctor";
  job.script_path = (folder / "script").string();
  job.script = read_file(job.script_path);
  job.work_dir = folder.string();
  job.out_path = slurm::slurm_output(folder, slurm::BatchKind::single);
  job.environment = jobs::environment_to_keep();
  job.nodes = resources.nodes;
  job.tasks_per_node = resources.ranks_per_node;
  job.tasks = spec.ranks();
  job.cpus_per_task = resources.threads_per_rank;
  job.time_limit_min = 1 + static_cast<std::int64_t>(ways) * tries_a_way * (try_limit_s + 5) / 60;
  job.partition = resources.partition;
  job.account = resources.account;
  job.qos = resources.qos;
  job.constraint = resources.constraint;
  slurm::apply_scheduler_args(resources.scheduler_args, job);
  return job;
}

// The job as Slurm shows it. Nothing if Slurm no longer shows it.
std::optional<slurm::SlurmRecord> find_job(slurm::SlurmApi& api, std::uint32_t id)
{
  for (auto& record : api.load_jobs())
    if (record.id == id) return std::move(record);
  return std::nullopt;
}

bool has_ended(const std::optional<slurm::SlurmRecord>& record)
{
  return !record || (record->base_state >= static_cast<std::uint32_t>(slurm::BaseState::complete) && !record->flags.completing);
}

// Waits until the job has written `done` or has ended without it. Returns why Slurm could not run it, if it could not.
std::string wait_for_end(Context& context, slurm::SlurmApi& api, std::uint32_t id, const fs::path& folder)
{
  const Interrupt interrupt;
  const double begin = now_unix_s();
  while (!fs::exists(folder / "done")) {
    const auto record = find_job(api, id);
    if (has_ended(record)) return record ? slurm::status_of(*record, folder.string()).cause : std::string();
    const bool waits = record->base_state == static_cast<std::uint32_t>(slurm::BaseState::pending);
    if (waits && now_unix_s() - begin > patience_s) {
      api.kill(std::to_string(id));
      throw Error(ErrorKind::scheduler,
                  fmt::format("Slurm did not start job {} in {} ({}); it was cancelled. Try again when the cluster is less busy",
                              id, format_duration(patience_s), record->reason));
    }
    interrupt.sleep_s(look_every_s);
    if (interrupt.signal() == 0) continue;
    api.kill(std::to_string(id));
    context.messages.info("job {} was cancelled", id);
    interrupt.obey();
  }
  return {};
}

void require_outcome(const std::vector<TrialOutcome>& outcomes, std::uint32_t id, const std::string& cause,
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
  const auto spec = profile_spec(folder, trial);
  const auto api = slurm::open_slurm();
  try {
    const auto ways = launch_ways(api->site().mpi_plugins);
    write_file_atomic(folder / "script", trial_script(spec, ways, engine_program().string(), agent_program().string(), folder));
    const auto id = api->submit(job_of(spec, folder, ways.size()));
    context.messages.info("job {} starts {} ranks on {} nodes in {} ways, {} times each; Ctrl-C cancels it", id, spec.ranks(),
                          spec.resources.nodes, ways.size(), tries_a_way);
    const auto cause = wait_for_end(context, *api, id, folder);
    const auto outcomes = read_outcomes(ways, folder, spec.ranks(), spec.resources.nodes);
    require_outcome(outcomes, id, cause, folder);
    context.out.field("folder", "outputs", text_cell(folder.string()));
    return judge_outcomes(outcomes);
  } catch (const slurm::SlurmFailure& failure) {
    throw refused("refuses the trial", failure);
  }
}

} // namespace dt::cli
