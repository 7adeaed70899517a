// What doctor makes of the answers of a site's Slurm, without one.
#include "jobs/slurm/slurm_site.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::slurm;

namespace {

SlurmSite good_site()
{
  SlurmSite site;
  site.version = "slurm 22.05.8";
  site.cluster = "box";
  site.max_array_size = 1001;
  site.max_jobs = 10'000;
  site.min_job_age_s = 300;
  site.has_accounting = true;
  site.mpi_plugins = {"pmix", "none"};
  return site;
}

SiteFinding named(const std::vector<SiteFinding>& findings, const std::string& check)
{
  for (const auto& finding : findings)
    if (finding.check == check) return finding;
  return {};
}

} // namespace

TEST_CASE("a good site has its limits and accounting told without a warning")
{
  const auto findings = judge_site(good_site(), "head");
  for (const auto& finding : findings) CHECK(finding.is_good);
  CHECK(named(findings, "slurm").found == "slurm 22.05.8, cluster box, controller head answers");
  CHECK(named(findings, "slurm limits").found.starts_with("arrays of up to 1001 tasks (MaxArraySize), 10000 jobs of all users"));
}

TEST_CASE("an array's tasks are counted as Slurm does: from 0 to below MaxArraySize, and at most max_array_tasks")
{
  auto site = good_site();
  site.max_array_tasks = 50;
  CHECK(named(judge_site(site, "head"), "slurm limits").found.starts_with("arrays of up to 50 tasks "));
  site.max_array_tasks = 0;
  site.max_array_size = 2; // indices 0 and 1
  CHECK(named(judge_site(site, "head"), "slurm limits").found.starts_with("arrays of up to 2 tasks "));
  CHECK(named(judge_site(site, "head"), "slurm limits").is_good);
  site.max_array_size = 1;
  CHECK_FALSE(named(judge_site(site, "head"), "slurm limits").is_good);
}

TEST_CASE("a site without accounting that forgets soon is warned of, with what it means")
{
  auto site = good_site();
  site.has_accounting = false;
  CHECK(named(judge_site(site, "head"), "slurm accounting").is_good);
  site.min_job_age_s = 30;
  const auto finding = named(judge_site(site, "head"), "slurm accounting");
  CHECK_FALSE(finding.is_good);
  CHECK(finding.found.find("forgets an ended job after 30s") != std::string::npos);
}

TEST_CASE("partitions are told with their limits, and the lack of a default is a warning")
{
  SlurmPartition debug;
  debug.name = "debug";
  debug.nodes = 4;
  debug.cpus = 8;
  debug.max_time_s = 3600;
  debug.is_up = debug.is_default = true;
  CHECK(judge_partitions({debug}).found == "debug* (4 nodes, 8 cores, at most 1h)");
  CHECK(judge_partitions({debug}).is_good);
  debug.is_default = false;
  CHECK(judge_partitions({debug}).advice.find("resources.partition") != std::string::npos);
  debug.is_up = false;
  CHECK(judge_partitions({debug}).advice.starts_with("no partition accepts jobs"));
}

TEST_CASE("nodes that are down are named with the reason")
{
  SlurmNode good, bad;
  good.name = "n1";
  good.is_usable = true;
  bad.name = "n2";
  bad.state = "DOWN";
  bad.reason = "Not responding";
  CHECK(judge_nodes({good, bad}).found == "1 of 2 usable: n2 DOWN (Not responding)");
  CHECK(judge_nodes({good}).found == "1 of 1 usable");
  CHECK_FALSE(judge_nodes({bad}).is_good);
}
