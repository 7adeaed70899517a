// `dtjob batch` in a job that the test pretends to be Slurm's; the scripts that start it: golden texts.
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/hash.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/parse.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "jobs/slurm/batch.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/processes.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::testing;
namespace fs = std::filesystem;

namespace {

const std::string batch_id = "0123456789abcdef";

// A batch with a home whose name is hostile to shells, job scripts that the test writes, and a Slurm of three commands.
class Batch {
 public:
  explicit Batch(int runs = 1, const std::string& body = "", char kind = 'j') : kind_(kind)
  {
    make_folders(folder());
    make_folders(bin());
    for (int i = 0; i < runs; ++i) add(i, body);
    script();
    command("scontrol", "case \"$1 $2\" in 'show job') cat $0.job;; show*) printf 'nodeA\\nnodeB\\nnodeC\\n';; esac");
    slurm_says("JobState=RUNNING");
  }

  fs::path home() const { return place_.path() / "it's a \"home\" $HOME `x`"; }
  fs::path folder() const { return home() / "slurm" / id_; }
  fs::path bin() const { return place_.path() / "bin"; }
  fs::path trace() const { return place_.path() / "trace"; }
  AttemptFolder attempt(int run = 0, int number = 1) const { return {home() / "runs" / fmt::format("run{}", run), number}; }
  std::string token(int run = 0) const { return fmt::format("{}{}.{}", kind_, id_, run); }
  std::string traces() const { return read_file_if_exists(trace()).value_or(""); }
  std::string commands() const { return read_file_if_exists(place_.path() / "commands").value_or(""); }

  // A program in front of PATH that writes down how it was called.
  void command(const std::string& name, const std::string& body) const
  {
    write_file_atomic(bin() / name, "#!/bin/bash\necho \"" + name + " $*\" >> " +
                                        shell_quote((place_.path() / "commands").string()) + "\n" + body + "\n");
    ::chmod((bin() / name).c_str(), 0755);
  }

  // What scontrol shows of the job from now on, behind a line of the site.
  void slurm_says(const std::string& fields) const
  {
    write_file_atomic(bin() / "scontrol.job", "NOTICE\nJobId=7 JobName=dtctl " + fields + " Restarts=0\n");
  }

  // Adds a run whose launcher is a shell. The shell writes to the trace which signals it gets, and executes `body`; the function
  // `succeed` in it leaves a result.
  void add(int run, const std::string& body, std::int64_t limit_s = 3600, int nodes = 1)
  {
    const auto folder = attempt(run);
    make_folders(folder.path());
    const auto trace = shell_quote(this->trace().string());
    write_file_atomic(place_.path() / "result.json", to_json(RunResult{}));
    write_file_atomic(folder.path() / "body.sh", "trap 'echo told USR1 >> " + trace + "; exit 75' USR1\ntrap 'echo told HUP >> " +
                                                     trace + "; exit 129' HUP\nsucceed() { cp " +
                                                     shell_quote((place_.path() / "result.json").string()) +
                                                     " \"$attempt/result.json\"; }\nattempt=$1\necho \"ran ${1#" +
                                                     shell_quote(home().string()) + "/runs/}\" >> " + trace + "\n" + body + "\n");
    write_file_atomic(folder.script(), "exec " + shell_quote(agent_program().string()) + " launch bash " +
                                           shell_quote((folder.path() / "body.sh").string()) + " \"$1\"\n");
    write_file_atomic(folder.submission(), to_json(Submission{1, token(run), "slurm", "study", 1, "7"}));
    tasks_ += fmt::format("{} {} {} {} {}\n", run, token(run), nodes, limit_s, folder.path().string());
    write_file_atomic(this->folder() / "tasks", tasks_);
  }

  // Of a job that may be started again so often, and is warned so long before its limit.
  void script(std::int64_t requeue = 0, std::int64_t ahead_s = 0) const
  {
    const BatchStart start{agent_program().string(), folder(), kind_ == 'l', requeue, ahead_s};
    write_file_atomic(folder() / "script", slurm::start_script(start));
  }

  std::vector<std::string> words(const std::string& job, int restart, const std::string& more = "") const
  {
    std::vector<std::string> words{"env", "PATH=" + bin().string() + ":" + std::getenv("PATH"), "SLURM_JOB_NODELIST=node[A-C]"};
    if (const auto at = job.find('_'); at == std::string::npos)
      words.push_back("SLURM_JOB_ID=" + job);
    else
      words.insert(words.end(),
                   {"SLURM_JOB_ID=99", "SLURM_ARRAY_JOB_ID=" + job.substr(0, at), "SLURM_ARRAY_TASK_ID=" + job.substr(at + 1)});
    if (restart > 0) words.push_back("SLURM_RESTART_COUNT=" + std::to_string(restart));
    if (!more.empty()) words.push_back(more);
    words.insert(words.end(), {"bash", (folder() / "script").string()});
    return words;
  }

  CommandResult go(const std::string& job = "7", int restart = 0) const { return run_command(words(job, restart), 60); }

  // As a process of its own.
  pid_t start(const std::string& job = "7", int restart = 0) const
  {
    return dt::test::start_program(words(job, restart), [this] {
      if (std::freopen((place_.path() / "log").c_str(), "a", stdout) == nullptr) ::_exit(126);
    });
  }
  std::string log() const { return read_file_if_exists(place_.path() / "log").value_or(""); }

 private:
  Folder place_;
  // Its own: dtjob ends what is left of a ladder's run by its token, and tests run side by side.
  std::string id_ = hash_hex(place_.path().string()).substr(0, 16);
  char kind_;
  std::string tasks_;
};

bool says(const CommandResult& result, const std::string& words)
{
  return (result.out + result.err).find(words) != std::string::npos;
}

} // namespace

TEST_CASE("the scripts of a job and of a ladder are as they were", "[golden]")
{
  check_golden("batch", slurm::start_script({"/usr/bin/dtjob", "/home/user/it's/slurm/" + batch_id, false, 2, 60}));
  check_golden("batch_ladder", slurm::start_script({"/opt/my tools/dtjob", "/home/user/slurm/" + batch_id, true, 0, 60}));
}

TEST_CASE("a job claims its attempt, runs its script and ends with its exit code, or is recorded as killed")
{
  const auto [last, code] = GENERATE(table<std::string, int>({{"exit 5", 5}, {"kill -9 $$", 137}}));
  const Batch batch(1, "echo out; echo err >&2; echo \"$DTCTL_JOB_ID $DTCTL_JOB_TOKEN\"; " + last);
  const auto result = batch.go();
  INFO(result.out << result.err);
  CHECK(result.exit_code == code);
  CHECK(batch.traces() == "ran run0/attempts/1\n");
  CHECK(read_file(batch.attempt().out()) == "out\n7 " + batch.token() + "\n");
  CHECK(read_file(batch.attempt().err()).starts_with("err\n"));
  const auto owner = read_owner(batch.attempt());
  REQUIRE(owner);
  CHECK(owner->token == batch.token());
  CHECK(owner->job_id == "7");
  CHECK(owner->restart == 0);
  CHECK(read_end(batch.attempt())->exit_code == code);
}

TEST_CASE("a task of an array runs its own line")
{
  const Batch batch(3, "", 'a');
  CHECK(batch.go("7_1").exit_code == 1); // no result
  CHECK(batch.traces() == "ran run1/attempts/1\n");
  CHECK(read_owner(batch.attempt(1))->job_id == "7_1");
}

TEST_CASE("a second job for the same attempt does nothing, whether the first still runs or has ended")
{
  const Batch batch;
  batch.script(3);
  batch.go("7");
  for (const int restart : {0, 1}) {
    const auto second = batch.go("8", restart);
    CHECK(second.exit_code == 0);
    CHECK(says(second, "somebody else's"));
  }
  CHECK(batch.go("7").exit_code == 0);
  CHECK(batch.traces() == "ran run0/attempts/1\n");
}

TEST_CASE("of copies that start at once exactly one runs")
{
  const int restart = GENERATE(0, 1);
  const Batch batch(1, "sleep 0.2");
  batch.script(1);
  if (restart > 0) batch.go("7", 0);
  std::vector<pid_t> copies;
  for (int i = 0; i < 6; ++i) copies.push_back(batch.start("7", restart));
  int ran = 0; // its exit code is 1, because it leaves no result
  for (const pid_t copy : copies) ran += end_of_process(copy);
  CHECK(ran == 1);
  CHECK(batch.traces() == (restart > 0 ? "ran run0/attempts/1\nran run0/attempts/2\n" : "ran run0/attempts/1\n"));
  CHECK(attempt_numbers(batch.attempt().run_folder()).size() == static_cast<std::size_t>(restart) + 1);
}

TEST_CASE("a job that Slurm starts again makes the next attempt and fences the earlier one off")
{
  const Batch batch(1, "echo '{}' > \"$attempt/preempted.json\"");
  batch.script(2);
  batch.go("7", 0);
  CHECK(batch.go("7", 1).exit_code == 75);
  CHECK(batch.go("7", 2).exit_code == 75);
  CHECK(batch.traces() == "ran run0/attempts/1\nran run0/attempts/2\nran run0/attempts/3\n");
  CHECK(fenced_by(batch.attempt()) == 2);
  CHECK(fenced_by(batch.attempt(0, 2)) == 3);
  CHECK_FALSE(commit_result(batch.attempt(), RunResult{}));
  const auto submission = read_submission(batch.attempt(0, 3));
  REQUIRE(submission);
  CHECK(submission->attempt == 3);
  CHECK(submission->restart == 2);
  CHECK(submission->token == batch.token());
  CHECK(submission->job_id == "7");
  CHECK(fs::exists(batch.attempt(0, 2).requeue()));
  CHECK_FALSE(fs::exists(batch.attempt(0, 3).requeue())); // it may be started again twice
}

TEST_CASE("a result that is already there leaves nothing to do")
{
  const Batch batch;
  batch.script(1);
  if (GENERATE(false, true)) batch.go("7", 0);
  commit_result(batch.attempt(), RunResult{});
  const auto before = batch.traces();
  CHECK(batch.go("7", 1).exit_code == 0);
  CHECK(batch.traces() == before);
  CHECK(attempt_numbers(batch.attempt().run_folder()).size() == 1);
}

TEST_CASE("an attempt that somebody else has taken over is left to him")
{
  const Batch batch;
  batch.script(1);
  batch.go("7", 0);
  fence(batch.attempt(), 2);
  const AttemptFolder next = batch.attempt(0, 2);
  make_folders(next.path());
  write_file_atomic(next.script(), "exit 1");
  write_file_atomic(next.submission(), to_json(Submission{2, "other", "slurm", "study", 1, "9"}));
  CHECK(batch.go("7", 1).exit_code == 0);
  CHECK_FALSE(fs::exists(next.owner()));
}

TEST_CASE("an attempt fenced off or cancelled before it began is not run")
{
  const Batch batch;
  if (GENERATE(false, true))
    fence(batch.attempt(), 2);
  else
    write_file_atomic(batch.attempt().cancel(), "1 alice\n");
  CHECK(batch.go().exit_code == 0);
  CHECK(batch.traces().empty());
}

TEST_CASE("a restart that died between fence and next attempt is made good by the next one")
{
  const Batch batch;
  batch.script(2);
  batch.go("7", 0);
  fence(batch.attempt(), 2);
  make_folders(batch.attempt().path().parent_path() / ".next.node.1");
  CHECK(batch.go("7", 2).exit_code == 1); // no result
  CHECK(batch.traces() == "ran run0/attempts/1\nran run0/attempts/2\n");
  CHECK(read_submission(batch.attempt(0, 2))->restart == 2);
}

TEST_CASE("tasks that are missing or damaged are told, and nothing is run")
{
  const Batch batch;
  const auto tasks = batch.folder() / "tasks";
  struct Row {
    std::string text, message;
  };
  const auto row = GENERATE(Row{"", "has no line for task 0"}, Row{"0 j0123456789abcdef.0 1\n", "a line is damaged"},
                            Row{"0 $(touch x) 1 60 /a/attempts/1\n", "a line is damaged"},
                            Row{"0 jffffffffffffffff.0 1 60 /a/attempts/1\n", "a line is of another batch"});
  write_file_atomic(tasks, row.text);
  const auto result = batch.go();
  INFO(result.out << result.err);
  CHECK(says(result, row.message));
  CHECK(result.exit_code == static_cast<int>(ExitCode::environment));
  CHECK(batch.traces().empty());
}

TEST_CASE("files that do not reach the node in half a minute end a job with an error, and the other runs of a ladder are run")
{
  const bool is_ladder = GENERATE(false, true);
  const Batch batch(2, "succeed", is_ladder ? 'l' : 'j');
  fs::remove_all(is_ladder ? batch.attempt().path() : batch.folder() / "tasks");
  const auto result = batch.go();
  INFO(result.out << result.err);
  CHECK(result.exit_code == static_cast<int>(ExitCode::environment));
  CHECK(says(result, is_ladder ? "submission.json is not there on " : "tasks: No such file or directory"));
  CHECK(batch.traces() == (is_ladder ? "ran run1/attempts/1\n" : ""));
}

TEST_CASE("a job waits for files that reach its node later than the job, and a signal ends the wait")
{
  const bool is_told = GENERATE(false, true), are_tasks_late = GENERATE(false, true);
  const Batch batch(1, "succeed");
  const auto late = are_tasks_late ? batch.folder() / "tasks" : batch.attempt().path();
  const auto aside = fs::path(late.string() + ".aside");
  fs::rename(late, aside);
  const pid_t job = batch.start();
  while (batch.log().find(late.string()) == std::string::npos) ::usleep(10'000);
  if (is_told)
    ::kill(job, SIGTERM);
  else
    fs::rename(aside, late);
  const int code = end_of_process(job);
  INFO(batch.log());
  CHECK((code == 0) == (!is_told || !are_tasks_late));
  CHECK(batch.traces() == (is_told ? "" : "ran run0/attempts/1\n"));
}

TEST_CASE("outside of Slurm the script refuses to run")
{
  const Batch batch;
  const auto result = run_command({"env", "-u", "SLURM_JOB_ID", "bash", (batch.folder() / "script").string()}, 60);
  CHECK(result.exit_code == static_cast<int>(ExitCode::environment));
}

TEST_CASE("a signal reaches the launcher, and one that comes before the launch ends the run as stopped, too")
{
  const Batch batch(1, "while :; do sleep 0.05; done");
  batch.script(1);
  const int signal = GENERATE(SIGUSR1, SIGTERM);
  const bool at_once = GENERATE(true, false);
  const pid_t job = batch.start();
  REQUIRE(eventually([&] { return at_once ? fs::exists(batch.attempt().owner()) : !batch.traces().empty(); }));
  ::kill(job, signal);
  CHECK(end_of_process(job) == 75);
  const auto preemption = read_preemption(batch.attempt());
  REQUIRE(preemption);
  CHECK(preemption->signal == signal_name(signal));
  if (!at_once) CHECK(batch.traces() == "ran run0/attempts/1\ntold USR1\n");
}

TEST_CASE(
    "a warning is put down to the time limit only when that is near, and to one that was changed in the scheduler with the limit")
{
  const auto [limit_s, slurm_says, reason] = GENERATE(table<int, std::string, std::string>(
      {{100, "", "time_limit\n"}, {3600, "", ""}, {3600, " TimeLimit=00:01:40", "time_limit 100\n"}}));
  Batch batch(0);
  batch.add(0, "while :; do sleep 0.05; done", limit_s);
  batch.slurm_says("JobState=RUNNING" + slurm_says);
  batch.script(0, 60);
  const pid_t job = batch.start();
  REQUIRE(eventually([&] { return !batch.traces().empty(); }));
  ::kill(job, SIGUSR1);
  CHECK(end_of_process(job) == 75);
  CHECK(read_file_if_exists(batch.attempt().stop_reason()).value_or("") == reason);
}

TEST_CASE("Slurm is asked to start a job again when its script says so, unless the job was ended from outside")
{
  const Batch batch(1, "touch \"$attempt/requeue\"; exit 75");
  batch.script(1);
  const bool cancelled = GENERATE(false, true);
  if (cancelled) batch.slurm_says("JobState=COMPLETING");
  CHECK(batch.go().exit_code == 75);
  CHECK((batch.commands().find("scontrol requeue 7\n") == std::string::npos) == cancelled);
  CHECK(fs::exists(batch.attempt().requeue()) != cancelled);
}

TEST_CASE("Slurm is asked again to start a job when it did not answer, and what was asked is recorded with its answers")
{
  const Batch batch(1, "touch \"$attempt/requeue\"; exit 75");
  batch.script(1);
  const bool is_refused = GENERATE(false, true);
  batch.command(
      "scontrol",
      "[[ $1 == requeue ]] || { cat $0.job; exit 0; }; [[ -e $0.asked ]] || { touch $0.asked; echo 'slurm_requeue error: "
      "Socket timed out on send/recv operation' >&2; exit 1; }" +
          std::string(is_refused ? "; echo 'Requested operation is presently disabled' >&2; exit 1" : ""));
  CHECK(batch.go().exit_code == 75);
  const auto wishes = record::parse_wishes(read_file_if_exists(batch.attempt().asked()).value_or(""));
  REQUIRE(wishes.size() == 2);
  CHECK(wishes[0].verb == "requeue");
  CHECK(wishes[0].answer == "slurm_requeue error: Socket timed out on send/recv operation");
  CHECK(wishes[1].answer == (is_refused ? "Requested operation is presently disabled" : "accepted"));
  CHECK(fs::exists(batch.attempt().requeue()) != is_refused);
}

TEST_CASE("a ladder runs its runs in order, each on the first of its nodes")
{
  Batch batch(0, "", 'l');
  for (int run = 0; run < 3; ++run) batch.add(run, "cat \"$OMPI_MCA_orte_default_hostfile\"; succeed", 3600, run + 1);
  CHECK(batch.go().exit_code == 0);
  CHECK(batch.traces() == "ran run0/attempts/1\nran run1/attempts/1\nran run2/attempts/1\n");
  CHECK(read_file(batch.attempt(0).out()) == "nodeA\n");
  CHECK(read_file(batch.attempt(2).out()) == "nodeA\nnodeB\nnodeC\n");
}

TEST_CASE("a ladder leaves out what is cancelled or has a result, and goes on after a run that fails")
{
  Batch batch(0, "", 'l');
  for (int run = 0; run < 4; ++run) batch.add(run, run == 0 ? "exit 9" : "succeed");
  write_file_atomic(batch.attempt(1).cancel(), "1 alice\n");
  commit_result(batch.attempt(2), RunResult{});
  CHECK(batch.go().exit_code == 9);
  CHECK(batch.traces() == "ran run0/attempts/1\nran run3/attempts/1\n");
}

TEST_CASE("a ladder started again goes on with what was cut off and leaves what has ended by itself")
{
  Batch batch(0, "", 'l');
  for (int run = 0; run < 4; ++run)
    batch.add(run, run == 0   ? "exit 9"
                   : run == 1 ? "echo '{}' > \"$1/preempted.json\"; kill -TERM $PPID; while :; do sleep 0.05; done"
                              : "succeed");
  batch.script(1);
  batch.go("7", 0);
  CHECK(batch.traces() == "ran run0/attempts/1\nran run1/attempts/1\ntold USR1\n");
  CHECK(batch.commands().find("scontrol requeue 7\n") != std::string::npos);
  batch.go("7", 1);
  CHECK(batch.traces().substr(batch.traces().find("told USR1\n") + 10) == "ran run1/attempts/2\ntold USR1\n");
}

TEST_CASE("a ladder started again by Slurm runs what was cut off without a word, and not what reached its own time limit")
{
  Batch batch(0, "", 'l');
  batch.add(0, "echo '{}' > \"$1/preempted.json\"; echo time_limit > \"$1/stop_reason\"; exit 75");
  batch.add(1, "touch \"$1/requeue\"; exit 205");                       // lost a node
  batch.add(2, "[[ $1 == */2 ]] || { kill -TERM $PPID; kill -9 $$; }"); // killed with its job
  batch.add(3, "succeed");
  batch.slurm_says("JobState=COMPLETING");
  batch.go("7", 0);
  const auto before = batch.traces();
  batch.slurm_says("JobState=RUNNING");
  batch.go("7", 1);
  INFO(batch.traces());
  CHECK(batch.traces().substr(before.size()) == "ran run1/attempts/2\nran run2/attempts/2\nran run3/attempts/1\n");
}

TEST_CASE("runs of a ladder whose turn never came are told so")
{
  Batch batch(0, "", 'l');
  batch.add(0, "kill -USR1 $PPID; while :; do sleep 0.05; done");
  batch.add(1, "succeed");
  CHECK(batch.go().exit_code == 75);
  CHECK(batch.traces() == "ran run0/attempts/1\ntold USR1\n");
  CHECK(read_file(batch.attempt(1).stop_reason()) == "not started: its job was told to stop by SIGUSR1 before its turn came\n");
}

TEST_CASE("a ladder's run gets a signal ahead of its own time limit, and then the next run starts")
{
  Batch batch(0, "", 'l');
  batch.add(0, "while :; do sleep 0.05; done", 600);
  batch.add(1, "succeed", 600);
  batch.script(0, 599);
  CHECK(batch.go().exit_code == 75);
  CHECK(batch.traces() == "ran run0/attempts/1\ntold USR1\nran run1/attempts/1\n");
  CHECK(read_file(batch.attempt(0).stop_reason()) == "time_limit\n");
  CHECK_FALSE(fs::exists(batch.attempt(1).stop_reason()));
}

TEST_CASE("a ladder's run is ended at its own time limit, and the next one runs")
{
  Batch batch(0, "", 'l');
  batch.add(0, "while :; do sleep 0.05; done", 2);
  batch.add(1, "succeed", 600);
  CHECK(batch.go().exit_code != 0);
  const auto traces = batch.traces();
  CHECK(traces.ends_with("ran run1/attempts/1\n"));
  if (traces.starts_with("ran run0"))
    CHECK(traces == "ran run0/attempts/1\ntold HUP\nran run1/attempts/1\n"); // else: a busy machine
  CHECK(read_file(batch.attempt(0).stop_reason()) == "time_limit\n");
  CHECK_FALSE(fs::exists(batch.attempt(0).preempted()));
}
