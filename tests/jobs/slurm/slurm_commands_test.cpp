// What Slurm's commands print, read as records, and the command line of a job. Then the commands themselves, as scripts that
// print what a test wants.
#include "core/files/file.hpp"
#include "jobs/slurm/access/failure_text.hpp"
#include "jobs/slurm/access/output.hpp"
#include "jobs/slurm/access/queue_output.hpp"
#include "jobs/slurm/access/sbatch_words.hpp"
#include "jobs/slurm/access/site_output.hpp"
#include "jobs/slurm/access/slurm_commands.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/words.hpp"
#include "tests/jobs/playground.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>

using namespace dt;
using namespace dt::jobs::slurm;
using dt::jobs::testing::Folder;
using dt::jobs::testing::Variable;
namespace fs = std::filesystem;

namespace {

std::string recorded(const std::string& name)
{
  return read_file(fs::path(DTCTL_SOURCE_DIR) / "tests/jobs/slurm/recorded" / name);
}

std::string table_of(const std::vector<std::vector<std::string>>& rows)
{
  std::string text;
  for (const auto& row : rows) {
    for (const auto& field : row) text += field + field_end;
    text += "\n";
  }
  return text;
}

const std::vector<std::string> queue_header{
    "JOBID",         "JOBID",      "STATE",     "EXIT_CODE", "DERIVED_EC", "SUBMIT_TIME", "START_TIME", "TIME",
    "RESTART_COUNT", "TIME_LIMIT", "PARTITION", "NODELIST",  "REASON",     "DEPENDENCY",  "NAME",       "COMMENT"};
const std::vector<std::string> running_task{"9",    "7_4",    "RUNNING", "0",          "-2",   "100",
                                            "200",  "5:00",   "1",       "1-00:00:00", "main", "node[1-2]",
                                            "None", "(null)", "dtctl:s", "dtctl:a00 k"};
// Columns of these.
constexpr std::size_t job_id = 0, array = 1, state_word = 2, exit_code = 3, submitted = 5, reason_word = 12, job_name = 14,
                      comment = 15;

std::string queue_of(const std::vector<std::vector<std::string>>& rows)
{
  auto all = rows;
  all.insert(all.begin(), queue_header);
  return table_of(all);
}

std::vector<std::string> with(std::vector<std::string> row, std::size_t column, const std::string& value)
{
  row.at(column) = value;
  return row;
}

SlurmRecord read_one(const std::vector<std::string>& row) { return read_queue(queue_of({row}), 500).at(0); }

SlurmFailure failure_by(const std::function<void()>& action)
{
  try {
    action();
  } catch (const SlurmFailure& failure) {
    return failure;
  }
  return {0, "no failure"};
}

std::string words_of_failure(const std::function<void()>& action)
{
  const auto failure = failure_by(action);
  CHECK((failure.code() == unreadable_answer || failure.code() == 0));
  return failure.what();
}

const std::vector<std::string> past_header{"JobIDRaw", "JobID",   "State",     "ExitCode",  "DerivedExitCode",
                                           "Submit",   "Start",   "Timelimit", "Partition", "NodeList",
                                           "Reason",   "JobName", "SubmitLine"};
const std::string submit_line = "sbatch --parsable --comment=dtctl:a00 k";
const std::vector<std::string> past_task{"9",        "7_4",  "FAILED", "3:0",  "0:15",    "100",      "200",
                                         "01:00:00", "main", "node0",  "None", "dtctl:s", submit_line};

CommandResult failed(const std::string& err)
{
  CommandResult result;
  result.exit_code = 1;
  result.err = err;
  return result;
}

int code_for(const std::string& err) { return failure_of("sbatch", failed(err)).code(); }

// Programs of Slurm's names, which print and exit as told.
class FakeCommands {
 public:
  void make(const std::string& name, const std::string& script) const
  {
    write_file_atomic(folder_.path() / name, "#!/bin/bash\n" + script + "\n");
    fs::permissions(folder_.path() / name, fs::perms::owner_all);
  }
  SlurmCommands open() const { return SlurmCommands("22.05"); }
  fs::path operator/(const std::string& name) const { return folder_.path() / name; }

 private:
  Folder folder_;
  Variable path_{"PATH", folder_.path().string() + ":/usr/bin:/bin"};
};

} // namespace

TEST_CASE("a job of squeue has every fact of a record")
{
  const auto task = read_one(running_task);
  CHECK(task.id == 9);
  CHECK(task.array_id == 7);
  CHECK(task.tasks == std::vector<std::uint32_t>{4});
  CHECK(task.phase == JobPhase::running);
  CHECK(task.submit_unix_s == 100);
  CHECK(task.start_unix_s == 200);
  CHECK(task.restarts == 1);
  CHECK(task.time_limit_s == 86400);
  CHECK(task.nodes == "node[1-2]");
  CHECK(task.partition == "main");
  CHECK(task.dependency.empty());
  CHECK(task.name == "dtctl:s");
  CHECK(task.comment == "dtctl:a00 k");
  CHECK(task.suspended_s == 0);
  const auto single = read_one(with(running_task, array, "9"));
  CHECK(single.array_id == 0);
  CHECK(single.tasks.empty());
}

TEST_CASE("the waiting tasks of an array are one record, whatever way squeue writes their indices")
{
  const auto tasks_in = [](const std::string& text) {
    return read_one(with(running_task, array, "7_[" + text + "]")).tasks.size();
  };
  CHECK(tasks_in("2-99%2") == 98);
  CHECK(tasks_in("0,5,7-9") == 5);
  const auto waits = with(with(running_task, job_id, "7"), state_word, "PENDING");
  const auto held =
      with(with(with(with(running_task, job_id, "8"), array, "7_5"), state_word, "PENDING"), reason_word, "JobHeldUser");
  const auto records = read_queue(queue_of({with(waits, array, "7_4"), held, with(waits, array, "7_6")}), 500);
  REQUIRE(records.size() == 2);
  CHECK(records[0].tasks == std::vector<std::uint32_t>{4, 6});
  CHECK(records[1].reason == "JobHeldUser");
  CHECK(failure_by([] { read_one(with(running_task, array, "7_?")); }).code() == unreadable_answer);
}

TEST_CASE("exit codes are wait statuses, as numbers before Slurm 23.02 and as code and signal since")
{
  const auto status = [](const std::string& text) { return read_one(with(running_task, exit_code, text)).exit_status; };
  for (const auto* text : {"768", "3:0"}) CHECK(exit_code_of(status(text)) == 3);
  for (const auto* text : {"15", "0:15"}) CHECK(exit_code_of(status(text)) == 128 + 15);
  for (const auto* text : {"-2", ""}) CHECK(status(text) == 0);
  CHECK(failure_by([&] { status("three"); }).code() == unreadable_answer);
}

TEST_CASE("a state with a flag is told as the same status as through the library")
{
  const auto state = [](const std::string& word) { return status_of(read_one(with(running_task, state_word, word))).state; };
  using State = dt::jobs::JobStatus::State;
  for (const auto* word : {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD"}) CHECK(state(word) == State::queued);
  for (const auto* word : {"COMPLETING", "SUSPENDED"}) CHECK(state(word) == State::running);
  for (const auto* word : {"COMPLETED", "NODE_FAIL"}) CHECK(state(word) == State::ended);
  CHECK(state("SOMETHING_NEW") == State::unknown);
}

TEST_CASE("the reason of a job is Slurm's word also where squeue prints its details")
{
  const auto reason = [](const std::string& text) { return read_one(with(running_task, reason_word, text)); };
  const std::string details = "ReqNodeNotAvail, UnavailableNodes:node1";
  CHECK(reason("Resources").reason == "Resources");
  CHECK(reason("Resources").reason_details.empty());
  CHECK(reason(details).reason == "ReqNodeNotAvail");
  CHECK(reason(details).reason_details == details);
  CHECK(reason("Nodes required for job are DOWN, DRAINED or reserved for jobs").reason == "Resources");
  CHECK(reason("launch failed requeued held").reason == "JobHeldUser");
  CHECK(read_one(with(with(running_task, state_word, "FAILED"), reason_word, "Slurmd could not execve job")).reason ==
        "JobLaunchFailure");
}

TEST_CASE("how long a running job was suspended follows from how long it ran")
{
  CHECK(read_queue(queue_of({running_task}), 200 + 300 + 45).at(0).suspended_s == 45);
  CHECK(read_queue(queue_of({running_task}), 200 + 300 - 1).at(0).suspended_s == 0);
  CHECK(read_queue(queue_of({with(running_task, state_word, "SUSPENDED")}), 1000).at(0).suspended_s == 0);
}

TEST_CASE("odd characters in the names of other jobs do no harm")
{
  const auto jobs = read_queue(
      queue_of({with(running_task, job_name, "new\nline|a b,\t%"), with(with(running_task, job_id, "10"), comment, "")}), 500);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].name == "new\nline|a b,\t%");
  CHECK(jobs[1].comment.empty());
}

TEST_CASE("an output that cannot be read is never an empty queue")
{
  const auto whole = queue_of({running_task});
  CHECK(read_queue(queue_of({}), 0).empty());
  CHECK(words_of_failure([] { read_queue("", 0); }) == "squeue printed what dtctl cannot read, nothing: \"\"");
  CHECK(words_of_failure([] { read_queue("site banner\n", 0); }) ==
        "squeue printed what dtctl cannot read, not a table: \"site banner\"");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (size == queue_of({}).size()) continue; // cut there, the queue is empty
    INFO("the first " << size << " bytes");
    CHECK(failure_by([&] { read_queue(whole.substr(0, size), 0); }).code() == unreadable_answer);
  }
  for (const auto& text :
       {table_of({with(queue_header, submitted, ""), running_task}), queue_of({with(running_task, job_id, "x")}),
        queue_of({with(running_task, submitted, "2026-11-27T10:00:00")})})
    CHECK(failure_by([&] { read_queue(text, 0); }).code() == unreadable_answer);
}

TEST_CASE("a banner that a site prints around a command's table is no part of it")
{
  const std::string banner = "NOTICE: maintenance on 3 December\n\n";
  CHECK(read_queue(banner + queue_of({running_task}) + banner, 500).size() == 1);
  CHECK(read_queue(banner + queue_of({}) + banner, 500).empty());
  CHECK(read_nodes(banner + recorded("nodes-22.05") + banner).size() == 2);
  CHECK(read_past(banner + table_of({past_header, past_task}) + banner, false).size() == 1);
}

TEST_CASE("a job of sacct has its array, its wait statuses and who cancelled it")
{
  const auto read = [](const std::vector<std::string>& row) { return read_past(table_of({past_header, row}), false).at(0); };
  const auto task = read(past_task);
  CHECK(task.array_id == 7);
  CHECK(task.tasks == std::vector<std::uint32_t>{4});
  CHECK(exit_code_of(task.exit_status) == 3);
  CHECK(exit_code_of(task.derived_exit_status) == 128 + 15);
  CHECK(task.time_limit_s == 3600);
  CHECK(read(with(past_task, 1, "7_[3-9%2]")).tasks.size() == 7);
  CHECK(read(with(past_task, 9, "None assigned")).nodes.empty());
  const auto cancelled = read(with(past_task, 2, "CANCELLED by 0"));
  CHECK(cancelled.phase == JobPhase::cancelled);
  CHECK(cancelled.cancelled_by == "root");
  CHECK(sacct_format(false).find("FailedNode") == std::string::npos);
  CHECK(sacct_format(true).ends_with(",FailedNode"));
}

TEST_CASE("nodes of every release are read, with what follows their reason")
{
  const auto old = read_nodes(recorded("nodes-22.05"));
  REQUIRE(old.size() == 2);
  CHECK(old[0].is_usable);
  CHECK(old[0].cpus == 4);
  CHECK(old[0].memory_mib == 4000);
  CHECK(old[0].partitions == "main");
  CHECK(old[0].reason.empty());
  CHECK_FALSE(old[1].is_usable);
  CHECK(old[1].state == "IDLE+DRAIN");
  CHECK(old[1].reason == "disk is = bad, really");
  const auto down = read_nodes(recorded("nodes-23.02")).at(0);
  CHECK(down.state == "DOWN+DRAIN+NOT_RESPONDING");
  CHECK(down.partitions == "gpu,long");
  CHECK(down.reason == "Not responding");
  CHECK(read_nodes(recorded("nodes-25.11")).at(0).is_usable);
  CHECK(read_nodes("No nodes in the system\n").empty());
  for (const auto* text : {"NodeName=n1 Arch=x86_64 CoresPerSocket=1\n", "oops\n"})
    CHECK(failure_by([&] { read_nodes(text); }).code() == unreadable_answer);
}

TEST_CASE("partitions of every release are read")
{
  const auto main = read_partitions(recorded("partitions-22.05")).at(0);
  CHECK(main.is_default);
  CHECK(main.is_up);
  CHECK(main.nodes == 3);
  CHECK(main.cpus == 12);
  CHECK(main.max_time_s == 0);
  CHECK(main.max_nodes_per_job == 0);
  const auto down = read_partitions(recorded("partitions-24.05")).at(0);
  CHECK_FALSE(down.is_up);
  CHECK(down.max_time_s == 7 * 86400);
  CHECK(down.max_nodes_per_job == 16);
  CHECK(read_partitions(recorded("partitions-25.11")).size() == 2);
}

TEST_CASE("reservations and the configuration of every release are read")
{
  const auto old = read_reservations(recorded("reservations-22.05")).at(0);
  CHECK(old.nodes == "node[1-2]");
  CHECK(old.end_unix_s - old.start_unix_s == 3600);
  CHECK(read_reservations(recorded("reservations-25.05")).at(0).nodes == "r[1-2]n[01-03]");
  CHECK(read_reservations("No reservations in the system\n").empty());
  const auto site = read_site(recorded("config-22.05"));
  CHECK(site.version == "22.05.8");
  CHECK(site.max_array_size == 10001);
  CHECK(site.max_array_tasks == 500);
  CHECK(site.max_jobs == 50000);
  CHECK(site.min_job_age_s == 300);
  CHECK(site.has_accounting);
  CHECK_FALSE(site.demands_account);
  const auto next = read_site(recorded("config-25.11"));
  CHECK(next.demands_account);
  CHECK(next.mpi_default.empty());
  CHECK(failure_by([] { read_site("Configuration data as of 5\nClusterName = x\n"); }).code() == unreadable_answer);
}

TEST_CASE("the machines of the controller are those of which scontrol says whether they are up")
{
  const std::string text = "Slurmctld(primary) at head1 is DOWN\nSlurmctld(backup) at head2 is UP\n*****\n";
  CHECK(read_controllers(text) == std::vector<std::string>{"head1", "head2"});
  CHECK(is_any_up(text));
  CHECK_FALSE(is_any_up("Slurmctld(primary) at head1 is DOWN\n"));
  CHECK(read_controllers("").empty());
}

TEST_CASE("accounts of this cluster, the default one first, each once")
{
  CHECK(read_accounts("b|a|box\nb|b|box\nb|b|box\nb|c|other\n", "box") == std::vector<std::string>{"b", "a"});
  CHECK(read_accounts("", "box").empty());
  CHECK(failure_by([] { read_accounts("b|a\n", "box"); }).code() == unreadable_answer);
  CHECK(read_release("slurm-wlm 22.05.8\n") == "22.05");
  CHECK(read_release("slurm 25.11.0-0rc1\n") == "25.11");
  CHECK(read_release("no number").empty());
}

TEST_CASE("errors of commands have the numbers of slurm_errno.h")
{
  const std::string refused = "sbatch: error: Batch job submission failed: ";
  CHECK(code_for("sbatch: error: invalid partition specified: x\n" + refused + "Invalid partition name specified\n") == 2000);
  CHECK(code_for("slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n") == 1800);
  CHECK(code_for(refused + "Socket timed out on send/recv operation\n") == 5004);
  CHECK(code_for("scancel: error: Kill job error on job id 5: Invalid job id specified\n") == 2017);
  CHECK(code_for("sacct: error: Problem talking to the database: Connection refused\n") == ECONNREFUSED);
  CHECK(is_ambiguous(code_for(refused + "Zero Bytes were transmitted or received\n")));
  CHECK_FALSE(is_ambiguous(code_for("sbatch: error: something new\n")));
  CommandResult late;
  late.timed_out = true;
  CHECK(is_ambiguous(failure_of("sbatch", late).code()));
  const auto limit =
      failure_of("sbatch", failed("sbatch: error: AssocMaxSubmitJobLimit\n" + refused +
                                  "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n"));
  CHECK(is_full(limit));
  CHECK(full_words(limit).find("AssocMaxSubmitJobLimit") != std::string::npos);
  CHECK(is_full(failure_of("sbatch", failed("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"))));
  CHECK(waits_for_room("sbatch: error: Slurm job queue full, sleeping and retrying\n"));
}

TEST_CASE("what a job asks for becomes options of sbatch, and scheduler_args are passed on as they stand")
{
  SlurmJob job;
  job.name = "n";
  job.comment = "dtctl:a1 k";
  job.nodes = 2;
  job.tasks = 8;
  job.tasks_per_node = 4;
  job.cpus_per_task = 3;
  job.time_limit_min = 90;
  job.array = "0-9%2";
  job.dependency = "afterany:1";
  job.signal = SIGUSR1;
  job.signal_ahead_s = 60;
  job.gpus_per_node = 2;
  const std::vector<std::string> args{
      "--mem=4G",         "--gres", "nic:1",           "--mem-per-cpu=500", "--mail-t=END,TIME_LIMIT",
      "--nice=-5",        "-b",     "now+2hours",      "--switches=1@1:05", "-mcyclic:block,Pack",
      "--exclusive=user", "--hold", "--exclude=node3", "--qos=low",         "--threads-per-core=1"};
  apply_scheduler_args(args, job);
  const auto words = sbatch_words(job);
  const std::vector<std::string> expected{"--comment=dtctl:a1 k",
                                          "--job-name=n",
                                          "--nodes=2",
                                          "--ntasks=8",
                                          "--ntasks-per-node=4",
                                          "--cpus-per-task=3",
                                          "--time=90",
                                          "--array=0-9%2",
                                          "--dependency=afterany:1",
                                          "--signal=B:10@60",
                                          "--gpus-per-node=2",
                                          "--gres=nic:1",
                                          "--mem-per-cpu=500",
                                          "--mail-type=END,TIME_LIMIT",
                                          "--nice=-5",
                                          "--begin=now+2hours",
                                          "--switches=1@1:05",
                                          "--distribution=cyclic:block,Pack",
                                          "--exclusive=user",
                                          "--threads-per-core=1",
                                          "--hold",
                                          "--exclude=node3",
                                          "--qos=low"};
  for (const auto& word : expected) {
    INFO(word);
    CHECK(std::count(words.begin(), words.end(), word) == 1);
  }
  CHECK(std::count_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with("--mem"); }) == 1);
  CHECK(std::count_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with("--qos"); }) == 1);
  const std::vector<std::string> gpus{"--gpus-per-node=a100:1,v100:1"};
  apply_scheduler_args(gpus, job);
  const auto others = sbatch_words(job);
  CHECK(std::count(others.begin(), others.end(), "--gpus-per-node=a100:1,v100:1") == 1);
  CHECK(std::count(others.begin(), others.end(), "--gpus-per-node=2") == 0);
}

TEST_CASE("a submission is its number, an answer that is none is unknown, and a full queue is not waited for")
{
  const FakeCommands commands;
  auto api = commands.open();
  SlurmJob job;
  job.script = "#!/bin/sh\n";
  job.environment = {{"PATH", "/usr/bin:/bin"}, {"SBATCH_PARTITION", "wrong"}, {"KEPT", "1"}};
  commands.make("sbatch",
                "cat > " + (commands / "stdin").string() + "; env > " + (commands / "env").string() + "; echo '12;box'");
  CHECK(api.submit(job) == 12);
  CHECK(read_file(commands / "stdin") == job.script);
  const auto environment = read_file(commands / "env");
  CHECK(environment.find("KEPT=1\n") != std::string::npos);
  CHECK(environment.find("SBATCH_PARTITION") == std::string::npos);
  commands.make("sbatch", "echo submitted");
  CHECK(failure_by([&] { api.submit(job); }).code() == unreadable_answer);
  commands.make("sbatch", "echo 'sbatch: error: Slurm job queue full, sleeping and retrying' >&2; exec sleep 600");
  CHECK(is_full(failure_by([&] { api.submit(job); })));
}

TEST_CASE("a command that fails, says nothing, prints another table or is missing is a failure with its words")
{
  const FakeCommands commands;
  auto api = commands.open();
  const auto words = [&] { return std::string(failure_by([&] { api.load_jobs(); }).what()); };
  commands.make("squeue", "exit 3");
  CHECK(words() == "squeue failed with exit code 3 and said nothing");
  commands.make("squeue", "exit 0");
  CHECK(words().ends_with("nothing: \"\""));
  commands.make("squeue", "echo 'JOBID PARTITION'");
  CHECK(words().find("not a table") != std::string::npos);
  commands.make("squeue", "echo 'squeue: error: Invalid job format specification: DerivedEC' >&2");
  CHECK(words().find("because it does not know a field") != std::string::npos);
}

TEST_CASE("a command that is slow because no controller listens is not waited for, and one that is only slow is")
{
  const FakeCommands commands;
  auto api = commands.open();
  commands.make("squeue", "exec sleep 600");
  commands.make("scontrol", "echo 'Slurmctld(primary) at head is DOWN'; exit 1");
  const auto failure = failure_by([&] { api.load_jobs(); });
  CHECK(is_ambiguous(failure.code()));
  CHECK_FALSE(is_slow(failure.code()));
  CHECK(api.controller() == "head");
  commands.make("scontrol", "echo 'Slurmctld(primary) at head is UP'");
  commands.make("squeue", "sleep 1.5; cat " + (commands / "table").string());
  write_file_atomic(commands / "table", queue_of({running_task}));
  CHECK(api.load_jobs().size() == 1);
}

namespace {

// Keeps what it is given.
class FakeLibrary final : public SlurmLibrary {
 public:
  explicit FakeLibrary(std::vector<std::string>& calls) : calls_(calls) {}
  std::string cluster() const override { return "box"; }
  bool has_accounting() const override { return true; }
  std::uint32_t submit(const SlurmJob& job) override
  {
    calls_.push_back("submit " + job.name);
    return 7;
  }
  std::vector<SlurmRecord> load_jobs() override
  {
    calls_.push_back("load");
    return {};
  }
  void kill(const std::string& id) override { calls_.push_back("kill " + id); }

 private:
  std::vector<std::string>& calls_;
};

} // namespace

TEST_CASE("the library submits, reads and ends jobs where there is one, and a job with options for sbatch goes through sbatch")
{
  const FakeCommands commands;
  commands.make("sbatch", "echo 12");
  std::vector<std::string> calls;
  SlurmCommands api("22.05", std::make_unique<FakeLibrary>(calls));
  SlurmJob job;
  job.name = "one";
  CHECK(api.submit(job) == 7);
  job.passed_options = {{"mem", "4G"}};
  CHECK(api.submit(job) == 12);
  api.load_jobs();
  api.kill("7");
  CHECK(calls == std::vector<std::string>{"submit one", "load", "kill 7"});
  CHECK(api.cluster() == "box");
}
