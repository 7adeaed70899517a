#include "jobs/slurm/slurm_site.hpp"

#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/slurm/access/load.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/job_builder.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/words.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

// Users often wait longer than this before they look at a sweep again.
constexpr std::int64_t short_memory_s = 300;

std::string time_text(std::int64_t seconds) { return format_duration(static_cast<double>(seconds)); }

SiteFinding judge_limits(const SlurmSite& site)
{
  const auto tasks = most_array_tasks(site);
  auto found = fmt::format(
      "arrays of up to {} tasks ({}), {} jobs of all users with each task counted (MaxJobCount), ended jobs kept {} (MinJobAge)",
      tasks, tasks < site.max_array_size ? "max_array_tasks" : "MaxArraySize", site.max_jobs, time_text(site.min_job_age_s));
  if (tasks < 2)
    return {"slurm limits", false, found, "job arrays are not available, so dtctl submits each run of a sweep as a separate job"};
  return {"slurm limits", true, found, ""};
}

SiteFinding judge_accounting(const SlurmSite& site, const std::string& trouble)
{
  if (site.has_accounting && !trouble.empty())
    return {"slurm accounting", false, "slurmdbd does not answer (" + trouble + ")",
            fmt::format("until it does, Slurm forgets an ended job after {} (MinJobAge), and a run whose node failed may then be "
                        "shown as lost; tell the administrators",
                        time_text(site.min_job_age_s))};
  if (site.has_accounting) return {"slurm accounting", true, "slurmdbd keeps ended jobs after the queue has forgotten them", ""};
  const auto found =
      fmt::format("none: Slurm forgets an ended job after {}; dtctl then uses the runs' files", time_text(site.min_job_age_s));
  if (site.min_job_age_s >= short_memory_s) return {"slurm accounting", true, found, ""};
  return {"slurm accounting", false, found,
          "use dtctl status --follow or --wait, which record what Slurm says; otherwise a run whose node failed may be shown as "
          "lost"};
}

SiteFinding judge_mpi(const SlurmSite& site)
{
  const auto plugins =
      site.mpi_plugins.empty() ? "no plugin was found in Slurm's folders" : "srun --mpi=" + join(site.mpi_plugins, ", ");
  const auto found = fmt::format("{}; by default {}", plugins, site.mpi_default.empty() ? "none" : site.mpi_default);
  return {"slurm mpi", true, found + "; to find out which launcher works: dtctl doctor --launchers", ""};
}

std::string words_for(const SlurmPartition& p)
{
  const auto limit = p.max_time_s > 0 ? ", at most " + time_text(p.max_time_s) : std::string();
  return fmt::format("{}{} ({} nodes, {} cores{}{})", p.name, p.is_default ? "*" : "", p.nodes, p.cpus, limit,
                     p.is_up ? "" : ", down");
}

} // namespace

std::vector<SiteFinding> judge_site(const SlurmSite& site, const std::string& controller, const std::string& accounting_trouble)
{
  return {{"slurm", true, fmt::format("{}, cluster {}, controller {} answers", site.version, site.cluster, controller), ""},
          judge_limits(site),
          judge_accounting(site, accounting_trouble),
          judge_mpi(site)};
}

SiteFinding judge_partitions(const std::vector<SlurmPartition>& partitions)
{
  std::vector<std::string> words;
  for (const auto& partition : partitions) words.push_back(words_for(partition));
  const bool any_up = std::any_of(partitions.begin(), partitions.end(), [](const auto& p) { return p.is_up; });
  if (!any_up)
    return {"slurm partitions", false, words.empty() ? "none" : join(words, ", "),
            "no partition accepts jobs; ask the administrators"};
  const bool any_default = std::any_of(partitions.begin(), partitions.end(), [](const auto& p) { return p.is_default; });
  return {"slurm partitions", any_default, join(words, ", "),
          any_default ? "" : "there is no default partition; set resources.partition in the profile"};
}

SiteFinding judge_nodes(const std::vector<SlurmNode>& nodes)
{
  constexpr std::size_t most_named = 4;
  std::vector<std::string> away;
  for (const auto& node : nodes)
    if (!node.is_usable) away.push_back(node.name + " " + node.state + (node.reason.empty() ? "" : " (" + node.reason + ")"));
  auto found = fmt::format("{} of {} usable", nodes.size() - away.size(), nodes.size());
  if (away.empty()) return {"slurm nodes", !nodes.empty(), found, nodes.empty() ? "Slurm shows you no nodes" : ""};
  const auto more = away.size() > most_named ? fmt::format(" and {} more", away.size() - most_named) : "";
  away.resize(std::min(away.size(), most_named));
  return {"slurm nodes", away.size() != nodes.size(), found + ": " + join(away, ", ") + more, ""};
}

SiteFinding judge_identity(const SlurmJob& job, const SlurmRecord& record)
{
  constexpr std::string_view check = "slurm identity";
  std::vector<std::string> changed;
  if (record.comment != job.comment)
    changed.push_back(fmt::format("the comment of a job, \"{}\", became \"{}\"", job.comment, printable(record.comment)));
  if (record.name != job.name) changed.push_back(fmt::format("its name, {}, became {}", job.name, printable(record.name)));
  if (changed.empty()) return {std::string(check), true, "a job keeps its comment and its name, by which dtctl knows it", ""};
  return {std::string(check), false, join(changed, "; "),
          "dtctl then knows its jobs by id and time of submission; a submission whose answer is lost cannot be found again"};
}

SiteFinding judge_clock(double submitted_unix_s, const SlurmRecord& record)
{
  constexpr double most_apart_s = 5;
  const double ahead_s = submitted_unix_s - static_cast<double>(record.submit_unix_s);
  if (std::abs(ahead_s) < most_apart_s) return {"slurm clock", true, "this machine's clock agrees with the controller's", ""};
  return {"slurm clock", false,
          fmt::format("this machine's clock is {} {} the controller's", format_duration(std::round(std::abs(ahead_s))),
                      ahead_s > 0 ? "ahead of" : "behind"),
          "times and ages of runs are wrong by that much; tell the administrators"};
}

namespace {

std::string trouble_of_accounting(SlurmApi& api)
{
  try {
    api.accounts();
    return {};
  } catch (const SlurmFailure& failure) {
    return failure.what();
  }
}

SlurmJob slurm_job(const TrialJob& trial)
{
  const auto& resources = trial.resources;
  SlurmJob job;
  job.name = "dtctl-doctor";
  job.comment = "dtctl:doctor";
  job.script_path = trial.command;
  job.script = trial.script;
  job.work_dir = trial.work_dir.string();
  job.out_path = slurm_output(trial.folder, BatchKind::single);
  job.environment = environment_to_keep();
  job.nodes = resources.nodes;
  job.tasks_per_node = resources.ranks_per_node;
  job.tasks = resources.nodes * resources.ranks_per_node;
  job.cpus_per_task = resources.threads_per_rank;
  job.time_limit_min = trial.time_limit_min;
  job.partition = resources.partition;
  job.account = resources.account;
  job.qos = resources.qos;
  job.constraint = resources.constraint;
  apply_scheduler_args(resources.scheduler_args, job);
  return job;
}

template<typename Ask> auto or_refusal(Ask question)
{
  try {
    return question();
  } catch (const SlurmFailure& failure) {
    throw TrialRefusal("Slurm", failure.what(), failure.code());
  }
}

// A job on hold, which is looked at and ended.
std::vector<SiteFinding> try_a_job(SlurmApi& api)
{
  TrialJob trial{.folder = "/dev", .work_dir = "/", .script = "#!/bin/sh\n", .command = "true"};
  trial.resources.scheduler_args = {"--hold"};
  const auto job = slurm_job(trial);
  try {
    const double submitted_unix_s = now_unix_s();
    const auto id = api.submit(job);
    const auto records = api.load_jobs();
    api.kill(std::to_string(id));
    for (const auto& record : records)
      if (record.id == id) return {judge_identity(job, record), judge_clock(submitted_unix_s, record)};
    return {{"slurm identity", false, fmt::format("job {} is not in the queue just after its submission", id), ""}};
  } catch (const SlurmFailure& failure) {
    return {{"slurm identity", true, fmt::format("not tried, because Slurm refuses a job: {}", failure.what()), ""}};
  }
}

} // namespace

SiteReport examine_site()
{
  SiteReport report;
  const auto only = [&](std::string found, std::string advice) -> SiteReport {
    return {{{"slurm", false, std::move(found), std::move(advice)}}, nullptr};
  };
  if (slurm_configuration().empty())
    return {{{"slurm", true, "no slurm.conf here; jobs run on this machine's cores", ""}}, nullptr};
  try {
    auto opened = open_slurm_way();
    const std::shared_ptr<SlurmApi> api = std::move(opened.api);
    const auto site = api->site();
    report.findings = judge_site(site, api->controller(), site.has_accounting ? trouble_of_accounting(*api) : "");
    report.findings.push_back({"slurm access", true, "through " + opened.way, ""});
    report.findings.push_back(judge_partitions(api->partitions()));
    report.findings.push_back(judge_nodes(api->nodes()));
    for (auto& finding : try_a_job(*api)) report.findings.push_back(std::move(finding));
    report.site = std::make_unique<SlurmSiteJobs>(api);
    return report;
  } catch (const Error& error) {
    return only(error.what(), "runs with resources.scheduler: slurm cannot be submitted from here");
  } catch (const SlurmFailure& failure) {
    if (is_ambiguous(failure.code()))
      return only(fmt::format("no controller answers: {}", failure.what()),
                  "until it does, submissions fail with exit code 3, and states come from the runs' files");
    return only(fmt::format("the controller answers with an error: {} ({})", failure.what(), failure.code()), "");
  }
}

std::vector<std::string> SlurmSiteJobs::mpi_plugins()
{
  return or_refusal([&] { return api_->site().mpi_plugins; });
}

std::string SlurmSiteJobs::submit(const TrialJob& job)
{
  const auto made = slurm_job(job);
  return or_refusal([&] { return std::to_string(api_->submit(made)); });
}

TrialState SlurmSiteJobs::look(const std::string& id, const TrialJob& job)
{
  return or_refusal([&]() -> TrialState {
    for (const auto& record : api_->load_jobs())
      if (std::to_string(record.id) == id) return {status_of(record, job.folder.string()), record.reason, record.nodes};
    return {};
  });
}

void SlurmSiteJobs::end(const std::string& id)
{
  or_refusal([&] { api_->kill(id); });
}

} // namespace dt::jobs::slurm
