#include "store/query/dependences.hpp"

#include "store/query/compared_runs.hpp"
#include "store/query/doubts.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;
using Facts = std::map<std::string, std::string>;

namespace {

// Succeeded runs of a program of the user, with what their begin.json says about their nodes.
struct Programs : Site {
  PlannedRun add(const Facts& facts)
  {
    auto spec = sample_spec(1, static_cast<std::int64_t>(runs.size()));
    spec.program.command = {"python3", "train.py"};
    runs.push_back(plan(spec));
    const auto attempt = begin(runs.back(), 1);
    auto record = *read_begin(attempt);
    record.environment = facts;
    put_file(attempt.begin(), to_json(record));
    succeed(runs.back(), attempt, 100);
    return runs.back();
  }
  std::string take_in() { return Site::take_in(database, runs).id; }
  std::vector<std::string> keys() const
  {
    std::vector<std::string> all;
    for (const auto& run : runs) all.push_back(run.key);
    return all;
  }
  std::vector<PlannedRun> runs;
  Database database = open();
};

const Facts one{{"python", "CPython 3.11.2"},
                {"python_environment", "0123456789abcdef0123456789abcdef"},
                {"packages", "61, listed in environments/0123.json of the home"},
                {"torch", "2.1.0"},
                {"cuda", "12.1"},
                {"node_gpus", "4 x NVIDIA A30"},
                {"nvidia_driver", "535.129.03"},
                {"git_state", "4f3a (main), clean"}};

Facts changed(Facts facts, const std::string& name, const std::string& value)
{
  facts[name] = value;
  return facts;
}

} // namespace

TEST_CASE("a compared run of a program has its environment, GPUs, driver and commit, in words")
{
  Programs site;
  site.add(one);
  site.add({{"cpu_model", "EPYC"}});
  site.add({{"program_file", "/opt/train"}, {"program_hash", "ffee"}}); // not in Python
  const auto id = site.take_in();
  const auto runs = compared_runs(site.database, runs_of_study(site.database, id), "");
  CHECK(runs[0].depends_on == Facts{{"Python environments", "CPython 3.11.2, torch 2.1.0, CUDA 12.1, 61 packages (0123456789)"},
                                    {"programs", "none"},
                                    {"GPUs", "4 x NVIDIA A30"},
                                    {"GPU drivers", "535.129.03"},
                                    {"git states", "4f3a (main), clean"}});
  CHECK(runs[1].depends_on.at("Python environments") == "not recorded");
  CHECK(runs[2].depends_on.at("programs") == "/opt/train (ffee)");
  CHECK(python_environments(site.database, {runs[0].key, runs[2].key}) ==
        std::set<std::string>{"", "0123456789abcdef0123456789abcdef"});
}

TEST_CASE("a run of dtengine depends on none of these")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 100);
  const auto record = site.take_in(database, {run});
  CHECK(compared_runs(database, runs_of_study(database, record.id), "").at(0).depends_on.empty());
  CHECK(doubts_of(database, record.id, {run.key}).mixed.empty());
}

TEST_CASE("a study whose runs depended on different things is in doubt, and one whose runs did not is not")
{
  Programs site;
  site.add(one);
  site.add(one);
  const auto third = site.add(changed(changed(one, "torch", "2.2.0"), "not_as_submitted", "torch 2.1.0, now 2.2.0"));
  site.add(changed(changed(one, "not_as_submitted", "babel missing, now 2.10.3"), "not_as_submitted_imports", "none"));
  const auto id = site.take_in();
  const auto doubts = doubts_of(site.database, id, site.keys());
  REQUIRE(doubts.mixed.size() == 1);
  CHECK(doubts.mixed[0].name == "Python environments");
  CHECK(doubts.mixed[0].runs ==
        std::map<std::string, std::size_t>{{"CPython 3.11.2, torch 2.1.0, CUDA 12.1, 61 packages (0123456789)", 3},
                                           {"CPython 3.11.2, torch 2.2.0, CUDA 12.1, 61 packages (0123456789)", 1}});
  CHECK(doubts.not_as_submitted == 1);
  CHECK(doubts.unused_changes == 1);
  CHECK(doubts.unused_text == "babel missing, now 2.10.3");
  const auto some = doubts_of(site.database, id, {site.runs[0].key, site.runs[1].key});
  CHECK(some.mixed.empty());
  CHECK(some.not_as_submitted == 0);
}

TEST_CASE("an environment that is known in one run and unknown in another is a doubt, and so are drivers that differ by node")
{
  Programs site;
  site.add(one);
  site.add({{"python_environment", "unknown: `uv` decides which program it starts"}});
  site.add(changed(one, "nvidia_driver_by_node", "node1: 535.129.03; node2: 550.54.14"));
  site.take_in();
  const auto doubts = doubts_of(site.database, "", site.keys());
  std::vector<std::string> names;
  for (const auto& mixed : doubts.mixed) names.push_back(mixed.name);
  CHECK(names == std::vector<std::string>{"Python environments", "GPUs", "GPU drivers", "git states"});
  CHECK(doubts.mixed[2].runs.count("node1: 535.129.03; node2: 550.54.14") == 1);
}
