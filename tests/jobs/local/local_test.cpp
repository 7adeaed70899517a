// The local queue with real processes: order, cores, kills, cancellation, limits.
#include "tests/jobs/playground.hpp"

#include "core/machine/process.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/study_record.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/local/local_scheduler.hpp"
#include "jobs/local/supervisor.hpp"
#include "jobs/machine/cores.hpp"
#include "jobs/registry/schedulers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::testing;

namespace {

// A job that says its name when it starts and when it ends, in one shared file.
std::string traced(const std::string& name, const std::string& middle)
{
  return "echo 'start " + name + "' >> \"$trace\"\n" + middle + "\necho 'end " + name + "' >> \"$trace\"";
}

// A job's middle that ends when the test makes the file of that name with `tell`.
std::string until_told(const std::string& name) { return "until [[ -e \"$trace." + name + "\" ]]; do sleep 0.02; done"; }
void tell(const Playground& place, const std::string& name) { write_file_atomic(place.trace().string() + "." + name, ""); }

int starts(const Playground& place)
{
  const auto all = lines(place.traces());
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](const auto& line) { return line.starts_with("start"); }));
}

constexpr const char* other_boot = "00000000-0000-0000-0000-000000000000";

// A process on another machine with this one's host name.
Owner namesake(const std::string& token)
{
  auto owner = own_identity(token);
  owner.process.boot_id = other_boot;
  owner.process.machine_id = "0123456789abcdef0123456789abcdef";
  return owner;
}

bool runs(const Playground& place, const std::string& key) { return place.status_of(key).verdict.state == RunState::running; }

} // namespace

TEST_CASE("a job runs with its cores, its output in its folder and its end recorded")
{
  Playground place;
  place.submit({place.job("one", "grep Cpus_allowed_list /proc/self/status; echo words >&2; exit 7")});
  REQUIRE(eventually([&] { return all_final(place.status()) && place.supervisor() == 0; })); // an empty queue has none
  CHECK(local::Queue(place.home()).list().empty());
  CHECK(place.status_of("one").verdict.state == RunState::failed);
  CHECK(place.status_of("one").verdict.exit_code == 7);
  CHECK(read_file(place.attempt("one").err()) == "words\n");
  CHECK(read_file(place.attempt("one").out()) == fmt::format("Cpus_allowed_list:\t{}\n", usable_cores().front()));
}

TEST_CASE("jobs are started in the order of their submission, also when a later one would fit")
{
  Playground place;
  const auto cores = static_cast<std::int64_t>(usable_cores().size());
  place.submit({place.job("first", "sleep 0.3; echo first >> \"$trace\""), place.job("wide", "echo wide >> \"$trace\"", cores),
                place.job("narrow", "echo narrow >> \"$trace\"")});
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(place.traces() == "first\nwide\nnarrow\n");
}

TEST_CASE("a waiting job says what it waits for")
{
  Playground place;
  const auto cores = static_cast<std::int64_t>(usable_cores().size());
  place.submit({place.job("first", "sleep 1000", cores), place.job("second", "true", 1)});
  REQUIRE(eventually([&] { return runs(place, "first"); }));
  CHECK(place.status_of("second").verdict.state == RunState::queued);
  CHECK(place.status_of("second").job.reason == "waits for 1 core; 1 job is before it");
  CHECK(cancel_runs(LockedHome(place.home()), place.keys(), {.who = "test"}) == 2);
  REQUIRE(eventually([&] { return all_final(place.status()); }));
}

TEST_CASE("a job that waits for a quiet machine starts when nothing else computes, or when it has waited long enough")
{
  Playground place;
  const auto counters = place.trace().string() + ".stat";
  const Variable stat("DTCTL_PROC_STAT", counters);
  // Four seconds of two cores more: one computes all the time, or none does.
  std::int64_t busy = 0, idle = 0;
  const auto pass = [&](bool is_quiet) {
    const auto ticks = 4 * ::sysconf(_SC_CLK_TCK);
    busy += is_quiet ? 0 : ticks;
    idle += is_quiet ? 2 * ticks : ticks;
    write_file_atomic(counters, fmt::format("cpu  {} 0 0 {} 0 0 0 0 0 0\ncpu0 0\ncpu1 0\nintr 0\n", busy, idle));
  };
  auto job = place.job("careful", "echo \"idle: $DTCTL_WHEN_IDLE\"");
  SECTION("it waits while one core computes, and says until when at most")
  {
    job.resources.when_idle_s = 3600;
    pass(false);
    place.submit({job});
    std::string evidence;
    REQUIRE(eventually([&] {
      pass(false);
      const auto verdict = place.status_of("careful").verdict;
      evidence = verdict.evidence;
      CHECK(verdict.state == RunState::queued);
      return evidence.find("it waits until nothing else computes on this machine (resources.when_idle), at most until 20") !=
             std::string::npos;
    }));
    REQUIRE(eventually([&] {
      pass(true);
      return all_final(place.status());
    }));
    CHECK(read_file(place.attempt("careful").out()).find("until the machine was quiet") != std::string::npos);
  }
  SECTION("its patience ends")
  {
    job.resources.when_idle_s = 1;
    pass(false);
    place.submit({job});
    REQUIRE(eventually([&] {
      pass(false);
      return all_final(place.status());
    }));
    CHECK(read_file(place.attempt("careful").out()).find("for a quiet machine, in vain") != std::string::npos);
  }
}

TEST_CASE("a job that waits for the cores of another home says which run holds them, of which study, and in which home")
{
  Playground left;
  Playground right(left);
  const auto cores = usable_cores().size();
  const auto held = fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
  const auto holding = left.job("0123456789abcdef", "sleep 1000", static_cast<std::int64_t>(cores));
  auto submission = *read_submission(holding.attempt);
  submission.study = "feed";
  write_file_atomic(holding.attempt.submission(), to_json(submission));
  make_folders(left.home().study("feed"));
  StudyRecord study;
  study.id = "feed";
  study.name = "night";
  write_file_atomic(left.home().study("feed") / "study.json", to_json(study));
  left.submit({holding});
  REQUIRE(eventually([&] { return runs(left, "0123456789abcdef"); }));
  right.submit({right.job("first", "sleep 1000", static_cast<std::int64_t>(cores)), right.job("second", "true")});
  const auto holder = "run 0123456789 of study night in home " + left.home().root().string() + " holds " + held;
  CHECK(right.status_of("first").job.reason == "waits for " + held + "; " + holder);
  CHECK(right.status_of("second").job.reason == "waits for 1 core; 1 job is before it; " + holder);
  // Once it is known who is next, those behind it in other homes are told.
  const auto next = "run first in home " + right.home().root().string() + " waits for cores before it";
  left.submit({left.job("third", "true")});
  CHECK(eventually([&] { return left.status_of("third").job.reason == "waits for 1 core; 1 job is before it; " + next; }));
  for (auto* place : {&left, &right}) cancel_runs(LockedHome(place->home()), place->keys(), {.who = "test"});
  for (auto* place : {&left, &right}) REQUIRE(eventually([&] { return all_final(place->status()); }));
}

TEST_CASE("two homes side by side never take more cores than there are, and never one core twice")
{
  Playground left;
  Playground right(left);
  const auto list = (left.home().root().parent_path() / "busy").string();
  // Each job takes the name of its core for itself; a second taker of the same core would fail.
  const auto body = "core=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status); mkdir '" + list +
                    "-'$core || exit 9; sleep 0.15; rmdir '" + list + "-'$core; exit 5";
  for (auto* place : {&left, &right}) {
    std::vector<JobRequest> jobs;
    for (int i = 0; i < 6; ++i) jobs.push_back(place->job(fmt::format("job{}", i), body));
    place->submit(jobs);
  }
  for (const auto* place : {&left, &right}) {
    REQUIRE(eventually([&] { return all_final(place->status()); }));
    for (const auto& status : place->status()) CHECK(status.verdict.exit_code == 5);
  }
}

TEST_CASE("a job that can never run here is refused, and one on hosts whose size is known there is not")
{
  Playground place;
  auto wide = place.job("wide", "true", static_cast<std::int64_t>(usable_cores().size()) + 1);
  auto far = place.job("far", "true"), fits = place.job("fits", "true", 1000);
  far.resources.nodes = fits.resources.nodes = 2;
  fits.resources.hosts = {"host0", "host1"};
  const auto outcomes = scheduler_kind("local").open(place.home())->submit(std::vector{wide, far, fits}, {});
  CHECK(outcomes[0].job_id.empty());
  CHECK(outcomes[0].error.starts_with("It needs "));
  CHECK(outcomes[1].error.starts_with("It asks for 2 nodes"));
  CHECK(outcomes[2].error.empty());
}

TEST_CASE("what speaks against a job on this machine is told with what it needs, what there is and the keys that change it")
{
  const auto objection = [](const std::function<void(ResourcesSpec&)>& change, std::int64_t side_threads = 0,
                            const std::string& quota = "") {
    ResourcesSpec resources;
    change(resources);
    return local::objection(resources, side_threads, 1, quota);
  };
  const auto two_ranks = [](ResourcesSpec& r) { r.ranks_per_node = 2; };
  const std::string lower = "; lower resources.ranks_per_node or resources.threads_per_rank, or set resources.oversubscribe.";
  CHECK(objection(two_ranks) == "It needs 2 cores (2 ranks x 1 threads), but this machine has 1" + lower);
  CHECK(
      objection(two_ranks, 1).starts_with("It needs 4 cores (2 ranks x 2 threads, 1 of them beside its compute threads), but "));
  CHECK(
      objection(two_ranks, 0, "control group /q has a CPU quota of 0.5 cores") ==
      "It needs 2 cores (2 ranks x 1 threads), but only 1 can be kept busy here: control group /q has a CPU quota of 0.5 cores" +
          lower);
  CHECK(objection([](ResourcesSpec& r) {
          r.ranks_per_node = 2;
          r.oversubscribe = true;
        }).empty());
  CHECK(objection([](ResourcesSpec& r) { r.nodes = 2; }) ==
        "It asks for 2 nodes, but the local scheduler has only this machine; set resources.nodes to 1 and use "
        "resources.ranks_per_node, or name the hosts to run on in resources.hosts.");
  CHECK(objection([](ResourcesSpec& r) {
          r.nodes = 3;
          r.hosts = {"host0", "host1"};
        }) == "It asks for 3 nodes, but resources.hosts names only 2; lower resources.nodes, or name more hosts.");
  CHECK(objection([](ResourcesSpec& r) {
          r.launcher = "srun";
          r.hosts = {"host0"};
        }) == "resources.hosts names hosts, and srun cannot start ranks on them; set resources.launcher to mpirun.");
}

TEST_CASE("a job on hosts, or one that oversubscribes, takes all cores of this machine and so runs alone")
{
  Playground place;
  auto wide = place.job("wide", traced("wide", "sleep 0.3"), 64);
  if (GENERATE(true, false))
    wide.resources.hosts = {"host0"};
  else
    wide.resources.oversubscribe = true;
  place.submit({wide, place.job("next", traced("next", "true"))});
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(lines(place.traces()) == std::vector<std::string>{"start wide", "end wide", "start next", "end next"});
}

TEST_CASE("the supervisor killed at ten moments: every job runs exactly once and ends as it should")
{
  Playground place;
  std::vector<JobRequest> jobs;
  for (int i = 0; i < 12; ++i)
    jobs.push_back(place.job(fmt::format("job{:02}", i),
                             traced(std::to_string(i), until_told(std::to_string(i)) + "; exit " + std::to_string(i + 1))));
  place.submit(jobs);
  // Jobs start in order and end only when told, so before the n-th moment n jobs have started and others wait. In turn the
  // supervisor is killed while nothing happens, and just after a job was told to end.
  for (int moment = 1; moment <= 10; ++moment) {
    REQUIRE(eventually([&] { return !place.status().empty() && starts(place) >= moment; })); // a look starts the next supervisor
    if (moment % 2 == 0) tell(place, std::to_string(moment - 1));
    // A supervisor that was killed holds its lock until the kernel has ended it, and a look in between starts no other one.
    CHECK(eventually([&] { return !place.status().empty() && place.kill_supervisor(); }));
    if (moment % 2 == 1) tell(place, std::to_string(moment - 1));
  }
  for (int i = 10; i < 12; ++i) tell(place, std::to_string(i));
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  std::map<std::string, int> started;
  for (const auto& line : lines(place.traces()))
    if (line.starts_with("start")) ++started[line];
  CHECK(started.size() == 12);
  for (const auto& [name, count] : started) CHECK(count == 1);
  const auto statuses = place.status();
  for (std::size_t i = 0; i < statuses.size(); ++i) CHECK(statuses[i].verdict.exit_code.value_or(-1) == static_cast<int>(i) + 1);
}

TEST_CASE("jobs outlive their supervisor and keep their cores")
{
  Playground place;
  const auto cores = static_cast<std::int64_t>(usable_cores().size());
  place.submit({place.job("long", traced("long", until_told("go")), cores), place.job("next", traced("next", "true"))});
  REQUIRE(eventually([&] { return runs(place, "long"); }));
  REQUIRE(place.kill_supervisor());
  tell(place, "go");
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(lines(place.traces()) == std::vector<std::string>{"start long", "end long", "start next", "end next"});
}

TEST_CASE(
    "a job whose shell is killed has failed, and what it left running is ended before its cores are given away, also when the "
    "supervisor is killed at once")
{
  Playground place;
  place.submit({place.job("one", "sleep 1000 & echo $! > \"$trace\"; wait"), place.job("two", "exit 3")});
  REQUIRE(eventually([&] { return place.traces().ends_with('\n'); }));
  const auto sleeper = identify_process(std::stoi(place.traces()));
  REQUIRE(sleeper);
  if (GENERATE(false, true)) place.kill_supervisor();
  REQUIRE(::kill(read_owner(place.attempt("one"))->process.pid, SIGKILL) == 0);
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK_FALSE(is_alive(*sleeper));
  CHECK(place.status_of("one").verdict.state == RunState::failed);
  CHECK(place.status_of("one").verdict.exit_code == std::nullopt);
  CHECK(place.status_of("two").verdict.exit_code == 3);
}

TEST_CASE("jobs go on when the process that submitted them is killed")
{
  Playground place;
  const auto job = place.job("one", traced("one", "sleep 0.5; exit 4"));
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    scheduler_kind("local").open(place.home())->submit(std::vector{job}, {});
    ::kill(0, SIGKILL); // its whole process group, as a closed terminal would
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  REQUIRE(eventually([&] { return is_final(place.status_of("one").verdict.state); }));
  CHECK(place.status_of("one").verdict.exit_code == 4);
}

TEST_CASE("a running job that is cancelled is asked with SIGTERM and ends, also when its supervisor is dead")
{
  Playground place;
  place.submit({place.job("one", traced("one", "sleep 1000 & wait"))});
  REQUIRE(eventually([&] { return place.traces() == "start one\n"; }));
  if (GENERATE(false, true)) place.kill_supervisor();
  CHECK(cancel_runs(LockedHome(place.home()), place.keys(), {.who = "alice"}) == 1);
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  const auto verdict = place.status_of("one").verdict;
  CHECK(verdict.state == RunState::cancelled);
  CHECK(verdict.exit_code == 143);
  CHECK(place.traces() == "start one\n");
  CHECK(cancel_runs(LockedHome(place.home()), place.keys(), {.who = "bob"}) == 0);
}

TEST_CASE("a job that ignores SIGTERM is killed after a grace")
{
  Playground place;
  place.submit({place.job("deaf", "trap '' TERM HUP; echo up > \"$trace\"; while :; do sleep 1; done")});
  REQUIRE(eventually([&] { return place.traces() == "up\n"; }));
  cancel_runs(LockedHome(place.home()), place.keys(), {.who = "alice"});
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(place.status_of("deaf").verdict.state == RunState::cancelled);
  CHECK(eventually([&] { return local::Queue(place.home()).list().empty(); }));
}

TEST_CASE("a job over its time limit is ended and says so, also after its supervisor was killed")
{
  Playground place;
  auto slow = place.job("slow", traced("slow", "sleep 1000 & wait"));
  slow.resources.time_limit_s = 1;
  place.submit({slow});
  REQUIRE(eventually([&] { return !place.traces().empty(); }));
  if (GENERATE(false, true)) place.kill_supervisor();
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(place.status_of("slow").verdict.state == RunState::timed_out);
}

TEST_CASE("ahead of its time limit a job is told, once, and a run that stops in order is preempted and not timed out")
{
  Playground place;
  const auto attempt = place.attempt("slow");
  auto slow = place.job("slow", "trap 'echo told >> \"$trace\"; sleep 0.5; mv \"$trace.preempted\" " +
                                    attempt.preempted().string() + "; exit 75' USR1\nsleep 1000 & while :; do wait; done");
  write_file_atomic(place.trace().string() + ".preempted", to_json(Preemption{1, 7, 10, "step-7.safetensors", "SIGUSR1"}));
  slow.resources.time_limit_s = 600;
  slow.resources.signal_ahead_s = 599;
  place.submit({slow});
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(place.status_of("slow").verdict.state == RunState::preempted);
  CHECK(read_file(attempt.stop_reason()) == "time_limit\n");
  CHECK(place.traces() == "told\n");
}

TEST_CASE("a job without dtjob is not claimed, and starts when dtjob is there again")
{
  Playground place;
  const Variable nowhere("DTCTL_JOB_AGENT", (place.trace().parent_path() / "dtjob").string());
  JobRequest job = [&] {
    const Variable usual("DTCTL_JOB_AGENT", DTCTL_BINARY_DIR "/bin/dtjob");
    return place.job("one", "exit 6");
  }();
  place.submit({job});
  const auto trouble = local::Queue(place.home()).trouble();
  REQUIRE(eventually([&] { return read_file_if_exists(trouble).value_or("").find("dtjob") != std::string::npos; }));
  CHECK_FALSE(std::filesystem::exists(job.attempt.owner()));
  CHECK_FALSE(place.status_of("one").job.hindrance.remedy.empty());
  CHECK_FALSE(place.status_of("one").job.hindrance.needs_new_job);
  std::filesystem::copy_file(DTCTL_BINARY_DIR "/bin/dtjob", place.trace().parent_path() / "dtjob");
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(place.status_of("one").verdict.exit_code == 6);
}

TEST_CASE("an attempt that has an owner is not run again, and a stranger with the owner's number is left in peace")
{
  Playground place;
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    ::setsid();
    ::pause();
    ::_exit(0);
  }
  auto job = place.job("one", traced("one", "true"));
  auto forged = own_identity(job.token);
  forged.process.pid = stranger; // as if the number had been given out again, after a process that started earlier
  forged.process.start_ticks -= 1;
  REQUIRE(claim(job.attempt, forged));
  place.submit({job});
  REQUIRE(eventually([&] { return all_final(place.status()) && local::Queue(place.home()).list().empty(); }));
  CHECK(place.status_of("one").verdict.state == RunState::failed);
  CHECK(place.traces().empty());
  CHECK(::kill(stranger, 0) == 0);
  CHECK(::waitpid(stranger, nullptr, WNOHANG) == 0);
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

TEST_CASE("an owner of an earlier boot is dead, whatever runs under its number now")
{
  Playground place;
  const auto attempt = place.job("one", "true").attempt;
  auto owner = own_identity("token");
  CHECK(state_of(attempt, owner) == OwnerState::alive);
  owner.process.boot_id = other_boot;
  owner.unix_s = boot_unix_s() - 5;
  CHECK(state_of(attempt, owner) == OwnerState::dead);
  CHECK(processes_of_job(owner).empty());
}

TEST_CASE("an owner on another machine or in another PID namespace is out of sight, whatever the host names and machine ids, and "
          "silent when its last heartbeat is older than the margin")
{
  Playground place;
  const auto attempt = place.job("one", "true").attempt;
  const auto check = [&](const Owner& owner) {
    std::filesystem::remove(attempt.heartbeat());
    CHECK(state_of(attempt, owner) == OwnerState::out_of_sight); // it has just claimed the attempt
    CHECK(processes_of_job(owner).empty());
    auto old = owner;
    old.unix_s = now_unix_s() - 1e6;
    const auto make_old = [&](double age_s) {
      std::filesystem::last_write_time(attempt.heartbeat(),
                                       std::filesystem::file_time_type::clock::now() - std::chrono::seconds(std::llround(age_s)));
    };
    for (const double lead_s : {-1e6, 0.0, 1e6}) { // of the clock of the one who wrote it; the age of the file counts
      write_file_atomic(attempt.heartbeat(), to_line(Heartbeat{now_unix_s() + lead_s, 3, 10}));
      make_old(silence_margin_s - 60);
      CHECK(state_of(attempt, old) == OwnerState::out_of_sight);
      make_old(silence_margin_s + 60);
      CHECK(state_of(attempt, old) == OwnerState::silent);
    }
  };
  check(namesake("token"));
  auto contained = own_identity("token");
  contained.process.pid_namespace += 1;
  check(contained);
  // A copy of this machine: its run has shown signs of life since this machine was started.
  auto copy = own_identity("token");
  copy.process.boot_id = other_boot;
  std::filesystem::remove(attempt.heartbeat());
  CHECK(state_of(attempt, copy) == OwnerState::out_of_sight);
}

TEST_CASE("an attempt owned on another host is unknown, not dead, and names the host")
{
  Playground place;
  auto job = place.job("one", "true");
  auto owner = namesake(job.token);
  owner.host = "elsewhere.example";
  REQUIRE(claim(job.attempt, owner));
  const auto status = reconcile(place.home(), std::vector<std::string>{"one"}).front();
  CHECK(status.verdict.state == RunState::unknown);
  CHECK(status.verdict.cause ==
        "it was started on host elsewhere.example, which cannot be looked into from here; call dtctl there. "
        "It counts as lost when its last heartbeat is 10m old");
  CHECK(status.verdict.evidence == "scheduler: out of sight (" + status.verdict.cause + ")");
}

TEST_CASE("a job whose script is gone fails with that cause and does not hold up the others, and neither does a damaged file")
{
  Playground place;
  local::Queue queue(place.home());
  queue.make();
  std::ofstream(queue.folder() / "queue" / "0000000001-1-0123.json") << "{\"schema\": 1, \"na";
  auto job = place.job("one", "true");
  std::filesystem::remove(job.attempt.script());
  place.submit({job, place.job("next", "exit 6")});
  REQUIRE(eventually([&] { return all_final(place.status()); }));
  CHECK(place.status_of("one").verdict.cause == "the job could not be started: its job.sh is gone");
  CHECK(place.status_of("next").verdict.exit_code == 6);
}

TEST_CASE("numbers are not given out twice, also when the counter is lost")
{
  Playground place;
  local::Queue queue(place.home());
  queue.make();
  const auto lock = queue.lock();
  CHECK(queue.reserve_numbers(10) == 1);
  CHECK(queue.reserve_numbers(1) == 11);
  local::Ticket ticket;
  ticket.name = "name";
  ticket.token = "token";
  ticket.environment = {{"A", "\xff"}};
  ticket.after = {3, 5};
  queue.add(11, ticket);
  std::filesystem::remove(place.home().local_queue() / "last_id");
  CHECK(queue.reserve_numbers(1) == 12);
  const auto entries = queue.list();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].job_id() == "local-11");
  CHECK(queue.read(entries[0])->environment == std::map<std::string, std::string>{{"A", "\xff"}});
  CHECK(queue.read(entries[0])->after == std::vector<std::int64_t>{3, 5});
  queue.remove(entries[0]);
}

TEST_CASE("a job keeps paths and language of its submitter, and nothing of a job around it")
{
  const Variable size("OMPI_COMM_WORLD_SIZE", "4"), token("DTCTL_JOB_TOKEN", "outer"), slurm("SLURM_JOB_ID", "7"),
      libraries("LD_LIBRARY_PATH", "/opt/x"), prefix("OPAL_PREFIX", "/opt/mpi");
  const auto kept = environment_to_keep();
  CHECK(kept.at("LD_LIBRARY_PATH") == "/opt/x");
  CHECK(kept.at("OPAL_PREFIX") == "/opt/mpi");
  CHECK(kept.contains("PATH"));
  for (const auto* name : {"OMPI_COMM_WORLD_SIZE", "DTCTL_JOB_TOKEN", "SLURM_JOB_ID"}) CHECK_FALSE(kept.contains(name));
}

TEST_CASE("an exported shell function that loads modules reaches the job and works there, and other functions do not")
{
  const Variable module("BASH_FUNC_module%%", "() {  echo \"loads $2\"\n}"), helper("BASH_FUNC__module_raw%%", "() {  true\n}"),
      other("BASH_FUNC_ls%%", "() {  true\n}");
  const auto kept = environment_to_keep();
  CHECK(kept.contains("BASH_FUNC__module_raw%%"));
  CHECK_FALSE(kept.contains("BASH_FUNC_ls%%"));
  std::vector<std::string> words{"env", "-i"};
  for (const auto& [name, value] : kept) words.push_back(name + "=" + value);
  words.insert(words.end(), {"bash", "-c", "module load gcc"});
  CHECK(run_command(words).out == "loads gcc\n");
}

TEST_CASE("jobs of a home that was removed are ended: nobody could find them any more")
{
  Playground place;
  place.submit({place.job("one", "sleep 1000")});
  REQUIRE(eventually([&] { return runs(place, "one"); }));
  const auto owner = read_owner(place.attempt("one"));
  REQUIRE(owner);
  std::filesystem::remove_all(place.home().root());
  CHECK(eventually([&] { return !is_alive(owner->process); }));
}
