// Runs that fail, are cancelled, do not fit or take too long.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/e2e/ranks_of.hpp"
#include "tests/support/eventually.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::Json;
using dt::test::ranks_of;
using dt::test::tiny_recipe;

namespace {

namespace fs = std::filesystem;

// Trains for as long as it takes to be stopped.
std::string endless_recipe(const std::string& more = "")
{
  return "version: 1\nname: endless\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 256, test_samples: 64}\n"
         "train: {batch_per_rank: 8, steps: 100000000, eval_every_epochs: 0}\n" +
         more;
}

std::string state_of(const Dtctl& dtctl) { return dtctl.json({"status"}).at("runs")[0].at("state"); }

bool is_training(const Dtctl& dtctl)
{
  const auto run = dtctl.json({"status"}).at("runs")[0];
  return run.at("state") == "running" && run.at("progress").is_object() && run.at("progress").at("step") > 0;
}

// Ends the run whatever a failed check left behind.
struct Cancelled {
  const Dtctl& dtctl;
  ~Cancelled() { dtctl.run({"cancel", "all"}); }
};

} // namespace

TEST_CASE("a run whose data set is damaged while it waits has failed, with rank and cause, and can be tried again")
{
  const Dtctl dtctl;
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "64", "--test", "32"}).ok());
  const auto images = (dtctl.home() / "data" / "digits" / "train-images-idx3-ubyte").string();
  const auto whole = dt::read_file(images);
  // What is wrong before the submission is refused there: the job's set-up damages the file.
  dtctl.write(
      "bad.yaml",
      "version: 1\nname: bad\nmodel: {name: lenet}\ndata: {name: digits}\ntrain: {global_batch: 16, epochs: 2, warmup_steps: 1}\n"
      "resources: {setup: ['echo no images here > " +
          images + "']}\n");
  const auto outcome = dtctl.json({"submit", "bad.yaml", "--wait"});
  CHECK(outcome.at("exit_code") == 1);
  CHECK(outcome.at("states") == Json{{"failed", 1}});
  CHECK_THAT(outcome.at("runs")[0].at("cause").get<std::string>(), Contains("rank 0") && Contains("digits"));
  CHECK_THAT(dtctl.json({"explain", "--failed"}).at("runs")[0].at("advice").get<std::string>(), Contains("dtctl retry "));
  CHECK(dtctl.run({"status", "--follow"}).exit_code == 1);
  CHECK(dtctl.json({"status", "--failed"}).at("runs").size() == 1);

  dt::write_file_atomic(images, whole);
  const auto again = dtctl.json({"retry", "--failed", "--wait"});
  CHECK(again.at("counts") == Json{{"submitted", 1}});
  CHECK(again.at("exit_code") == 1);
  CHECK(dtctl.json({"status"}).at("runs")[0].at("attempt") == 2);
  CHECK(dtctl.json({"logs", "--attempt", "1"}).at("attempt") == 1);
}

TEST_CASE("a run whose loss becomes NaN tells the step once and is not advised to retry")
{
  const Dtctl dtctl;
  dtctl.write("diverges.yaml", tiny_recipe("optimizer: {learning_rate: 100000}\n"));
  CHECK(dtctl.json({"submit", "diverges.yaml", "--set", "train.steps=200", "--wait"}).at("states") == Json{{"failed", 1}});
  const auto run = dtctl.json({"explain"}).at("runs")[0];
  CHECK_THAT(run.at("why").get<std::string>(), Contains("the loss is NaN") && Contains("100000") && !Contains("(step "));
  CHECK_THAT(run.at("advice").get<std::string>(), Contains("learning rate") && !Contains("dtctl retry"));
}

TEST_CASE("a set-up line that ends the job is the cause")
{
  const Dtctl dtctl;
  dtctl.write("setup.yaml", tiny_recipe("resources: {setup: ['exit 3']}\n"));
  const auto run = dtctl.json({"submit", "setup.yaml", "--wait"}).at("runs")[0];
  CHECK(run.at("cause") == "set-up line 1 failed: exit 3 (exit code 3)");
}

TEST_CASE("where neither ssh nor rsh is installed, as in a container, ranks of this machine start")
{
  const Dtctl dtctl;
  const auto folder = dtctl.home() / "programs-without-ssh";
  fs::create_directories(folder);
  for (const auto& program : fs::directory_iterator("/usr/bin"))
    if (const auto name = program.path().filename(); name != "ssh" && name != "rsh")
      fs::create_symlink(program.path(), folder / name);
  const auto resources = "resources: {ranks_per_node: 2, oversubscribe: true, env: {PATH: " + folder.string() + "}}\n";
  dtctl.write("engine.yaml", tiny_recipe(resources));
  dtctl.write("own.yaml",
              "version: 1\nname: own\nprogram: {command: [echo, 'speed: 9'], metrics: {throughput: 'speed: (\\d+)'}}\n" +
                  resources);
  for (const std::string recipe : {"engine.yaml", "own.yaml"}) {
    INFO(recipe);
    CHECK(dtctl.json({"submit", recipe, "--wait"}).at("states") == Json{{"succeeded", 1}});
  }
}

TEST_CASE("a running run outlasts a wait with a timeout (exit code 124), is cancelled, stays so, and runs again when asked to")
{
  const Dtctl dtctl;
  const Cancelled cancelled{dtctl};
  dtctl.write("endless.yaml", endless_recipe());
  dtctl.json({"submit", "endless.yaml"});
  REQUIRE(eventually([&] { return is_training(dtctl); }));
  CHECK(dtctl.json({"submit", "endless.yaml"}).at("counts") == Json{{"already_active", 1}});
  const auto timed_out = dtctl.run({"status", "--follow", "--timeout", "1s"});
  CHECK(timed_out.exit_code == 124);
  CHECK_THAT(timed_out.err, Contains("1 running"));
  CHECK_THAT(timed_out.out, !Contains("ended"));
  CHECK(dtctl.json({"cancel", "last"}).at("cancelled") == 1);
  CHECK(dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 1);
  CHECK(state_of(dtctl) == "cancelled");
  CHECK(ranks_of(dtctl).empty());
  CHECK(dtctl.json({"cancel", "last"}).at("cancelled") == 0);

  CHECK(dtctl.json({"retry"}).at("counts") == Json{{"submitted", 1}});
  REQUIRE(eventually([&] { return is_training(dtctl); }));
  CHECK(dtctl.json({"status"}).at("runs")[0].at("attempt") == 2);
}

TEST_CASE("a queued run says what it waits for, and is cancelled without ever starting")
{
  const Dtctl dtctl;
  const Cancelled cancelled{dtctl};
  dtctl.write("endless.yaml",
              endless_recipe("sweep: {matrix: {train.seed: [1, 2, 3, 4, 5, 6, 7, 8]}}\nresources: {threads_per_rank: 2}\n"));
  const auto cores = std::to_string(dt::cores_in_mask().size());
  dtctl.json({"sweep", "endless.yaml", "--set", "resources.threads_per_rank=" + cores});
  REQUIRE(eventually([&] { return is_training(dtctl); }));
  const auto waiting = dtctl.json({"explain", "--where", "state=queued"}).at("runs");
  REQUIRE(waiting.size() == 7);
  CHECK_THAT(waiting[0].at("why").get<std::string>(), Contains("waits for"));
  CHECK(dtctl.json({"cancel", "last", "--where", "state=queued"}).at("cancelled") == 7);
  CHECK(dtctl.json({"status"}).at("states") == Json{{"running", 1}, {"cancelled", 7}});
}

TEST_CASE("exit code 4: some runs do not fit this machine, the others are submitted")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto outcome = dtctl.json({"sweep", "tiny.yaml", "--over", "resources.threads_per_rank=1,4096", "--wait"});
  CHECK(outcome.at("exit_code") == 4);
  CHECK(outcome.at("counts") == Json{{"submitted", 1}, {"refused", 1}});
}

TEST_CASE("a run at its time limit stops in order and keeps a checkpoint, and a higher limit is not another run")
{
  const Dtctl dtctl;
  const Cancelled cancelled{dtctl};
  dtctl.write("endless.yaml", endless_recipe("resources: {time_limit: 3s}\n"));
  const auto outcome = dtctl.json({"submit", "endless.yaml", "--wait"});
  CHECK(outcome.at("states") == Json{{"preempted", 1}});
  CHECK(outcome.at("exit_code") == 1);
  CHECK_THAT(dtctl.json({"status"}).at("runs")[0].at("cause").get<std::string>(), Contains("time limit") && Contains("step-"));
  const auto plan = dtctl.json({"sweep", "--dry-run", "endless.yaml", "--set", "resources.time_limit=10m"});
  CHECK(plan.at("runs")[0].at("state") == "preempted");
  CHECK(plan.at("to_submit") == 1);
}

TEST_CASE("what a recipe is called reaches no shell")
{
  const Dtctl dtctl;
  dtctl.write(
      "evil.yaml",
      "version: 1\nname: \"$(touch x); '\"\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 64, test_samples: 32}\n"
      "train: {global_batch: 32, steps: 8, warmup_steps: 1}\n");
  CHECK(dtctl.json({"submit", "evil.yaml", "--wait"}).at("exit_code") == 0);
  CHECK(dtctl.json({"results", "$(touch x); '"}).at("kind") == "single");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dtctl.folder())) CHECK(entry.path().filename() != "x");
}
