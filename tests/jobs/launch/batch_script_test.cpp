// The job script and dtjob, which runs it: golden texts, and the same scripts really run under a real mpirun.
//
// Regenerate the golden texts with: DTCTL_UPDATE_GOLDEN=1 build/dev/tests/test_jobs '[golden]'
#include "core/files/paths.hpp"
#include "jobs/launch/batch_script.hpp"

#include "core/machine/process.hpp"
#include "core/record/attempt/attempt_record.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/text.hpp"
#include "jobs/machine/cores.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/processes.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <cstdlib>

#include <sys/stat.h>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::testing;
namespace fs = std::filesystem;

namespace {

const std::string evil = "$(touch /tmp/dtctl-test-evil); '\n\"`touch /tmp/dtctl-test-evil`\" \\";

PlannedRun lenet(std::int64_t ranks = 2, std::int64_t threads = 1)
{
  PlannedRun run;
  run.key = "0123456789abcdef0123456789abcdef";
  run.spec.name = "quickstart";
  run.spec.label = "ranks=" + std::to_string(ranks);
  run.spec.resources.ranks_per_node = ranks;
  run.spec.resources.threads_per_rank = threads;
  return run;
}

std::string script_of(const PlannedRun& run)
{
  const AttemptFolder attempt("/home/user/.local/share/dtctl/runs/" + run.key, 1);
  return batch_script({run, attempt, "/usr/bin/dtengine", "/home/user/.local/share/dtctl/data/digits", "/usr/bin/dtjob"},
                      *make_launcher("mpirun"));
}

// An attempt in a folder with a hostile name, and an engine that is a shell script.
struct Stage {
  Folder folder;
  AttemptFolder attempt{folder.path() / "it's a \"run\" $HOME", 1};
  PlannedRun run = lenet(1);
  std::vector<fs::path> after;
  bool may_requeue = false;

  Stage()
  {
    run.spec.resources.launch_tries = 1;
    write_file_atomic(folder.path() / "result.json", to_json(RunResult{}));
  }

  // An engine that comes to the end of its body leaves a result.
  fs::path engine(const std::string& body) const
  {
    const auto path = folder.path() / "engine";
    write_file_atomic(path, "#!/bin/bash\nattempt=$3\n" + body +
                                "\n((OMPI_COMM_WORLD_RANK)) || cp \"$(dirname \"$0\")/result.json\" \"$attempt/result.json\"\n");
    ::chmod(path.c_str(), 0755);
    return path;
  }

  // The attempt as a submission leaves it: its script and its intent.
  void write(const std::string& engine_body) const
  {
    make_folders(attempt.path());
    write_file_atomic(attempt.script(), batch_script({run, attempt, engine(engine_body).string(), evil, agent_program().string()},
                                                     *make_launcher("mpirun")));
    Submission intent{attempt.number(), token(), "local", "study", 1, "7"};
    intent.launch_tries = run.spec.resources.launch_tries;
    for (const auto& path : after) intent.after.push_back(path.string());
    write_file_atomic(attempt.submission(), to_json(intent));
  }

  std::string token() const { return folder.path().filename().string(); }

  std::vector<std::string> command() const
  {
    std::vector<std::string> words{agent_program().string(), "run", attempt.path().string()};
    if (may_requeue) words.emplace_back("--may-requeue");
    return words;
  }

  // Runs the attempt to its end; what the job printed is in its files.
  CommandResult go(const std::string& engine_body, std::vector<std::string> before = {}) const
  {
    write(engine_body);
    for (const auto& word : command()) before.push_back(word);
    auto result = run_command(before, 60);
    result.out += read_file_if_exists(attempt.out()).value_or("");
    result.err += read_file_if_exists(attempt.err()).value_or("");
    return result;
  }

  // The attempt as a process of its own.
  pid_t start(const std::string& engine_body) const
  {
    write(engine_body);
    return start(command());
  }

  pid_t start(const std::vector<std::string>& words) const
  {
    return test::start_program(words, [this] { ::setenv(token_variable, token().c_str(), 1); }); // as a scheduler does
  }

  int recorded_exit() const
  {
    const auto end = read_end(attempt);
    return end ? end->exit_code : -1;
  }
};

// The attempt as a process of its own, once its engine is up.
pid_t start_and_see_up(const Stage& stage, const std::string& engine_body)
{
  const pid_t child = stage.start(engine_body);
  REQUIRE(eventually([&] { return fs::exists(stage.attempt.path() / "up"); }));
  return child;
}

// Slurm signals every process of a job.
void signal_all(pid_t job, int signal)
{
  const auto children = run_command({"pgrep", "-P", std::to_string(job)}).out;
  ::kill(job, signal);
  for (const auto& child : lines(children)) signal_all(static_cast<pid_t>(std::stoi(child)), signal);
}

std::string mask_of(const Stage& stage, int rank) { return read_file(stage.attempt.path() / ("mask." + std::to_string(rank))); }

const std::string write_mask = "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status > \"$attempt/mask.$OMPI_COMM_WORLD_RANK\"";

} // namespace

TEST_CASE("a rank is bound to a core for each compute thread and one for each thread that moves messages or decodes")
{
  auto run = lenet(2, 3);
  CHECK_THAT(script_of(run), Catch::Contains(" /usr/bin/dtjob bind --cores 3 /usr/bin/dtengine "));
  run.spec.sync.progress = dt::ProgressMode::thread;
  CHECK_THAT(script_of(run), Catch::Contains(" bind --cores 4 ") && Catch::Contains(" OMP_NUM_THREADS=3 "));
  run.spec.data.decode_threads = 2;
  CHECK_THAT(script_of(run), Catch::Contains(" bind --cores 6 "));
}

TEST_CASE("on this machine a job sees the first GPUs, on a cluster those that the scheduler gives it")
{
  auto run = lenet(2);
  CHECK_THAT(script_of(run), !Catch::Contains("CUDA_VISIBLE_DEVICES"));
  run.spec.resources.gpus_per_node = 2;
  run.spec.resources.gpus_per_rank = 1;
  CHECK_THAT(script_of(run), Catch::Contains("CUDA_VISIBLE_DEVICES=0,1"));
  CHECK_THAT(script_of(run), Catch::Contains(" --gpus 1 "));
  run.spec.resources.scheduler = "slurm";
  CHECK_THAT(script_of(run), !Catch::Contains("CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("mpirun is told the first of the hosts, each with its ranks, unless a cluster's scheduler tells it")
{
  auto run = lenet(2);
  run.spec.resources.nodes = 2;
  run.spec.resources.hosts = {"host0", "host1", "host2"};
  CHECK_THAT(script_of(run),
             Catch::Contains(" mpirun -np 4 --map-by ppr:2:node --bind-to none --host host0:2,host1:2 /usr/bin/dtjob bind "));
  run.spec.resources.exclude = {"host1"};
  CHECK_THAT(script_of(run), Catch::Contains(" --host host0:2,host2:2 "));
  run.spec.resources.nodes = 1;
  run.spec.resources.nodelist = "host2";
  CHECK_THAT(script_of(run), Catch::Contains(" --host host2:2 "));
  run.spec.resources.scheduler = "slurm";
  CHECK_THAT(script_of(run), !Catch::Contains("--host"));
}

TEST_CASE("a program that starts the ranks of its node is started once on each node, with the cores and GPUs of all of them")
{
  auto run = lenet(4, 3);
  run.spec.program.command = {"torchrun", "train.py"};
  run.spec.program.launch = ProgramLaunch::per_node;
  run.spec.resources.nodes = 2;
  run.spec.resources.gpus_per_node = 8;
  run.spec.resources.gpus_per_rank = 2;
  run.spec.resources.hosts = {"host0", "host1"};
  CHECK_THAT(script_of(run), Catch::Contains(" mpirun -np 2 --map-by ppr:1:node --bind-to none --host host0:1,host1:1 "
                                             "/usr/bin/dtjob bind --cores 12 --gpus 8 "));
  CHECK_THAT(script_of(run), Catch::Contains(" OMP_NUM_THREADS=3 "));
  const auto words = join(make_launcher("srun")->command(run.spec, "dtjob", {"train"}), " ");
  CHECK_THAT(words, Catch::Contains(" --nodes=2 --relative=0 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=12 "));
  CHECK_THAT(words, Catch::Contains(" --gres=gpu:8 dtjob bind --cores 12 --gpus 8 train"));
}

TEST_CASE("on one node no remote shell is needed, and the engine is launched without a look for network cards")
{
  auto run = lenet();
  CHECK_THAT(script_of(run), Catch::Contains(" launch --one-node --no-network-cards mpirun "));
  run.spec.resources.nodes = 2;
  CHECK_THAT(script_of(run), Catch::Contains(" launch mpirun "));
  run.spec.resources.nodes = 1;
  run.spec.program.command = {"python3", "train.py"};
  CHECK_THAT(script_of(run), Catch::Contains(" launch --one-node mpirun "));
}

TEST_CASE("the scripts of a plain run and of one with every key are as they were", "[golden]")
{
  check_golden("plain", script_of(lenet()));
  auto run = lenet(4, 2);
  run.spec.name = "$(touch /tmp/x); '";
  run.spec.label = "two\nlines";
  run.spec.resources.oversubscribe = true;
  run.spec.resources.launcher_args = {"--mca", "btl", "self,vader"};
  run.spec.resources.modules = {"gcc/12", "it's; touch /tmp/x"};
  run.spec.resources.env = {{"PLAIN", "1"}, {"QUOTED", "it's \"$HOME\""}, {"LINES", "one\ntwo"}};
  run.spec.resources.setup = {"source venv/bin/activate", "ulimit -n 4096\necho \"ready\""};
  check_golden("every_key", script_of(run));
}

TEST_CASE("a name of an environment variable that is none, and a launcher nobody knows, are refused")
{
  auto run = lenet();
  run.spec.resources.env = {{"A-B; touch /tmp/x", "1"}};
  CHECK_THROWS_WITH(script_of(run),
                    "resources.env: `A-B; touch /tmp/x` is not a valid name of an environment variable; use letters, digits and "
                    "`_`, and do not begin with a digit.");
  run.spec.resources.env = {{"A", std::string("1\0002", 3)}};
  CHECK_THROWS_WITH(script_of(run), "resources.env.A contains a NUL byte, which cannot be passed to a program; remove it.");
  CHECK_THROWS_WITH(make_launcher("prun"), "there is no launcher `prun`; did you mean `srun`? Allowed: mpirun, srun, dtjob");
}

TEST_CASE("names, values, modules and paths reach their place as they are, and the shell runs none of them")
{
  fs::remove("/tmp/dtctl-test-evil");
  Stage stage;
  stage.run.spec.name = evil;
  stage.run.spec.label = evil;
  stage.run.spec.resources.env = {{"EVIL", evil}, {"PATH", stage.folder.path().string() + ":" + std::getenv("PATH")}};
  stage.run.spec.resources.modules = {evil};
  write_file_atomic(stage.folder.path() / "module",
                    "#!/bin/bash\nprintf %s \"$2\" > '" + stage.folder.path().string() + "/loaded'\n");
  ::chmod((stage.folder.path() / "module").c_str(), 0755);
  const auto result =
      stage.go("printf %s \"$EVIL\" > \"$attempt/env\"; printf %s \"$5\" > \"$attempt/data\"; echo \"$1 $2 $4\"; exit 5");
  CHECK(result.exit_code == 5);
  CHECK(result.out == "run --attempt --data\n");
  CHECK(stage.recorded_exit() == 5);
  CHECK(read_file(stage.attempt.path() / "env") == evil);
  CHECK(read_file(stage.attempt.path() / "data") == evil);
  CHECK(read_file(stage.folder.path() / "loaded") == evil);
  CHECK_FALSE(fs::exists("/tmp/dtctl-test-evil"));
}

TEST_CASE("lines before the modules, the modules and the set-up lines run in this order, and act on the job")
{
  Stage stage;
  stage.run.spec.resources.setup_before = {"module() { echo \"$FOLDER $1 $2\"; }", "FOLDER=here"};
  stage.run.spec.resources.modules = {"gcc", "mpi"};
  stage.run.spec.resources.setup = {"cd /usr", "export FROM_SETUP='a b'", "for i in 1 2; do\n  echo line $i\ndone"};
  CHECK(stage.go("echo \"$PWD $FROM_SETUP\"").out == "here load gcc\nhere load mpi\nline 1\nline 2\n/usr a b\n");
  CHECK(stage.recorded_exit() == 0);
}

TEST_CASE("a set-up line or a module that fails ends the job before the launch, with a recorded code and a sentence")
{
  struct Row {
    std::vector<std::string> before, modules, setup;
    int code; // 0: another one than 0
    std::string message;
  };
  const auto row = GENERATE(Row{{}, {}, {"true", "(exit 3)"}, 3, "dtctl: set-up line 2 failed: (exit 3) (exit code 3) [job ]\n"},
                            Row{{}, {}, {"true", "exit 4"}, 4, "set-up line 2 failed"},
                            Row{{}, {}, {"true", "echo 'open"}, 2, "set-up line 2 failed"},
                            Row{{}, {}, {"true", "set -e; false"}, 1, "set-up line 2 failed"},
                            Row{{"false"}, {}, {}, 1, "resources.setup_before: line 1 failed: false"},
                            Row{{}, {"gcc/99"}, {}, 0, "dtctl: module load gcc/99 failed (exit code "});
  Stage stage;
  stage.run.spec.resources.setup_before = row.before;
  stage.run.spec.resources.modules = row.modules;
  stage.run.spec.resources.setup = row.setup;
  const auto result = stage.go("touch \"$attempt/launched\"");
  INFO(result.err);
  CHECK((row.code == 0 ? result.exit_code != 0 : result.exit_code == row.code));
  CHECK(stage.recorded_exit() == result.exit_code);
  CHECK_THAT(result.err, Catch::Contains(row.message));
  CHECK_FALSE(fs::exists(stage.attempt.path() / "launched"));
}

TEST_CASE("an end that cannot be recorded is said on stderr")
{
  Stage stage;
  const auto result = stage.go("mkdir \"$attempt/end\"");
  CHECK_THAT(result.err, Catch::Contains("could not be recorded"));
}

TEST_CASE("every rank has cores of its own, within the mask the job was given")
{
  const auto cores = usable_cores();
  if (cores.size() < 2) return; // needs 2 cores
  const auto a = std::to_string(cores[0]), b = std::to_string(cores[1]);
  struct Row {
    int ranks, threads;
    std::string mask;
    std::vector<std::string> expected; // a rank
  };
  const auto both = cores[1] == cores[0] + 1 ? a + "-" + b : a + "," + b;
  const auto row = GENERATE_COPY(Row{1, 1, a + "," + b, {a}}, Row{2, 1, a + "," + b, {a, b}}, Row{1, 2, a + "," + b, {both}},
                                 Row{1, 1, b, {b}}, Row{1, 1, a, {a}});
  Stage stage;
  stage.run = lenet(row.ranks, row.threads);
  const auto result = stage.go(write_mask + "; echo $OMP_NUM_THREADS", {"taskset", "-c", row.mask});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with(std::to_string(row.threads) + "\n"));
  for (std::size_t rank = 0; rank < row.expected.size(); ++rank)
    CHECK(mask_of(stage, static_cast<int>(rank)) == row.expected[rank] + "\n");
}

TEST_CASE("ranks that do not fit into the mask are refused, unless the recipe oversubscribes")
{
  const auto core = std::to_string(usable_cores().front());
  Stage stage;
  stage.run = lenet(2, 1);
  stage.run.spec.resources.oversubscribe = GENERATE(false, true);
  const auto result = stage.go(write_mask, {"taskset", "-c", core});
  INFO(result.err);
  if (stage.run.spec.resources.oversubscribe) {
    CHECK(result.exit_code == 0);
    CHECK(mask_of(stage, 1) == core + "\n");
  } else {
    CHECK(result.exit_code == 126);
    CHECK_THAT(result.err, Catch::Contains("dtctl: rank 1 needs 1 core of its own, but the mask on this node has 1 core"));
  }
}

TEST_CASE("two jobs of one rank side by side run on different cores")
{
  if (usable_cores().size() < 2) return; // needs 2 cores
  Playground place;
  Stage left, right;
  std::vector<JobRequest> jobs;
  for (const auto* stage : {&left, &right}) {
    // Each waits for the other, so both must run at once.
    const auto other = (stage == &left ? right : left).attempt.path() / "mask.0";
    stage->write(write_mask + "\nuntil [[ -s " + shell_quote(other.string()) + " ]]; do sleep 0.05; done");
    std::string command = "exec";
    for (const auto& word : stage->command()) command += " " + shell_quote(word);
    jobs.push_back(place.job(stage == &left ? "left" : "right", command));
  }
  place.submit(jobs);
  REQUIRE(eventually([&] { return read_end(left.attempt) && read_end(right.attempt); }));
  CHECK(mask_of(left, 0) != mask_of(right, 0));
}

TEST_CASE("a rank killed by SIGKILL ends the job, and what mpirun prints names the rank")
{
  Stage stage;
  stage.run = lenet(2);
  stage.run.spec.resources.oversubscribe = true;
  const auto result = stage.go("if ((OMPI_COMM_WORLD_RANK == 1)); then kill -9 $$; fi; sleep 100");
  CHECK(stage.recorded_exit() == 137);
  Evidence evidence;
  evidence.end = read_end(stage.attempt);
  evidence.standard_error = result.err;
  CHECK_THAT(judge(evidence, 0).cause, Catch::StartsWith("rank 1 on " + host_name() + " was killed by SIGKILL"));
}

TEST_CASE("ranks that end well without a result do not look ended well")
{
  Stage stage;
  const auto result = stage.go("exit 0");
  CHECK(result.exit_code == 1);
  CHECK(stage.recorded_exit() == 1);
  CHECK_THAT(result.err, Catch::Contains("left no result"));
  const auto fenced = stage.go("echo '{\"schema\": 1, \"fenced_by\": 2}' > \"$attempt/result.json\"; exit 0");
  CHECK(fenced.exit_code == 1);
}

TEST_CASE("a copy of the script runs the attempt that it is given")
{
  Stage stage;
  stage.write("echo \"$attempt\"");
  const AttemptFolder next(stage.attempt.run_folder(), 2);
  make_folders(next.path());
  fs::copy_file(stage.attempt.script(), next.script());
  fs::copy_file(stage.attempt.submission(), next.submission());
  CHECK(run_command({agent_program().string(), "run", next.path().string()}, 60).exit_code == 0);
  CHECK(read_file(next.out()) == next.path().string() + "\n");
  CHECK(read_end(next));
  CHECK(stage.recorded_exit() == -1);
}

TEST_CASE("a launch that dies before its first step is tried again and counted, and its traces are out of the way")
{
  Stage stage;
  stage.run.spec.resources.launch_tries = 3;
  const std::string body = "[[ ! -e $attempt/events.log && ! -e $attempt/begin.json ]] || exit 99\n"
                           "touch \"$attempt/events.log\" \"$attempt/begin.json\"; echo 'beat 1 0 10' > \"$attempt/heartbeat\"\n";
  const auto result = stage.go(body + "[[ -e $attempt/begin.2.json ]] || exit 134");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  const auto launches = read_launches(stage.attempt);
  REQUIRE(launches.size() == 3);
  CHECK(launches[0].exit_code == 134);
  CHECK(launches[2].number == 3);
  CHECK(launches[2].exit_code == 0);
  CHECK(fs::exists(stage.attempt.path() / "begin.1.json"));
}

TEST_CASE("a launch is not tried again when that would do no good or harm")
{
  const auto body = GENERATE(as<std::string>(), "echo 'beat 1 3 10' > \"$attempt/heartbeat\"; exit 1",
                             "echo 'step 1 0' > \"$attempt/events.log\"; exit 1", "echo '{}' > \"$attempt/error.json\"; exit 1",
                             "touch \"$attempt/cancel\"; exit 1", "exit 126", "exit 127",
                             "echo '{\"schema\": 1, \"fenced_by\": 2}' > \"$attempt/result.json\"; exit 1");
  Stage stage;
  stage.run.spec.resources.launch_tries = 3;
  CHECK(stage.go(body).exit_code != 0);
  CHECK(read_launches(stage.attempt).size() == 1);
}

TEST_CASE("a run that stopped in order ends as to be tried again, and asks for it where that may be")
{
  Stage stage;
  stage.may_requeue = GENERATE(false, true);
  const auto result = stage.go("echo '{}' > \"$attempt/preempted.json\"; exit 0");
  CHECK(result.exit_code == 75);
  CHECK(stage.recorded_exit() == 75);
  CHECK(fs::exists(stage.attempt.requeue()) == stage.may_requeue);
}

TEST_CASE("a warning during set-up or before the first step ends the job as preempted, with nothing done")
{
  Stage stage;
  const bool set_up = GENERATE(true, false);
  stage.run.spec.resources.launch_tries = 3;
  const auto up = shell_quote((stage.attempt.path() / "up").string());
  if (set_up) stage.run.spec.resources.setup = {"touch " + up + "; sleep 0.5"};
  const pid_t child = start_and_see_up(stage, "touch \"$attempt/up\"; sleep 100");
  ::kill(child, SIGUSR1);
  CHECK(end_of_process(child) == 75);
  const auto preemption = read_preemption(stage.attempt);
  REQUIRE(preemption);
  CHECK(preemption->signal == "SIGUSR1");
  CHECK(preemption->step == 0);
  CHECK(read_launches(stage.attempt).size() == (set_up ? 0 : 1));
}

TEST_CASE("SIGTERM to every process of a job leaves the ranks the time of a long step to write their checkpoint")
{
  Stage stage;
  stage.run.spec.resources.scheduler = "slurm";
  const pid_t job = start_and_see_up(
      stage, "told=''; trap 'told=1' TERM USR1; touch \"$attempt/up\"\n"
             "until [[ -n $told ]]; do sleep 0.05; done\n"
             "for ((i = 0; i < 60; ++i)); do sleep 0.05; done\n" // mpirun allows two seconds
             "echo '{\"schema\": 1, \"unix_s\": 1, \"step\": 7, \"steps\": 9, \"checkpoint\": \"step-7.safetensors\", "
             "\"signal\": \"SIGTERM\"}' > \"$attempt/preempted.json\"; exit 0");
  signal_all(job, SIGTERM);
  signal_all(job, SIGTERM); // as Slurm does at the end of a grace time
  CHECK(end_of_process(job) == 75);
  REQUIRE(read_preemption(stage.attempt));
  CHECK(read_preemption(stage.attempt)->step == 7);
}

TEST_CASE("a run that is told to stop and ends before its checkpoint is preempted at the step it had reached, unless it failed "
          "by itself")
{
  const auto [code, error, preempted] = GENERATE(
      table<int, bool, bool>({{1, false, true}, {143, false, true}, {205, false, true}, {139, false, false}, {1, true, false}}));
  Stage stage;
  make_folders(stage.attempt.checkpoints());
  for (const auto* name : {"step-90.safetensors", "step-100.safetensors", ".step-110.safetensors.1"})
    write_file_atomic(stage.attempt.checkpoints() / name, "");
  write_file_atomic(stage.attempt.heartbeat(), "beat 12.5 104 400\n");
  const pid_t job =
      start_and_see_up(stage, std::string("trap '") + (error ? "echo {} > \"$attempt/error.json\"; " : "") + "exit " +
                                  std::to_string(code) + "' USR1; touch \"$attempt/up\"; sleep 100 & wait");
  ::kill(job, SIGTERM);
  CHECK(end_of_process(job) == (preempted ? 75 : code));
  CHECK(stage.recorded_exit() == (preempted ? 75 : code));
  const auto record = read_preemption(stage.attempt);
  REQUIRE(record.has_value() == preempted);
  if (!record) return;
  CHECK(record->step == 104);
  CHECK(record->steps == 400);
  CHECK(record->checkpoint == "step-100.safetensors");
  CHECK(record->signal == "SIGTERM");
}

TEST_CASE("a run that loses a node asks to be started again, where that may be")
{
  const auto said = GENERATE(as<std::string>(),
                             "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[7527,0],0] on node node0\n"
                             "  Remote daemon: [[7527,0],1] on node node1\n",
                             "srun: error: Node failure on node1");
  Stage stage;
  stage.may_requeue = GENERATE(true, false);
  stage.write("");
  write_file_atomic(stage.attempt.err(), said + "\n");
  const auto result = stage.go("exit 205");
  CHECK(result.exit_code == 205);
  CHECK(fs::exists(stage.attempt.requeue()) == stage.may_requeue);
}

TEST_CASE("a run that is cancelled or out of time is ended, not asked for a checkpoint")
{
  Stage stage;
  const bool is_cancelled = GENERATE(true, false);
  const pid_t job = start_and_see_up(
      stage, "trap 'echo USR1 > \"$attempt/told\"; exit 0' USR1; trap 'echo TERM > \"$attempt/told\"; exit 0' TERM; "
             "touch \"$attempt/up\"; sleep 100 & wait");
  write_file_atomic(is_cancelled ? stage.attempt.cancel() : stage.attempt.stop_reason(), "time_limit\n");
  ::kill(job, SIGTERM);
  CHECK(end_of_process(job) != 0);
  CHECK(read_file(stage.attempt.path() / "told") == "TERM\n");
  CHECK_FALSE(fs::exists(stage.attempt.preempted()));
}

TEST_CASE("the ranks of a run that was removed are ended, because nobody could find them any more")
{
  Stage stage;
  const auto word = stage.folder.path() / "rank";
  const pid_t job = start_and_see_up(stage, "echo $$ > " + shell_quote(word.string()) +
                                                "; touch \"$attempt/up\"; while :; do sleep 0.05; done");
  const auto rank = identify_process(std::stoi(read_file(word)));
  REQUIRE(rank);
  fs::remove_all(stage.attempt.run_folder());
  CHECK(end_of_process(job) != 0);
  CHECK(eventually([&] { return !is_alive(*rank); }));
}

TEST_CASE("a job that starts while its home is moved says that it waits, and runs when there is a link to the new place")
{
  Stage stage;
  stage.write("true");
  const auto said = stage.folder.path() / "said", old = stage.attempt.run_folder(), moved = stage.folder.path() / "moved";
  fs::rename(old, moved);
  std::vector<std::string> words{"/bin/bash", "-c", "exec \"$@\" 2> " + shell_quote(said.string()), "bash"};
  for (const auto& word : stage.command()) words.push_back(word);
  const pid_t job = stage.start(words);
  CHECK(eventually(
      [&] { return text_if_readable(said).find("is not there: the home was moved or removed") != std::string::npos; }));
  CHECK_FALSE(fs::exists(old));
  fs::create_directory_symlink(moved, old);
  CHECK(end_of_process(job) == 0);
  CHECK(read_result(AttemptFolder(moved, 1)));
}

TEST_CASE("a job that failed tells kind, rank and text of the cause in cause.json, and one that was cancelled tells none")
{
  Stage stage;
  CHECK(stage.go("echo 'ValueError: no such label' >&2; exit 3").exit_code == 3);
  const auto told = read_attempt(stage.attempt, std::array{AttemptFile::cause}).cause;
  REQUIRE(told);
  CHECK(told->kind == cause_kind::rank_exit);
  CHECK(told->rank == 0);
  CHECK_THAT(told->text, Catch::Contains("ValueError: no such label"));

  Stage error;
  error.run.spec.resources.ranks_per_node = 2;
  error.go("echo '" + to_json(RankError{1, "node7", "loss is NaN", 12, 5}) + "' > \"$attempt/error.json\"; exit 1");
  const auto of_rank = read_attempt(error.attempt, std::array{AttemptFile::cause}).cause;
  REQUIRE(of_rank);
  CHECK(of_rank->kind == cause_kind::rank_error);
  CHECK(of_rank->rank == 1);
  CHECK(of_rank->host == "node7");

  Stage cancelled;
  cancelled.go("echo '5 alice' > \"$attempt/cancel\"; exit 1");
  CHECK_FALSE(is_there(cancelled.attempt.cause()));
  CHECK(read_end(cancelled.attempt));
}

TEST_CASE("a job whose predecessors did not all succeed in their latest attempt is not run")
{
  Stage stage;
  const AttemptFolder first(stage.folder.path() / "aabbccddeeff", 1), second(stage.folder.path() / "aabbccddeeff", 10);
  stage.after = {first.run_folder()};
  make_folders(first.path());
  const auto is_run = [&] { return stage.go("touch \"$attempt/launched\"").exit_code == 0; };
  CHECK_FALSE(is_run());
  CHECK_THAT(read_file(stage.attempt.stop_reason()), Catch::StartsWith("not run: run aabbccddee"));
  CHECK_FALSE(fs::exists(stage.attempt.path() / "launched"));
  fence(first, 10);
  CHECK_FALSE(is_run());
  make_folders(AttemptFolder(first.run_folder(), 9).path());
  make_folders(second.path());
  commit_result(second, RunResult{});
  CHECK(is_run());
}
