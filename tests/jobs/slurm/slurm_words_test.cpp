// Slurm's states, reasons and refusals in words.
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/words.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::slurm;

namespace {

SlurmRecord record(JobPhase phase, const std::string& state)
{
  SlurmRecord made;
  made.phase = phase;
  made.state = state;
  made.nodes = "node[1-2]";
  return made;
}

SlurmRecord waiting(const std::string& reason)
{
  auto made = record(JobPhase::pending, "PENDING");
  made.reason = reason;
  return made;
}

std::string recipe_error(const std::vector<std::string>& args)
{
  SlurmJob job;
  try {
    apply_scheduler_args(args, job);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::recipe);
    return error.what();
  }
  return {};
}

SlurmJob with_args(const std::vector<std::string>& args)
{
  SlurmJob job;
  job.partition = "from recipe";
  apply_scheduler_args(args, job);
  return job;
}

} // namespace

TEST_CASE("a reason is told in plain words with Slurm's own word beside it, and one that dtctl does not know as Slurm says it")
{
  const std::map<std::string, std::string> words{
      {"Resources", "waits for free nodes"},
      {"JobHeldAdmin", "held by an administrator"},
      {"AssocGrpCPUMinutesLimit", "waits: the account's limit of cores-minutes is reached"},
      {"QOSMaxJobsPerUserLimit", "waits: the QOS's limit of jobs a user is reached"},
      {"QOSMaxSubmitJobPerUserLimit", "waits: the QOS's limit of submitted jobs a user is reached"},
      {"MaxNodePerAccount", "waits: the account's limit of nodes is reached"},
      {"QOSMinGRES", "asks for less GPUs or other generic resources than the QOS demands of a job"},
      {"QOSMaxWallDurationPerJobLimit", "asks for more run time than the QOS allows a job"}, // one job exceeds it by itself
      {"AssocMaxCpuPerNode", "asks for more cores a node than the account allows"},
      {"SomethingOf2031", "waits"}};
  for (const auto& [reason, expected] : words) CHECK(reason_words(reason) == expected + " (" + reason + ")");
  CHECK(reason_words("") == "waits (no reason given)");
}

TEST_CASE("a job that can never start as it is has a remedy, and one that waits for others has none")
{
  const auto remedy = [](const std::string& reason) { return status_of(waiting(reason)).hindrance.remedy; };
  CHECK(remedy("QOSMaxWallDurationPerJobLimit") == "lower resources.time_limit, or choose another resources.qos");
  CHECK(remedy("QOSMinGRES") == "ask for more GPUs or other generic resources, or choose another resources.qos");
  CHECK(remedy("AssocMaxNodePerJobLimit") == "ask for fewer nodes, or choose another resources.account");
  for (const auto* reason :
       {"PartitionTimeLimit", "QOSMinGRES", "PartitionNodeLimit", "PartitionConfig", "BadConstraints", "DependencyNeverSatisfied",
        "DeadLine", "InvalidAccount", "InvalidQOS", "QOSNotAllowed", "AccountNotAllowed", "MaxMemPerLimit", "ReservationDeleted",
        "AssocMaxCpuPerNode", "QOSMaxMemoryPerJob"}) {
    INFO(reason);
    CHECK_FALSE(remedy(reason).empty());
    CHECK(status_of(waiting(reason)).hindrance.needs_new_job);
  }
  for (const auto* reason :
       {"Resources", "Priority", "Dependency", "None", "BeginTime", "AssocGrpCpuLimit", "AssocMaxJobsLimit",
        "QOSMaxJobsPerUserLimit", "QOSMaxCpuPerUserLimit", "MaxCpuPerAccount", "ReqNodeNotAvail", "JobArrayTaskLimit"}) {
    INFO(reason);
    CHECK(remedy(reason).empty());
  }
  CHECK_FALSE(remedy("JobHeldAdmin").empty());
  CHECK_FALSE(status_of(waiting("JobHeldUser")).hindrance.needs_new_job);
}

TEST_CASE("a queue that is full is told apart from a refusal, with the limit in words")
{
  const std::string policy = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
  CHECK(full_words({2050, policy + ": AssocMaxSubmitJobLimit"}) ==
        "not handed to Slurm yet: the account's limit of submitted jobs is reached (AssocMaxSubmitJobLimit)");
  for (const auto* limit : {"AssocMaxSubmitJobLimit", "MaxSubmitJobsPerAccount"}) CHECK(is_full({2050, policy + ": " + limit}));
  CHECK(is_full({2007, "Queue full"}));
  CHECK_FALSE(is_full({2050, policy + ": QOSMaxCpuPerUserLimit"}));
  CHECK_FALSE(is_full({2050, policy}));
  CHECK_FALSE(is_full({2000, "Invalid partition name specified"}));
}

TEST_CASE("a waiting job tells when it starts about, what it waits for, and Slurm's details")
{
  auto job = waiting("Resources");
  job.start_unix_s = static_cast<std::int64_t>(now_unix_s()) + 600;
  const auto clock = format_time_local(static_cast<double>(job.start_unix_s)).substr(11, 5);
  CHECK(waiting_words(job) == reason_words("Resources") + "; starts about " + clock);
  job.reason = "JobHeldUser";
  CHECK(waiting_words(job) == reason_words("JobHeldUser"));
  job.reason = "Resources";
  job.start_unix_s = 5; // past: no estimate
  CHECK(waiting_words(job) == reason_words("Resources"));

  auto dependent = waiting("Dependency");
  dependent.dependency = "afterany:12(unfulfilled),afterany:13_*(unfulfilled)";
  CHECK(waiting_words(dependent) == "waits for job 12, 13 (Dependency)");

  auto unavailable = waiting("ReqNodeNotAvail");
  unavailable.reason_details = "ReqNodeNotAvail, UnavailableNodes:node3";
  CHECK(waiting_words(unavailable) == reason_words("ReqNodeNotAvail") + ": ReqNodeNotAvail, UnavailableNodes:node3");
}

TEST_CASE("of reservations in the way of a job the first is named, with the time limit that would end before it")
{
  auto job = waiting("ReqNodeNotAvail");
  job.id = 12;
  job.time_limit_s = 7200;
  const double now = 1'000'000;
  const std::vector<SlurmReservation> all{{"late", "node[1-2]", 1'006'000, 1'009'000},
                                          {"maint", "node[1-2]", 1'003'600, 1'009'000},
                                          {"begun", "node[1-2]", 999'000, 1'001'000}};
  const auto words = words_of_reservation(job, all, now);
  CHECK(words.find("the reservation maint begins") != std::string::npos);
  CHECK(words.ends_with("scontrol update jobid=12 timelimit=59)"));
  job.time_limit_s = 3000; // another cause: it would end in time
  CHECK(words_of_reservation(job, all, now).empty());
  job.time_limit_s = 0; // without a limit
  CHECK_FALSE(words_of_reservation(job, all, now).empty());
  job.reason = "Priority";
  CHECK(words_of_reservation(job, all, now).empty());
}

TEST_CASE("of a job's nodes those are blamed that failed, as far as that is known")
{
  auto lost = record(JobPhase::node_fail, "NODE_FAIL");
  SlurmNode up, down;
  up.name = "node1";
  up.state = "IDLE";
  down.name = "node2";
  down.state = "DOWN*";
  CHECK(failed_nodes(std::vector{up, down}) == "node2");
  CHECK(failed_nodes(std::vector{up}).empty());
  CHECK(failed_nodes(std::vector{down}).empty()); // all of them: the job's list says it
  lost.failed_node = "node2";
  CHECK(status_of(lost).cause == "node2 failed (NODE_FAIL)");
  lost.failed_node.clear();
  lost.nodes = "node7";
  CHECK(status_of(lost).cause.starts_with("node7 failed"));
}

TEST_CASE("advice to release a job names the tasks that are held, not their whole array")
{
  auto held = waiting("JobHeldUser");
  held.id = 40;
  CHECK(status_of(held).hindrance.remedy == "release it: scontrol release 40");
  held.array_id = 36;
  held.tasks = {5};
  CHECK(status_of(held).hindrance.remedy == "release it: scontrol release 36_5");
  held.tasks = {0, 1, 2, 7};
  CHECK(status_of(held).hindrance.remedy == "release it: scontrol release 36_[0-2,7]");
}

TEST_CASE("states that live are never ended, and a suspended job says so")
{
  using State = JobStatus::State;
  const std::vector<std::tuple<JobPhase, const char*, State>> all{
      {JobPhase::pending, "PENDING", State::queued},         {JobPhase::running, "RUNNING", State::running},
      {JobPhase::suspended, "SUSPENDED", State::running},    {JobPhase::completing, "COMPLETING", State::running},
      {JobPhase::configuring, "CONFIGURING", State::queued}, {JobPhase::requeued, "REQUEUED", State::queued},
      {JobPhase::held, "SPECIAL_EXIT", State::queued},       {phase_of("STATE_13"), "STATE_13", State::unknown}};
  for (const auto& [phase, native, state] : all) {
    INFO(native);
    const auto status = status_of(record(phase, native));
    CHECK(status.state == state);
    CHECK(status.native_state == native);
    CHECK(status.is_suspended == (phase == JobPhase::suspended));
    CHECK(status.suspended_s == 0);
  }
  auto resumed = record(JobPhase::running, "RUNNING");
  resumed.suspended_s = 600;
  CHECK(status_of(resumed).suspended_s == 600);
  auto held = record(JobPhase::held, "SPECIAL_EXIT");
  held.reason = "JobHeldUser";
  held.id = 7;
  CHECK(status_of(held).reason.starts_with("put back on hold after its last start"));
  CHECK(status_of(held).hindrance.remedy == "release it: scontrol release 7");
}

TEST_CASE("an ended job has the outcome and cause that Slurm knows")
{
  using Expected = std::tuple<JobPhase, const char*, std::optional<RunState>, const char*>;
  const std::vector<Expected> all{
      {JobPhase::complete, "COMPLETED", std::nullopt, ""},
      {JobPhase::cancelled, "CANCELLED", RunState::cancelled, "cancelled in Slurm"},
      {JobPhase::timeout, "TIMEOUT", RunState::timed_out, "reached Slurm's time limit (TIMEOUT)"},
      {JobPhase::preempted, "PREEMPTED", RunState::preempted, "made way for another job (PREEMPTED)"},
      {JobPhase::node_fail, "NODE_FAIL", RunState::failed, "one of the nodes node[1-2] failed (NODE_FAIL)"},
      {JobPhase::boot_fail, "BOOT_FAIL", RunState::failed, "node[1-2] did not boot (BOOT_FAIL)"},
      {JobPhase::deadline, "DEADLINE", RunState::failed, "its deadline passed (DEADLINE)"},
      {JobPhase::out_of_memory, "OUT_OF_MEMORY", RunState::failed, "used more memory than it was given (OUT_OF_MEMORY)"},
      {JobPhase::failed, "FAILED", std::nullopt, ""}};
  for (const auto& [base, native, outcome, cause] : all) {
    INFO(native);
    const auto status = status_of(record(base, native));
    CHECK(status.state == JobStatus::State::ended);
    CHECK(status.native_state == native);
    CHECK(status.outcome == outcome);
    CHECK(status.cause == cause);
  }
  auto cancelled = record(JobPhase::cancelled, "CANCELLED");
  cancelled.cancelled_by = "alice";
  CHECK(status_of(cancelled).cause == "cancelled by alice");
}

TEST_CASE("the exit code is the worse of the job's and its steps'")
{
  auto job = record(JobPhase::complete, "COMPLETED");
  job.exit_status = 0;
  job.derived_exit_status = 3 << 8;
  CHECK(status_of(job).exit_code == 3);
  job.exit_status = 9; // SIGKILL
  CHECK(status_of(job).exit_code == 137);
  CHECK(exit_code_of(75 << 8) == 75);
}

TEST_CASE("a job that could not be launched has failed, and one whose output its node could not open is told with the folder")
{
  auto job = record(JobPhase::failed, "FAILED");
  job.reason = "JobLaunchFailure";
  job.exit_status = 1 << 8;
  CHECK(status_of(job).outcome == RunState::failed);
  CHECK(status_of(job).cause == "could not start on node[1-2] (JobLaunchFailure); the log of slurmd on that node says why");
  job.reason_details = "no such user";
  CHECK(status_of(job).cause.find("(JobLaunchFailure): no such user;") != std::string::npos);
  job.exit_status = 53;
  CHECK(status_of(job, "/home/u/slurm/0123").outcome == RunState::failed);
  CHECK(status_of(job, "/home/u/slurm/0123").cause.find("the folder /home/u/slurm/0123 does not exist") != std::string::npos);
  CHECK(status_of(job).cause.find("because the folder does not exist") != std::string::npos);
  job.reason = "None"; // of the accounting
  CHECK(status_of(job).outcome == RunState::failed);
  job.reason = "NonZeroExitCode"; // a real signal 53 that ended the script
  CHECK_FALSE(status_of(job).outcome);
  CHECK(status_of(job).exit_code == 128 + 53);
}

TEST_CASE("only an answer that never came is ambiguous")
{
  for (const int code : {1800, 1802, 1001, 5004, 5003}) CHECK(is_ambiguous(code));
  for (const int code : {2000, 2015, 2045, 2081, 2007, 6000}) CHECK_FALSE(is_ambiguous(code));
  CHECK(is_slow(5004));
  CHECK_FALSE(is_slow(1800));
  CHECK(is_temporary(2007));
  CHECK(is_gone(2021));
  CHECK_FALSE(is_gone(2002));
}

TEST_CASE("a refusal names the setting at fault")
{
  SlurmJob job;
  job.partition = "gpu";
  CHECK(refusal_words({2000, "scripted"}, job) == "Slurm refused it: scripted (resources.partition: gpu).");
  job.nodes = 9;
  job.tasks = 18;
  CHECK(refusal_words({2014, "scripted"}, job) ==
        "Slurm refused it: scripted (asked for: 9 nodes, 18 tasks of 1 cores, 0 min, partition gpu).");
}

TEST_CASE("sbatch's options are read in each of their spellings, and win over the recipe's keys")
{
  CHECK(with_args({"--partition=a"}).partition == "a");
  CHECK(with_args({"--partition", "a"}).partition == "a");
  CHECK(with_args({"-p", "a"}).partition == "a");
  CHECK(with_args({"-pa"}).partition == "a");
  CHECK(with_args({"-p", "a", "-p", "b"}).partition == "b");
  CHECK(with_args({}).partition == "from recipe");
  const auto job = with_args({"-A", "proj", "--qos=high", "-C", "ib", "-x", "n1", "-w", "n2", "-d", "afterok:7:8,singleton"});
  CHECK(job.account == "proj");
  CHECK(job.qos == "high");
  CHECK(job.constraint == "ib");
  CHECK(job.exclude_nodes == "n1");
  CHECK(job.require_nodes == "n2");
  CHECK(job.user_dependency == "afterok:7:8,singleton");
  CHECK(job.passed_options.empty());
}

TEST_CASE("options that dtctl does not read are passed to sbatch with their values, and the last of equal ones counts")
{
  using Options = std::map<std::string, std::string>;
  CHECK(with_args({"--gres=gpu:2,shard:1", "-G", "a100:1", "-mcyclic:block", "--hold", "--exclusive", "--nice", "--mail-t=END",
                   "--mail-type", "FAIL"})
            .passed_options == Options{{"gres", "gpu:2,shard:1"},
                                       {"gpus", "a100:1"},
                                       {"distribution", "cyclic:block"},
                                       {"hold", ""},
                                       {"exclusive", ""},
                                       {"nice", ""},
                                       {"mail-type", "FAIL"}});
}

TEST_CASE("times are read in Slurm's grammar, in which a number alone is minutes")
{
  const std::map<std::string, std::int64_t> minutes{{"90", 90}, {"10:30", 11}, {"1:30:00", 90}, {"1-2", 1560}, {"1-2:03", 1563}};
  for (const auto& [time, expected] : minutes) CHECK(with_args({"--time-min=" + time}).time_min_min == expected);
  for (const auto* time : {"", "soon", "1:2:3:4", "1h", "-5", "1-"}) {
    INFO(time);
    CHECK_FALSE(recipe_error({"--time-min=" + std::string(time)}).empty());
  }
}

TEST_CASE(
    "memory is read in Slurm's units, with or without the B of bytes, and a fraction is refused with the same size in megabytes")
{
  const std::map<std::string, std::int64_t> mib{{"4G", 4096}, {"2GB", 2048},  {"2gb", 2048},   {"2048KB", 2},
                                                {"0", 0},     {"1500", 1500}, {"1t", 1048576}, {"1025K", 2}};
  for (const auto& [size, expected] : mib) {
    CHECK(with_args({"--mem=" + size}).memory_mib == expected);
    CHECK(with_args({"--mem-per-cpu=" + size}).memory_per_cpu_mib == expected);
  }
  for (const auto* option : {"--mem", "--mem-per-cpu"})
    for (const auto* size : {"", "G", "4X", "4GiB", "500B", "1P", "-1", "4 G", "2,5G", ".G", "99999999999999999999"}) {
      INFO(option << "=" << size);
      CHECK_FALSE(recipe_error({std::string(option) + "=" + size}).empty());
    }
  CHECK(recipe_error({"--mem=2.5G"}) ==
        "resources.scheduler_args: --mem cannot be `2.5G`; it takes a whole number and K, M, G or T, "
        "such as 500M or 4G; 2.5G is 2560M.");
  CHECK(recipe_error({"--mem-per-cpu=0.5TB"}).ends_with("; 0.5TB is 524288M."));
  CHECK(recipe_error({"--mem=2.5.1G"}).ends_with("such as 500M or 4G."));
}

TEST_CASE("of the three limits of memory the last one counts, because Slurm allows only one")
{
  const auto job = with_args({"--mem=1G", "--mem-per-cpu=2G", "--mem-per-gpu=3G"});
  CHECK_FALSE(job.memory_mib);
  CHECK_FALSE(job.memory_per_cpu_mib);
  CHECK(job.passed_options == std::map<std::string, std::string>{{"mem-per-gpu", "3G"}});
}

TEST_CASE("an option that dtctl does not know is named with those it knows")
{
  for (const std::string word : {"--no-such-option", "mem=4G", "-Z", "gpu"})
    CHECK(recipe_error({word}).starts_with("resources.scheduler_args: `" + word + "` cannot be used: dtctl does not know it; "));
  CHECK(recipe_error({"--no-such-option"}).find("it may be one of: --partition, --account,") != std::string::npos);
  CHECK(recipe_error({"--partitoin=a"}).find("did you mean `--partition`?") != std::string::npos);
  CHECK(recipe_error({"--partition"}) == "resources.scheduler_args: --partition cannot be ``; it takes a value.");
  CHECK(recipe_error({"--contiguous=yes"}) == "resources.scheduler_args: --contiguous cannot be `yes`; it takes no value.");
}

TEST_CASE("an option that a key of the recipe replaces is answered with the key, in its long, short and shortened form")
{
  CHECK(recipe_error({"--time=10:00"}) == "resources.scheduler_args: `--time` cannot be used: use resources.time_limit.");
  CHECK(recipe_error({"--time", "10:00"}).ends_with("use resources.time_limit."));
  CHECK(recipe_error({"-t10"}).ends_with("`-t` cannot be used: use resources.time_limit."));
  CHECK(recipe_error({"-N", "2"}).ends_with("use resources.nodes."));
  CHECK(recipe_error({"--ntasks=4"}).ends_with("use resources.nodes and resources.ranks_per_node."));
  CHECK(recipe_error({"-c4"}).ends_with("use resources.threads_per_rank."));
  CHECK(recipe_error({"--outp=x"}).find("`--output` cannot be used") != std::string::npos);
  CHECK(recipe_error({"--comment=x"}).find("uses the comment to recognise its jobs") != std::string::npos);
}

TEST_CASE("the beginning of a name stands for the option like in sbatch, unless several begin so")
{
  CHECK(with_args({"--part=debug"}).partition == "debug");
  CHECK(with_args({"--distrib", "block"}).passed_options.at("distribution") == "block");
  CHECK(recipe_error({"--exclu"}) ==
        "resources.scheduler_args: `--exclu` cannot be used: it is the beginning of several options: --exclude, --exclusive.");
  CHECK(with_args({"--mem=1G"}).memory_mib == 1024); // a whole name, although others begin with it
  CHECK_FALSE(recipe_error({"--"}).empty());
  CHECK_FALSE(recipe_error({"--=x"}).empty());
}
