// What a site's limits have against a job.
#include "jobs/slurm/site_fit.hpp"

#include <catch2/catch.hpp>

using namespace dt::jobs::slurm;

namespace {

SlurmPartition partition(const std::string& name, std::int64_t nodes, std::int64_t max_time_s)
{
  SlurmPartition made;
  made.name = name;
  made.nodes = nodes;
  made.max_time_s = max_time_s;
  made.is_default = name == "main";
  return made;
}

SlurmNode node(const std::string& name, const std::string& partitions, std::int64_t cpus)
{
  SlurmNode made;
  made.name = name;
  made.partitions = partitions;
  made.cpus = cpus;
  made.memory_mib = 1000 * cpus;
  return made;
}

const SiteOffer site{{partition("main", 2, 600), partition("big", 4, 0)},
                     {node("n0", "main,big", 4), node("n1", "main,big", 8), node("n2", "big", 16), node("n3", "big", 16)}};

SlurmJob job()
{
  SlurmJob made;
  made.time_limit_min = 5;
  return made;
}

} // namespace

TEST_CASE("a job that its partition can start has nothing against it")
{
  CHECK(misfit(job(), site).empty());
  auto wide = job();
  wide.partition = "big";
  wide.nodes = 2;
  wide.tasks_per_node = 16;
  wide.time_limit_min = 10'000;
  CHECK(misfit(wide, site).empty());
}

TEST_CASE("a job that its site can never start is told why, and what to change")
{
  const auto why = [](auto change) {
    auto made = job();
    change(made);
    return misfit(made, site);
  };
  CHECK(why([](SlurmJob& j) { j.time_limit_min = 20; }) ==
        "it asks for 20m, and the partition main allows at most 10m; lower resources.time_limit");
  CHECK(why([](SlurmJob& j) {
          j.time_limit_min = 20;
          j.time_min_min = 10;
        }).empty());
  CHECK(why([](SlurmJob& j) { j.nodes = 3; }) == "it asks for 3 nodes, and the partition main has 2");
  CHECK(why([](SlurmJob& j) {
          j.tasks_per_node = 3;
          j.cpus_per_task = 2;
          j.nodes = 2;
        }) ==
        "it asks for 2 nodes with 6 cores each, and the partition main has 1 such node (its largest: 8 cores, 8000 MiB); ask "
        "for fewer ranks or threads on a node, or set resources.oversubscribe");
  CHECK(why([](SlurmJob& j) { j.memory_mib = 9000; }).find("1 core and 9000 MiB of memory each") != std::string::npos);
  CHECK(why([](SlurmJob& j) { j.partition = "gpu"; }) ==
        "there is no partition gpu; set resources.partition to one of: main, big");
  CHECK(why([](SlurmJob& j) {
          j.partition = "main,big";
          j.nodes = 3;
        }).empty());
}

TEST_CASE("an account is compared only where the site demands one")
{
  auto one = job();
  one.account = "other";
  CHECK(misfit(one, site).empty());
  auto strict = site;
  strict.accounts = {"physics", "chemistry"};
  CHECK(misfit(one, strict) ==
        "you may not charge the account other, or there is none of this name; set resources.account to one of yours: physics, "
        "chemistry");
  CHECK(misfit(job(), strict).empty()); // the default account
  strict.accounts = std::vector<std::string>();
  CHECK(misfit(job(), strict).starts_with("this Slurm demands an account"));
}
