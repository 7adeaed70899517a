// dtctl new, with the real program.
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::TerminalSession;
using dt::test::Words;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Nothing but what the driver makes, and the home.
bool has_no_recipe(const Dtctl& dtctl)
{
  for (const auto& entry : fs::directory_iterator(dtctl.folder()))
    if (entry.is_regular_file()) return false;
  return true;
}

void check_refused(const Words& options, const std::string& message)
{
  const Dtctl dtctl;
  const auto result = dtctl.run(dt::test::with({"new", "x.yaml"}, options));
  INFO(dt::shell_join(options) << "\n" << result.err);
  CHECK(result.exit_code == 2);
  CHECK(holds(result.err, message));
  CHECK(result.out == "");
  CHECK(has_no_recipe(dtctl));
}

} // namespace

TEST_CASE("without a terminal new takes defaults, says which, and prints the recipe")
{
  const Dtctl dtctl;
  const auto result = dtctl.run({"new", "--ranks", "1,2", "--model", "lenet"});
  CHECK(result.exit_code == 0);
  CHECK(holds(result.err, "defaults were taken: data set digits, strategy sync-sgd, machine local, "));
  CHECK(result.out.starts_with("# yaml-language-server: $schema=" + dt::recipe_schema_file().string() + "\n"));
  CHECK(holds(result.out, "scheduler: local")); // a profile named default may say something else
  CHECK(has_no_recipe(dtctl));
  dtctl.write("printed.yaml", result.out);
  CHECK(dtctl.run({"validate", "printed.yaml"}).exit_code == 0);
  CHECK(dtctl.run({"new", "-", "--ranks", "1,2", "--model", "lenet"}).out == result.out);
}

TEST_CASE("every kind of study, and more than one strategy, is written, validated and planned by the program")
{
  const Dtctl dtctl;
  const auto check = [&](const std::string& name, const Words& options) {
    const auto file = name + ".yaml";
    INFO(name);
    REQUIRE(dtctl.run(dt::test::with({"new", file, "--quiet"}, options)).exit_code == 0);
    CHECK(dtctl.run({"validate", file}).exit_code == 0);
    const auto plan = dtctl.run({"sweep", "--dry-run", file, "--set", "resources.oversubscribe=true"});
    INFO(plan.out << plan.err);
    CHECK(plan.exit_code == 0);
  };
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "2000", "--test", "100"}).exit_code == 0);
  check("none", {"--strategy", "easgd", "--study", "none"});
  check("strong", {"--study", "strong", "--ranks", "1,2,4"});
  check("weak", {"--study", "weak", "--ranks", "1,2"});
  check("partition", {"--parts", "1,2"});
  check("nodes", {"--nodes", "1,2,4", "--ranks-per-node", "2", "--cluster", "batch"});
  check("sweep", {"--strategy", "easgd,sync-sgd,async-msgd", "--ranks", "2,3"});
  check("custom", {"--model", "custom"});
}

TEST_CASE("a file is never replaced without --force")
{
  const Dtctl dtctl;
  dtctl.write("mine.yaml", "years of work");
  const auto refused = dtctl.run({"new", "mine.yaml"});
  CHECK(refused.exit_code == 2);
  CHECK(holds(refused.err, "mine.yaml exists"));
  CHECK(dt::read_file(dtctl.folder() / "mine.yaml") == "years of work");
  CHECK(dtctl.run({"new", "mine.yaml", "--force"}).exit_code == 0);
  CHECK(dtctl.run({"validate", "mine.yaml"}).exit_code == 0);
}

TEST_CASE("a wrong value of an option, and options that contradict each other, are refused at once by the option's name")
{
  check_refused({"--model", "lenett"}, "--model: there is no model `lenett`; did you mean `lenet`?");
  check_refused({"--data", "mnst"}, "--data: there is no data set `mnst`; did you mean `mnist`?");
  check_refused({"--strategy", "sync-sgd,easdg"}, "--strategy: ");
  check_refused({"--study", "strog"}, "--study: ");
  check_refused({"--ranks", "1,two"}, "--ranks: ");
  check_refused({"--ranks", "1,2", "--strategy", "easgd"}, "--ranks: ");
  check_refused({"--ranks", "3", "--global-batch", "128"}, "--global-batch 128");
  check_refused({"--ranks", "1", "--nodes", "2"}, "excludes");
  check_refused({"--parts", "1,2", "--study", "weak"}, "--parts");
  check_refused({"--repeats", "0"}, "--repeats");
  check_refused({"--profile", "nowhere"}, "--profile: there is no profile `nowhere`");
  check_refused({"--batch-per-rank", "32"}, "instead of --batch-per-rank");
  check_refused({"--study", "weak", "--global-batch", "128"}, "instead of --global-batch");
  check_refused({"--ranks-per-node", "2"}, "--ranks-per-node needs --nodes");
  check_refused({"--study", "partition", "--nodes", "2,4"}, "its sizes are --parts");
  check_refused({"--model", "alexnet", "--data", "digits"}, "Models that fit digits: lenet, "); // and what fits instead
  check_refused({"--model", "alexnet", "--data", "digits"}, "Data sets that fit alexnet: synthetic.");
  CHECK(holds(Dtctl().run({"new", "no-such-folder/x.yaml"}).err, "mkdir -p no-such-folder"));
}

TEST_CASE("hostile text in names is quoted or refused")
{
  const Dtctl dtctl;
  const std::string name = "a: \"b\" # 'c' \\";
  REQUIRE(dtctl.run({"new", "q.yaml", "--name", name, "--cluster", name}).exit_code == 0);
  CHECK(dtctl.json({"validate", "q.yaml"}).at("name") == name);
  for (const std::string text : {"two\nlines", "\033[31mred", "tab\there", "\xff", "\xe2\x80\xae"}) {
    check_refused({"--name", text}, "cannot be the name of a recipe");
    check_refused({"--cluster", text}, "--cluster: ");
    const auto result = dtctl.run({"new", text + ".yaml"});
    CHECK(result.exit_code == 2);
    CHECK(holds(result.err, "cannot be the path of a recipe"));
    CHECK_FALSE(holds(result.err, "\033"));
  }
}

TEST_CASE("a machine profile is written into the recipe, and its sizes are nodes")
{
  const Dtctl dtctl;
  dtctl.write("dtctl.yaml", "profiles: {team: {resources: {scheduler: slurm, partition: batch}}}\n");
  const auto result = dtctl.run({"new", "p.yaml", "--profile", "team"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto text = dt::read_file(dtctl.folder() / "p.yaml");
  CHECK(holds(text, "\nprofile: team\n"));
  CHECK(holds(text, "\n  nodes: [1, 2, 4]\n"));
  CHECK(dtctl.run({"validate", "p.yaml"}).exit_code == 0);
  check_refused({"--profile", "team", "--cluster", "batch"}, "excludes");
}

TEST_CASE("what a machine profile gives stays out of the recipe, so that it is the job's")
{
  const Dtctl dtctl;
  dtctl.write("dtctl.yaml",
              "profiles: {team: {resources: {scheduler: slurm, partition: batch, ranks_per_node: 4, time_limit: 2h}}}\n");
  const auto job_of = [&](const Words& options) {
    REQUIRE(dtctl.run(dt::test::with({"new", "p.yaml", "--force", "--data", "synthetic"}, options)).exit_code == 0);
    const auto runs = dtctl.json({"sweep", "--dry-run", "p.yaml"}).at("runs");
    return *std::ranges::max_element(runs, {}, [](const auto& run) { return run.at("ranks").template get<int>(); });
  };
  const auto job = job_of({"--profile", "team"});
  CHECK(job.at("ranks") == 16); // 4 nodes with 4 ranks
  CHECK(job.at("core_hours").get<double>() == Approx(16 * 2));
  CHECK(job_of({"--profile", "team", "--ranks-per-node", "2"}).at("ranks") == 8);
  CHECK(job_of({"--profile", "team", "--ranks", "1,2"}).at("ranks") == 2);
}

TEST_CASE("new --program writes a recipe for the program, copies the module, and prints the lines that report")
{
  const Dtctl dtctl;
  fs::create_directory(dtctl.folder() / "net");
  dtctl.write("net/train.py", "print('hello')\n");
  const auto result = dtctl.run({"new", "mine.yaml", "--program", "net/train.py", "--ranks", "1,2"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.out, "\nreport.begin()  "));
  CHECK(holds(result.out, "\nreport.result()  "));
  CHECK(fs::exists(dtctl.folder() / "net/dtctl_report.py"));
  CHECK(dtctl.run({"validate", "mine.yaml"}).exit_code == 0);
  CHECK(dtctl.json({"sweep", "--dry-run", "mine.yaml"}).at("runs").size() == 6);
  dtctl.write("net/dtctl_report.py", "mine\n");
  CHECK(holds(dtctl.run({"new", "other.yaml", "--program", "net/train.py"}).err, "the reporting module was not copied"));
  CHECK(dt::read_file(dtctl.folder() / "net/dtctl_report.py") == "mine\n");
}

TEST_CASE("new --program asks for no change to a PyTorch script, which dtctl observes")
{
  const Dtctl dtctl;
  for (const auto* line : {"import os, torch.nn as nn", "    from torch import nn", "import lightning as L"}) {
    INFO(line);
    dtctl.write("train.py", std::string("#!/usr/bin/env python3\n") + line + "\n");
    const auto result = dtctl.run({"new", "mine.yaml", "--program", "train.py", "--force"});
    REQUIRE(result.exit_code == 0);
    CHECK(holds(result.err, "train.py uses PyTorch"));
    CHECK_FALSE(holds(result.out, "report.begin()"));
    CHECK_FALSE(fs::exists(dtctl.folder() / "dtctl_report.py"));
  }
  for (const auto* line : {"import torchless", "# import torch", "from .torch import x"}) {
    INFO(line);
    dtctl.write("train.py", std::string(line) + "\n");
    CHECK(holds(dtctl.run({"new", "mine.yaml", "--program", "train.py", "--force"}).out, "report.begin()"));
  }
}

TEST_CASE("new --program proposes 1 rank for a Python program that exchanges nothing, and warns where more are asked for")
{
  const Dtctl dtctl;
  fs::create_directories(dtctl.folder() / "parts/deep");
  const auto run = [&](const std::string& source, const Words& more = {}) {
    dtctl.write("train.py", source);
    return dtctl.run(dt::test::with({"new", "mine.yaml", "--program", "train.py", "--force"}, more));
  };
  const auto ranks = [&] {
    int most = 0;
    const auto plan = dtctl.json({"sweep", "--dry-run", "mine.yaml"});
    for (const auto& planned : plan.at("runs")) most = std::max(most, planned.at("ranks").get<int>());
    return most;
  };
  CHECK(holds(run("import torch\n# no DistributedDataParallel\n").err, "train.py exchanges nothing between ranks: "));
  CHECK(ranks() == 1);
  CHECK(holds(run("import torch\n", {"--ranks", "1,2"}).err, "So 2 ranks are 2 copies of one training"));
  CHECK(ranks() == 2);
  CHECK_FALSE(holds(run("import torch\n", {"--ranks", "1"}).err, "copies"));
  for (const auto* line : {"import torch.distributed as dist", "import dtctl_sync", "from mpi4py import MPI",
                           "import lightning as L", "with report.phase('communication'): pass"}) {
    INFO(line);
    CHECK_FALSE(holds(run(std::string("import torch\n") + line + "\n").err, "exchanges nothing"));
  }
  dtctl.write("parts/__init__.py", "");
  dtctl.write("parts/loop.py", "from .deep import step\n");
  dtctl.write("parts/deep/__init__.py", "");
  dtctl.write("parts/deep/step.py", "from torch.nn.parallel import DistributedDataParallel as DDP\n");
  CHECK_FALSE(holds(run("import torch\nfrom parts import loop\n").err, "exchanges nothing"));
  CHECK(holds(run("import torch, parts\n").err, "exchanges nothing"));
}

TEST_CASE("new --program takes the words behind -- as arguments, and a program with blanks in its name")
{
  const Dtctl dtctl;
  dtctl.write("my train.py", "import torch.distributed\n");
  const auto result = dtctl.run({"new", "mine.yaml", "--program", "my train.py", "--ranks", "1", "--", "--lr", "0.1", "--name",
                                 "two words", "--on", "yes"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto text = dt::read_file(dtctl.folder() / "mine.yaml");
  CHECK(holds(text, "command: [python3, \"my train.py\", \"--lr\", \"0.1\", \"--name\", \"two words\", \"--on\", \"yes\"]\n"));
  CHECK(holds(text, "files: [\"my train.py\"]\n"));
  CHECK(dtctl.run({"validate", "mine.yaml"}).exit_code == 0);
  CHECK(dtctl.run({"new", "other.yaml", "--", "--lr", "0.1"}).exit_code == 2); // there is no program
}

TEST_CASE("new --program refuses what is no program that a recipe can start, and options of dtengine")
{
  const Dtctl dtctl;
  dtctl.write("train.py", "");
  dtctl.write("net.c", "");
  fs::create_directory(dtctl.folder() / "sub");
  const auto refused = [&](const Words& options, const std::string& why) {
    const auto result = dtctl.run(dt::test::with({"new"}, options));
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::Contains(why));
    CHECK_FALSE(fs::exists(dtctl.folder() / "x.yaml"));
    CHECK_FALSE(fs::exists(dtctl.folder() / "dtctl_report.py"));
  };
  refused({"x.yaml", "--program", "trian.py"}, "--program: there is no file trian.py");
  refused({"x.yaml", "--program", "net.c"}, "--program: net.c is not executable");
  refused({"x.yaml", "--program", "train.py", "--model", "lenet"}, "--model is for dtengine");
  refused({"sub/x.yaml", "--program", "train.py"}, "--program: train.py is not in the folder of the recipe");
}

TEST_CASE("in JSON new answers with the recipe and the defaults, and asks nothing, and neither does it with --defaults")
{
  const Dtctl dtctl;
  CHECK_FALSE(holds(dtctl.in_terminal({"new", "d.yaml", "--defaults"}, 100), "model [lenet]"));
  CHECK(fs::exists(dtctl.folder() / "d.yaml"));
  const auto answer = dtctl.json({"new", "j.yaml", "--model", "lenet"});
  CHECK(answer.at("file") == "j.yaml");
  CHECK(answer.at("recipe") == dt::read_file(dtctl.folder() / "j.yaml"));
  CHECK(answer.at("defaults").size() == 7);
}

TEST_CASE("in a terminal new asks for what is missing, and asks again after an unknown answer")
{
  const Dtctl dtctl;
  TerminalSession session(dtctl, {"new", "asked.yaml", "--strategy", "sync-sgd"}, 100);
  REQUIRE(session.read_until("model [lenet]: "));
  session.type("resnet2\n");
  REQUIRE(session.read_until("did you mean `resnet20`?"));
  REQUIRE(session.read_until("model [lenet]: "));
  session.type("resnet20\n");
  REQUIRE(session.read_until("data set [shapes]: "));
  session.type("\n");
  REQUIRE(session.read_until("machine [local]: "));
  session.type("\n");
  REQUIRE(session.read_until("sizes, in ranks ["));
  CHECK_FALSE(fs::exists(dtctl.folder() / "asked.yaml"));
  session.type("1,2,3\n");
  REQUIRE(session.read_until("dtctl sweep asked.yaml --wait"));
  session.read_until("no such text: until the program has ended");
  const auto text = dt::read_file(dtctl.folder() / "asked.yaml");
  CHECK(holds(text, "model: { name: resnet20 }"));
  CHECK(holds(text, "data: { name: shapes }"));
  CHECK(holds(text, "ranks: [1, 2, 3]"));
  CHECK(holds(text, "global_batch: 132"));
}

TEST_CASE("Ctrl-C and the end of the input leave no file")
{
  for (const std::string key : {"\003", "\004"}) {
    const Dtctl dtctl;
    TerminalSession session(dtctl, {"new", "never.yaml"}, 100);
    REQUIRE(session.read_until("model [lenet]: "));
    session.type("lenet\n");
    REQUIRE(session.read_until("data set [digits]: "));
    session.type(key);
    session.read_until("no such text: until the program has ended");
    CHECK(has_no_recipe(dtctl));
  }
}
