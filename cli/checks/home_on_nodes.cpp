#include "cli/checks/home_on_nodes.hpp"

#include "cli/command/interrupt.hpp"
#include "core/file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/words.hpp"
#include "store/database/file_system.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;
namespace slurm = jobs::slurm;

constexpr double patience_s = 30; // longest wait for a free node
constexpr double late_file_s = 5; // how late a shared file system may show a new file
constexpr double look_every_s = 0.5;
constexpr const char* remedy = "set DTCTL_HOME to a folder that all nodes share; until then runs on Slurm fail";

fs::path slurm_folder(const Home& home) { return fs::absolute(home.root()) / "slurm"; }

store::FileSystem file_system_of(const Home& home)
{
  auto folder = fs::absolute(home.root());
  while (!fs::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  return store::file_system_at(folder);
}

// Only a node creates the log of a batch.
bool has_log_of_node(const Home& home)
{
  const auto folder = slurm_folder(home);
  const auto has_log = [&](const std::string& batch) {
    if (!is_folder(folder / batch)) return false;
    const auto names = names_in(folder / batch);
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("log"); });
  };
  const auto batches = names_in(folder);
  return std::any_of(batches.begin(), batches.end(), has_log);
}

slurm::SlurmJob probe_job(const fs::path& folder)
{
  slurm::SlurmJob job;
  job.name = "dtctl-doctor";
  job.comment = "dtctl:doctor";
  job.script = "#!/bin/bash\nhostname\n";
  job.script_path = "hostname";
  job.work_dir = "/";
  job.out_path = slurm::slurm_output(folder, slurm::BatchKind::single);
  job.environment = jobs::environment_to_keep();
  job.time_limit_min = 1;
  return job;
}

// The job as Slurm shows it when it has ended. Nothing if it did not start in time; it is cancelled then.
std::optional<slurm::SlurmRecord> await_end(slurm::SlurmApi& api, std::uint32_t id)
{
  const Interrupt interrupt;
  for (const double begin = now_unix_s(); interrupt.signal() == 0; interrupt.sleep_s(look_every_s)) {
    const auto jobs = api.load_jobs();
    const auto job = std::find_if(jobs.begin(), jobs.end(), [&](const slurm::SlurmRecord& one) { return one.id == id; });
    if (job == jobs.end()) return slurm::SlurmRecord{}; // it ended, and Slurm has forgotten it
    if (slurm::status_of(*job).state == jobs::JobStatus::State::ended) return *job;
    const bool waits = slurm::status_of(*job).state == jobs::JobStatus::State::queued;
    if (waits && now_unix_s() - begin > patience_s) break;
  }
  api.kill(std::to_string(id));
  if (interrupt.signal() != 0) interrupt.obey();
  return std::nullopt;
}

std::string output_of(const fs::path& log)
{
  for (const double begin = now_unix_s();;) {
    const auto text = std::string(trim(read_file_if_exists(log).value_or("")));
    if (!text.empty() || now_unix_s() - begin > late_file_s) return text;
    Interrupt().sleep_s(look_every_s);
  }
}

Finding probe(const Home& home, const std::string& where, slurm::SlurmApi& api)
{
  const auto folder = slurm_folder(home) / "doctor";
  make_folders(folder);
  std::error_code none;
  fs::remove(folder / "log", none);
  const auto id = api.submit(probe_job(folder));
  const auto job = await_end(api, id);
  if (!job)
    return {"home on nodes", Level::warn,
            fmt::format("{}; whether the nodes see it is unknown, because Slurm did not start a job within {}", where,
                        format_duration(patience_s)),
            "try again when a node is free"};
  const auto status = slurm::status_of(*job, folder.string());
  if (status.outcome) return {"home on nodes", Level::warn, fmt::format("{}; a job {}", where, status.cause), ""};
  const auto host = output_of(folder / "log");
  if (!host.empty()) return {"home on nodes", Level::ok, fmt::format("{}; {} can write it", where, printable(host)), ""};
  return {"home on nodes", Level::warn,
          fmt::format("{}; job {} ended on {}, but its output is not in {}: the node has another folder at this path", where, id,
                      job->nodes.empty() ? "a node" : job->nodes, folder.string()),
          remedy};
}

} // namespace

std::optional<std::string> doubt_of_home_on_nodes(const Home& home)
{
  const auto system = file_system_of(home);
  if (system.shared || has_log_of_node(home)) return std::nullopt;
  return fmt::format(
      "the home {} is on {}, which may be on this machine only, and no node has written to it yet; if the nodes do "
      "not see it, every run fails. To check it: dtctl doctor",
      printable(home.root().string()), system.name);
}

Finding check_home_on_nodes(const Home& home, slurm::SlurmApi& api)
{
  const auto system = file_system_of(home);
  const auto where = fmt::format("{} is on {}", printable(home.root().string()), system.name);
  if (system.shared) return {"home on nodes", Level::ok, where + ", which machines share", ""};
  try {
    return probe(home, where, api);
  } catch (const slurm::SlurmFailure& failure) {
    return {"home on nodes", Level::warn,
            fmt::format("{}; whether the nodes see it is unknown, because Slurm refuses a job: {}", where, failure.what()),
            "try a profile with partition and account: dtctl doctor --launchers --profile NAME"};
  } catch (const Error& error) {
    return {"home on nodes", Level::warn, error.what(), ""};
  }
}

} // namespace dt::cli
