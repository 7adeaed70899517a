// What is said about runs that wait.
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <catch2/catch.hpp>

#include <thread>

using dt::test::Dtctl;
using dt::test::tiny_recipe;

namespace {

// Two runs of which each needs the whole machine, so that the second waits for the first.
std::string whole_machine()
{
  const auto cores = std::to_string(std::thread::hardware_concurrency());
  return tiny_recipe("resources: {threads_per_rank: " + cores +
                     ", setup: [sleep 60]}\nsweep: {matrix: {optimizer.learning_rate: [0.1, 0.2]}}\n");
}

} // namespace

TEST_CASE("status says what a queued run waits for, and cancel without a selector cancels nothing")
{
  const Dtctl dtctl;
  dtctl.write("wide.yaml", whole_machine());
  REQUIRE(dtctl.run({"sweep", "wide.yaml"}).exit_code == 0);
  const auto queued = dtctl.json({"status"}).at("runs")[1];
  const auto waits = queued.at("waits_for").get<std::string>();
  CHECK(waits.starts_with("waits for "));
  CHECK(queued.at("cause") == ""); // which is that of an end
  CHECK(queued.at("restarts") == 0);
  CHECK(dtctl.run({"status"}).out.find(waits) != std::string::npos);
  CHECK(dtctl.run({"explain"}).out.find("it " + waits) != std::string::npos);
  for (const dt::test::Words& words : {dt::test::Words{"cancel"}, {"cancel", "--where", "state=queued"}}) {
    const auto refused = dtctl.run(words);
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("2 runs have not ended") != std::string::npos);
  }
  const auto done = dtctl.json({"cancel", "last", "--where", "state=queued"});
  CHECK(done.at("cancelled") == 1);
  CHECK(done.at("runs")[0].at("state") == "cancelled");
  dtctl.run({"cancel", "all"});
}

TEST_CASE("watch says which run of another home holds the cores that all runs wait for")
{
  const Dtctl holder, waiting;
  const dt::test::Words shared{"DTCTL_CORE_LOCKS=" + (holder.folder() / "locks").string()};
  for (const auto* home : {&holder, &waiting}) home->write("wide.yaml", whole_machine());
  REQUIRE(holder.run({"sweep", "wide.yaml"}).exit_code == 0);
  const auto is_running = [&] { return holder.json({"status"}).at("runs")[0].at("state") == "running"; };
  REQUIRE(dt::test::eventually(is_running));
  REQUIRE(waiting.run({"sweep", "wide.yaml"}, shared).exit_code == 0);
  const auto watched = waiting.run({"status", "--follow", "--timeout", "12s"}, shared);
  for (const auto* home : {&holder, &waiting}) home->run({"cancel", "all"}, shared);
  CHECK(watched.exit_code == 124);
  CHECK(watched.err.find("none of the runs is running; tiny") != std::string::npos);
  CHECK(watched.err.find("in home " + holder.home().string() + " holds ") != std::string::npos);
}
