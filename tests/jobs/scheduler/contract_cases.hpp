// The contract that every scheduler keeps. A file that includes this one names first, in `ContractStages`, a tuple of the stages
// (contract_stage.hpp) to run it on: the fake scheduler and this machine in contract_test.cpp, Slurm in
// tests/cluster/contract_test.cpp.
#pragma once

#include "core/error.hpp"
#include "tests/jobs/scheduler/contract_stage.hpp"
#include "tests/support/eventually.hpp"

#include <set>
#include <utility>

#include <catch2/catch.hpp>

namespace dt::jobs::testing {

using State = JobStatus::State;
using Trace = std::vector<std::string>;

TEMPLATE_LIST_TEST_CASE("contract: each job has a token and an id of its own, and its token alone finds it", "", ContractStages)
{
  TestType stage;
  auto wide = stage.request("wide");
  wide.resources.time_limit_s = 1800; // of another shape than the two that are equal
  auto jobs = stage.submit({stage.request("one"), stage.request("two"), wide});
  std::set<std::string> tokens, ids;
  for (const auto& job : jobs) {
    tokens.insert(job.token);
    ids.insert(job.job_id);
  }
  CHECK(tokens.size() == 3);
  CHECK(ids.size() == 3);
  for (auto job : jobs) {
    const auto id = std::exchange(job.job_id, {});
    const auto status = stage.look(job);
    CHECK((status.state == State::queued || status.state == State::running));
    CHECK_FALSE(status.native_state.empty());
    CHECK(status.job_id == id);
  }
  stage.cancel(jobs);
}

TEMPLATE_LIST_TEST_CASE("contract: a job runs once, finds its token and its id in its environment, and its end is told", "",
                        ContractStages)
{
  TestType stage;
  const auto job = stage.submit({stage.request("one", 3)}).front();
  REQUIRE(stage.begins("one"));
  CHECK(stage.reaches(job, State::running));
  stage.let_go("one");
  REQUIRE(stage.reaches(job, State::ended));
  CHECK(stage.look(job).exit_code.value_or(3) == 3);
  CHECK_FALSE(stage.look(job).outcome); // nobody but the job itself ended it
  CHECK(stage.trace() == Trace{"begin one", "end one"});
  CHECK(stage.told("one") == std::vector{job.token, job.job_id});
}

TEMPLATE_LIST_TEST_CASE("contract: there is one answer for each job, in order, also for one that was never submitted", "",
                        ContractStages)
{
  TestType stage;
  std::vector<JobRequest> unknown{stage.request("unknown")};
  stage.scheduler().assign_tokens(unknown, {});
  REQUIRE_FALSE(unknown.front().token.empty());
  const auto jobs = stage.submit({stage.request("one"), stage.request("two")});
  const auto statuses = stage.scheduler().poll(
      std::vector{jobs[1], JobHandle{"", "unknown", unknown.front().token, unknown.front().attempt}, jobs[0]});
  REQUIRE(statuses.size() == 3);
  CHECK(statuses[0].job_id == jobs[1].job_id);
  CHECK(statuses[1].state == State::not_found);
  CHECK(statuses[2].job_id == jobs[0].job_id);
  stage.cancel(jobs);
}

TEMPLATE_LIST_TEST_CASE("contract: a job waits until those before it have ended, and says that it waits", "", ContractStages)
{
  TestType stage;
  const auto first = stage.submit({stage.request("first")}).front();
  auto request = stage.request("second");
  request.after = {first.job_id};
  const auto second = stage.submit({request}).front();
  REQUIRE(stage.begins("first"));
  const auto waits = stage.look(second);
  CHECK(waits.state == State::queued);
  CHECK_FALSE(waits.reason.empty());
  CHECK(waits.hindrance.remedy.empty());
  stage.let_go("second");
  stage.let_go("first");
  REQUIRE(stage.reaches(second, State::ended));
  CHECK(stage.trace() == Trace{"begin first", "end first", "begin second", "end second"});
}

TEMPLATE_LIST_TEST_CASE("contract: of one submission no more jobs run at once than its rules allow", "", ContractStages)
{
  TestType stage;
  const auto jobs = stage.submit({stage.request("one"), stage.request("two")}, {.max_running = 1});
  REQUIRE(stage.begins("one"));
  CHECK(stage.look(jobs[1]).state == State::queued);
  stage.let_go("two");
  stage.let_go("one");
  REQUIRE(stage.reaches(jobs[1], State::ended));
  CHECK(stage.trace() == Trace{"begin one", "end one", "begin two", "end two"});
}

TEMPLATE_LIST_TEST_CASE("contract: jobs that run or wait can be cancelled, and ended ones stay as they are", "", ContractStages)
{
  TestType stage;
  const auto ended = stage.submit({stage.request("ended")}).front();
  stage.let_go("ended");
  REQUIRE(stage.reaches(ended, State::ended));
  const auto running = stage.submit({stage.request("running")}).front();
  auto request = stage.request("waiting");
  request.after = {running.job_id};
  const auto waiting = stage.submit({request}).front();
  REQUIRE(stage.begins("running"));
  stage.cancel({running, waiting});
  CHECK(stage.reaches(running, State::ended));
  CHECK(stage.reaches(waiting, State::ended));
  stage.scheduler().cancel(std::vector{ended, running, waiting});
  CHECK(stage.look(ended).state == State::ended);
  CHECK_FALSE(stage.look(ended).outcome);
  CHECK(stage.trace() == Trace{"begin ended", "end ended", "begin running"});
}

TEMPLATE_LIST_TEST_CASE("contract: the runs of a ladder follow each other in one job", "", ContractStages)
{
  TestType stage;
  if (!stage.has_ladders()) return;
  std::vector requests{stage.request("small"), stage.request("large")};
  for (auto& request : requests) request.ladder = "study";
  const auto jobs = stage.submit(requests);
  CHECK(jobs[0].job_id == jobs[1].job_id);
  REQUIRE(stage.begins("small"));
  stage.let_go("large");
  stage.let_go("small");
  REQUIRE(stage.reaches(jobs[1], State::ended));
  CHECK(stage.trace() == Trace{"begin small", "end small", "begin large", "end large"});
  CHECK(stage.told("large") == std::vector{jobs[1].token, jobs[1].job_id});
}

TEMPLATE_LIST_TEST_CASE("contract: a job of a batch knows its facts, and is started again when it asks for it", "",
                        ContractStages)
{
  TestType stage;
  const auto step = stage.kind().batch_step();
  if (!step) return;
  CHECK_THROWS_AS(step->facts(), Error); // this process is no job
  auto request = stage.request("one");
  request.resources.requeue = 1;
  const auto job = stage.submit({request}).front();
  REQUIRE(stage.begins("one"));
  stage.enter(job.job_id);
  CHECK(step->facts().job_id == job.job_id);
  CHECK(step->facts().restart == 0);
  CHECK(step->hosts().size() == 1);
  std::string said;
  CHECK_FALSE(step->preempted_unix_s([&](const std::string& what) { said += what; }));
  CHECK(said.empty());
  const auto answer = step->ask_for_requeue();
  CHECK(answer.is_final);
  CHECK(answer.words == accepted_answer);
  CHECK(dt::test::eventually([&] { return stage.look(job).restarts == 1; }, stage.patience_s()));
  stage.cancel({job});
  CHECK(stage.reaches(job, State::ended));
}

TEMPLATE_LIST_TEST_CASE("contract: arguments and requests are judged without the scheduler", "", ContractStages)
{
  TestType stage;
  CHECK_NOTHROW(stage.kind().check_args({}));
  if (stage.kind().batch_step()) CHECK_THROWS_AS(stage.kind().check_args(std::vector<std::string>{"--nosuch=1"}), Error);
  CHECK(stage.kind().refusals(std::vector{stage.request("one"), stage.request("two")}) == std::vector<std::string>(2));
  CHECK(stage.scheduler().misfits(std::vector{stage.request("one")}) == std::vector<std::string>(1));
}

} // namespace dt::jobs::testing
