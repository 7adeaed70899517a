// The options of submission that are not the recipe's.
#include "tests/cli/driver.hpp"

#include "core/record/run_record.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::tiny_recipe;

namespace {

// A run that ends at once with exit code 3.
std::string failing(const std::string& seed)
{
  return tiny_recipe("resources: {setup: [exit 3]}\nsweep: {matrix: {train.seed: [" + seed + "]}}\n");
}

} // namespace

TEST_CASE("words behind two dashes are for a cluster's scheduler, and refused for this machine's")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto result = dtctl.run({"submit", "tiny.yaml", "--", "--gres=gpu:1", "-x", "node3"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("the arguments \"--gres=gpu:1 -x node3\" after -- are for a cluster's scheduler") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(dtctl.home()));
  CHECK(dtctl.run({"status", "--", "last", "more"}).exit_code == 2); // arguments of a verb that submits nothing
}

TEST_CASE("a run cannot come after one that has failed, after itself or after nothing, and nothing is submitted")
{
  const Dtctl dtctl;
  dtctl.write("first.yaml", failing("1"));
  dtctl.write("second.yaml", failing("2"));
  CHECK(dtctl.run({"sweep", "first.yaml", "--wait"}).exit_code == 1);
  for (const auto& [recipe, after, why] : {std::tuple("second.yaml", "last", "must come first, but its attempt 1 failed: "),
                                           {"first.yaml", "last", "is in last too, and a run cannot wait for itself"},
                                           {"second.yaml", "unheard-of", "unheard-of"}}) {
    const auto result = dtctl.run({"sweep", recipe, "--after", after});
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(why) != std::string::npos);
  }
  CHECK(dtctl.json({"status", "--all"}).at("studies").size() == 1);
}

TEST_CASE("retry of all keeps every new attempt in the study of its run")
{
  const Dtctl dtctl;
  dtctl.write("first.yaml", failing("1"));
  dtctl.write("second.yaml", failing("2"));
  std::vector<std::pair<std::string, std::string>> studies; // (run, study)
  for (const auto* recipe : {"first.yaml", "second.yaml"}) {
    const auto report = dtctl.json({"sweep", recipe, "--wait"});
    studies.emplace_back(report.at("submissions")[0].at("key"), report.at("study"));
  }
  dtctl.run({"retry", "all", "--wait"});
  for (const auto& [run, study] : studies) {
    const auto submission = dt::read_submission(dt::AttemptFolder(dtctl.home() / "runs" / run, 2));
    REQUIRE(submission);
    CHECK(submission->study == study);
  }
}
