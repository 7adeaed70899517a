#include "cli/checks/cluster_checks.hpp"

#include "cli/checks/home_on_nodes.hpp"
#include "core/error.hpp"
#include "jobs/registry/schedulers.hpp"

namespace dt::cli {
namespace {

std::vector<Finding> check_cluster(const Home& home, const jobs::SchedulerKind& kind)
try {
  const auto report = kind.examine();
  std::vector<Finding> findings;
  for (const auto& one : report.findings)
    findings.push_back({one.check, one.is_good ? Level::ok : Level::warn, one.found, one.advice});
  if (report.site) findings.push_back(check_home_on_nodes(home, kind.name(), *report.site));
  return findings;
} catch (const Error& error) {
  const auto advice = "runs with resources.scheduler: " + kind.name() + " cannot be submitted from here";
  return {{kind.name(), Level::warn, error.what(), advice}};
}

} // namespace

std::vector<Finding> check_clusters(const Home& home)
{
  std::vector<Finding> findings;
  for (const auto* kind : jobs::scheduler_kinds())
    for (auto& finding : check_cluster(home, *kind)) findings.push_back(std::move(finding));
  return findings;
}

} // namespace dt::cli
