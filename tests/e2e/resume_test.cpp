// A run that is told to stop by its time limit goes on in its next attempt, and ends as the run that was never stopped.
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/held_ranks.hpp"
#include "tests/support/processes.hpp"

#include <csignal>

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::HeldRanks;
using dt::test::Json;

namespace {

// Momentum, shuffled data, a rate that moves every step.
constexpr const char* recipe =
    "version: 1\nname: long\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 2500, test_samples: 64}\n"
    "train: {algorithms: rules, global_batch: 24, steps: 2400, eval_every_epochs: 5}\n"
    "optimizer: {learning_rate: 0.005, schedule: cosine}\n"
    "resources: {ranks_per_node: 2, oversubscribe: true}\n";

dt::AttemptFolder attempt_of(const Dtctl& dtctl, int number)
{
  for (const auto& run : std::filesystem::directory_iterator(dtctl.home() / "runs")) return {run.path(), number};
  throw std::runtime_error("no run in " + dtctl.home().string());
}

bool is_training(const dt::AttemptFolder& attempt)
{
  const auto beat = dt::read_heartbeat(attempt);
  return beat && beat->step > 0;
}

// The job's script, which a scheduler warns: the parent of the launcher of rank 0.
pid_t script_of(const dt::AttemptFolder& attempt)
{
  using dt::test::parent_of;
  return parent_of(parent_of(dt::read_begin(attempt)->pid));
}

} // namespace

TEST_CASE("a run stopped by a warning is preempted, and retry goes on from its checkpoint to the same weights")
{
  const Dtctl whole, stopped;
  for (const auto* dtctl : {&whole, &stopped}) dtctl->write("long.yaml", recipe);
  REQUIRE(whole.json({"submit", "long.yaml", "--wait"}).at("states") == Json{{"succeeded", 1}});

  const HeldRanks ranks;
  ranks.hold(100);
  dt::test::Words words{"submit", "long.yaml"};
  for (const auto& word : ranks.options()) words.push_back(word);
  stopped.json(words);
  const auto first = attempt_of(stopped, 1);
  REQUIRE(eventually([&] { return is_training(first) && ranks.count() > 0; }));
  ::kill(script_of(first), SIGUSR1);
  REQUIRE(eventually([&] { return std::filesystem::exists(first.dump()); })); // a rank has taken it
  ranks.release();
  CHECK(stopped.run({"status", "--follow", "--timeout", "60s"}).exit_code == 1);
  CHECK(stopped.json({"status"}).at("runs")[0].at("state") == "preempted");
  REQUIRE(dt::read_preemption(first));
  REQUIRE(dt::read_end(first));
  CHECK(dt::read_end(first)->exit_code == 75);

  CHECK(stopped.json({"retry", "--wait"}).at("states") == Json{{"succeeded", 1}});
  const auto result = dt::read_result(attempt_of(stopped, 2)), reference = dt::read_result(attempt_of(whole, 1));
  REQUIRE(result);
  CHECK(result->resumed_step == dt::read_preemption(first)->step);
  CHECK(result->steps == 2400);
  CHECK(result->weights_hash == reference->weights_hash);
  CHECK(result->accuracy == reference->accuracy);
  CHECK(dt::fenced_by(first) == 2);
}
