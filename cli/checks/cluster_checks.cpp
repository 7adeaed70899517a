#include "cli/checks/cluster_checks.hpp"

#include "cli/checks/home_on_nodes.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/job_builder.hpp"
#include "jobs/slurm/load.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace slurm = jobs::slurm;

// Users often wait longer than this before they look at a sweep again.
constexpr std::int64_t short_memory_s = 300;

std::string duration(std::int64_t seconds) { return format_duration(static_cast<double>(seconds)); }

Finding judge_limits(const slurm::SlurmSite& site)
{
  const auto tasks = slurm::most_array_tasks(site);
  auto found = fmt::format(
      "arrays of up to {} tasks ({}), {} jobs of all users with each task counted (MaxJobCount), ended jobs kept {} (MinJobAge)",
      tasks, tasks < site.max_array_size ? "max_array_tasks" : "MaxArraySize", site.max_jobs, duration(site.min_job_age_s));
  if (tasks < 2)
    return {"slurm limits", Level::warn, found,
            "job arrays are not available, so dtctl submits each run of a sweep as a separate job"};
  return {"slurm limits", Level::ok, found, ""};
}

Finding judge_accounting(const slurm::SlurmSite& site, const std::string& trouble)
{
  if (site.has_accounting && !trouble.empty())
    return {"slurm accounting", Level::warn, "slurmdbd does not answer (" + trouble + ")",
            fmt::format("until it does, Slurm forgets an ended job after {} (MinJobAge), and a run whose node failed may then be "
                        "shown as lost; tell the administrators",
                        duration(site.min_job_age_s))};
  if (site.has_accounting)
    return {"slurm accounting", Level::ok, "slurmdbd keeps ended jobs after the queue has forgotten them", ""};
  const auto found =
      fmt::format("none: Slurm forgets an ended job after {}; dtctl then uses the runs' files", duration(site.min_job_age_s));
  if (site.min_job_age_s >= short_memory_s) return {"slurm accounting", Level::ok, found, ""};
  return {"slurm accounting", Level::warn, found,
          "use dtctl watch or wait, which record what Slurm says; otherwise a run whose node failed may be shown as lost"};
}

Finding judge_mpi(const slurm::SlurmSite& site)
{
  const auto plugins =
      site.mpi_plugins.empty() ? "no plugin was found in Slurm's folders" : "srun --mpi=" + join(site.mpi_plugins, ", ");
  const auto found = fmt::format("{}; by default {}", plugins, site.mpi_default.empty() ? "none" : site.mpi_default);
  return {"slurm mpi", Level::ok, found + "; to find out which launcher works: dtctl doctor --launchers", ""};
}

std::string words_for(const slurm::SlurmPartition& p)
{
  const auto limit = p.max_time_s > 0 ? ", at most " + duration(p.max_time_s) : std::string();
  return fmt::format("{}{} ({} nodes, {} cores{}{})", p.name, p.is_default ? "*" : "", p.nodes, p.cpus, limit,
                     p.is_up ? "" : ", down");
}

} // namespace

std::vector<Finding> judge_site(const slurm::SlurmSite& site, const std::string& accounting_trouble)
{
  return {
      {"slurm", Level::ok, fmt::format("{}, cluster {}, controller {} answers", site.version, site.cluster, site.controller), ""},
      judge_limits(site),
      judge_accounting(site, accounting_trouble),
      judge_mpi(site)};
}

Finding judge_partitions(const std::vector<slurm::SlurmPartition>& partitions)
{
  std::vector<std::string> words;
  for (const auto& partition : partitions) words.push_back(words_for(partition));
  const bool any_up = std::any_of(partitions.begin(), partitions.end(), [](const auto& p) { return p.is_up; });
  if (!any_up)
    return {"slurm partitions", Level::warn, words.empty() ? "none" : join(words, ", "),
            "no partition accepts jobs; ask the administrators"};
  const bool any_default = std::any_of(partitions.begin(), partitions.end(), [](const auto& p) { return p.is_default; });
  return {"slurm partitions", any_default ? Level::ok : Level::warn, join(words, ", "),
          any_default ? "" : "there is no default partition; set resources.partition in the profile"};
}

Finding judge_nodes(const std::vector<slurm::SlurmNode>& nodes)
{
  constexpr std::size_t most_named = 4;
  std::vector<std::string> away;
  for (const auto& node : nodes)
    if (!node.is_usable) away.push_back(node.name + " " + node.state + (node.reason.empty() ? "" : " (" + node.reason + ")"));
  auto found = fmt::format("{} of {} usable", nodes.size() - away.size(), nodes.size());
  if (away.empty())
    return {"slurm nodes", nodes.empty() ? Level::warn : Level::ok, found, nodes.empty() ? "Slurm shows you no nodes" : ""};
  const auto more = away.size() > most_named ? fmt::format(" and {} more", away.size() - most_named) : "";
  away.resize(std::min(away.size(), most_named));
  return {"slurm nodes", away.size() == nodes.size() ? Level::warn : Level::ok, found + ": " + join(away, ", ") + more, ""};
}

namespace {

std::string trouble_of_accounting(slurm::SlurmApi& api)
{
  try {
    api.accounts();
    return {};
  } catch (const slurm::SlurmFailure& failure) {
    return failure.what();
  }
}

} // namespace

std::vector<Finding> check_slurm(const Home& home)
{
  if (slurm::slurm_configuration().empty())
    return {{"slurm", Level::ok, "no slurm.conf here; jobs run on this machine's cores", ""}};
  try {
    const auto api = slurm::open_slurm();
    if (!api->ping())
      return {{"slurm", Level::warn, "no controller answers at " + api->controller(),
               "until it does, submissions fail with exit code 3, and states come from the runs' files"}};
    const auto site = api->site();
    auto findings = judge_site(site, site.has_accounting ? trouble_of_accounting(*api) : "");
    findings.push_back(judge_partitions(api->partitions()));
    findings.push_back(judge_nodes(api->nodes()));
    findings.push_back(check_home_on_nodes(home, *api));
    return findings;
  } catch (const Error& error) {
    return {{"slurm", Level::warn, error.what(), "runs with resources.scheduler: slurm cannot be submitted from here"}};
  } catch (const slurm::SlurmFailure& failure) {
    return {
        {"slurm", Level::warn, fmt::format("the controller answers with an error: {} ({})", failure.what(), failure.code()), ""}};
  }
}

} // namespace dt::cli
