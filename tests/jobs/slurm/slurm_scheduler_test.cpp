// The Slurm scheduler before a Slurm whose rare answers are written down: timeouts, refusals, ids given out twice. What a real
// one does is tested in tests/cluster.
#include "tests/jobs/playground.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/slurm_scheduler.hpp"

#include <catch2/catch.hpp>

#include <deque>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::slurm;
using dt::jobs::testing::Folder;

namespace {

constexpr int timed_out = 5004, bad_partition = 2000, queue_full = 2007, refused_connection = 1800;

class ScriptedSlurm final : public SlurmApi {
 public:
  // What the next submissions do: fail with that code, after taking the job or not.
  struct Fault {
    int code = 0;
    bool is_taken = false;
  };
  std::deque<Fault> submit_faults;
  std::deque<int> load_faults;
  std::vector<SlurmRecord> queue, past;
  std::vector<SlurmJob> jobs;
  std::vector<std::string> killed;
  std::vector<PastQuery> queries;
  std::vector<SlurmNode> known_nodes;
  std::vector<SlurmReservation> known_reservations;
  std::string cluster_name = "here";
  std::string changed_comment; // in place of each that is submitted
  std::int64_t submit_unix_s = static_cast<std::int64_t>(now_unix_s());
  bool keeps_accounts = false;
  int past_fault = 0;
  int loads = 0, refusals = 0;
  int hidden_loads = 0;            // answers of an empty queue, first
  std::optional<std::size_t> room; // most jobs in the queue, array tasks counted, by a limit of the QOS
  std::uint32_t next_id = 100;
  SlurmSite known_site = [] {
    SlurmSite made;
    made.max_array_size = 1001;
    made.min_job_age_s = 300;
    return made;
  }();

  std::string controller() const override { return "head:6817"; }
  std::string cluster() override { return cluster_name; }
  bool has_accounting() override { return keeps_accounts; }
  const SlurmSite& site() override { return known_site; }
  std::vector<SlurmPartition> partitions() override
  {
    SlurmPartition main;
    main.name = "main";
    main.nodes = 4;
    main.cpus = 8;
    main.is_default = true;
    return {main};
  }
  std::vector<SlurmNode> nodes(const std::string& list) override
  {
    auto found = known_nodes;
    std::erase_if(found, [&](const SlurmNode& node) { return !list.empty() && node.name != list; });
    return found;
  }
  std::vector<SlurmReservation> reservations() override { return known_reservations; }
  std::vector<std::string> accounts() override { return {}; }
  std::uint32_t submit(const SlurmJob& job) override
  {
    if (room &&
        jobs_in_queue() + std::max<std::size_t>(expand_array_tasks(job.array).size(), job.array.empty() ? 1 : 0) > *room) {
      ++refusals;
      throw SlurmFailure(2050, "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits): "
                               "QOSMaxSubmitJobPerUserLimit");
    }
    jobs.push_back(job);
    const auto fault = submit_faults.empty() ? Fault{0, true} : submit_faults.front();
    if (!submit_faults.empty()) submit_faults.pop_front();
    const auto id = next_id++;
    if (fault.is_taken) {
      queue.push_back(waiting(id, job));
      queue.back().submit_unix_s = submit_unix_s;
      if (!changed_comment.empty()) queue.back().comment = changed_comment;
    }
    if (fault.code != 0) throw SlurmFailure(fault.code, "scripted");
    return id;
  }
  std::vector<SlurmRecord> load_jobs() override
  {
    ++loads;
    if (!load_faults.empty()) {
      const auto code = load_faults.front();
      load_faults.pop_front();
      if (code != 0) throw SlurmFailure(code, "scripted");
    }
    return hidden_loads-- > 0 ? std::vector<SlurmRecord>() : queue;
  }
  std::vector<SlurmRecord> load_past(const PastQuery& query) override
  {
    queries.push_back(query);
    if (past_fault != 0) throw SlurmFailure(past_fault, "scripted");
    return past;
  }
  void kill(const std::string& id) override { killed.push_back(id); }

 private:
  std::size_t jobs_in_queue() const
  {
    std::size_t count = 0;
    for (const auto& record : queue) count += record.array_id == 0 ? 1 : record.tasks.size();
    return count;
  }
  static SlurmRecord waiting(std::uint32_t id, const SlurmJob& job)
  {
    SlurmRecord record;
    record.id = id;
    record.array_id = job.array.empty() ? 0 : id;
    record.tasks = expand_array_tasks(job.array);
    record.name = job.name;
    record.comment = job.comment;
    record.state = "PENDING";
    record.reason = "Resources";
    return record;
  }
};

struct Stage {
  Folder folder;
  Home home{folder.path()};
  std::shared_ptr<ScriptedSlurm> slurm = std::make_shared<ScriptedSlurm>();
  double paused_s = 0;
  SlurmScheduler scheduler{home, slurm, [this](double seconds) { paused_s += seconds; }};

  JobRequest request(const std::string& key, std::int64_t nodes = 1) const
  {
    JobRequest made{key, {}, AttemptFolder(home.run(key), 1), {}};
    made.resources.nodes = nodes;
    std::filesystem::create_directories(made.attempt.path());
    return made;
  }
  std::vector<JobRequest> requests(std::size_t count) const
  {
    std::vector<JobRequest> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(request("key" + std::to_string(i)));
    return all;
  }
  std::vector<SubmitOutcome> submit(std::vector<JobRequest>& all, const SubmitRules& rules = {})
  {
    scheduler.assign_tokens(all, rules);
    return scheduler.submit(all, rules);
  }
  std::filesystem::path batch(const JobRequest& request) const { return batch_folder(home, parse_token(request.token)->batch); }
  static JobHandle handle(const JobRequest& request, const std::string& id)
  {
    return {id, request.name, request.token, request.attempt, false};
  }
  JobStatus poll(const JobRequest& request, const std::string& id)
  {
    return scheduler.poll(std::vector{handle(request, id)}).at(0);
  }
};

// Runs of one shape, as one job of Slurm.
struct Accepted : Stage {
  std::vector<JobRequest> all;
  explicit Accepted(std::size_t count, bool keeps_accounts = false) : all(requests(count))
  {
    slurm->keeps_accounts = keeps_accounts;
    submit(all);
  }
  using Stage::poll;
  JobStatus poll(std::size_t run, const std::string& id) { return poll(all[run], id); }
};

} // namespace

TEST_CASE("a sweep of one shape is one submission, and each run gets its task's id")
{
  Stage stage;
  auto all = stage.requests(5);
  const auto outcomes = stage.submit(all, {2});
  REQUIRE(stage.slurm->jobs.size() == 1);
  CHECK(stage.slurm->jobs[0].array == "0-4%2");
  CHECK(stage.slurm->jobs[0].script.starts_with("#!/bin/bash"));
  for (std::size_t i = 0; i < 5; ++i) CHECK(outcomes[i].job_id == "100_" + std::to_string(i));
  CHECK(stage.slurm->loads == 1); // the look at what was accepted
  CHECK(parse_tasks(read_file(stage.batch(all[0]) / "tasks")).size() == 5);
}

TEST_CASE("an answer that never came is looked for before the next try, twice if need be, and the job is in once")
{
  Stage stage;
  stage.slurm->submit_faults = {{timed_out, true}};
  stage.slurm->hidden_loads = GENERATE(0, 1);
  auto all = stage.requests(3);
  const auto outcomes = stage.submit(all);
  CHECK(stage.slurm->jobs.size() == 1);
  CHECK(outcomes[2].job_id == "100_2");
}

TEST_CASE("a submission that got lost is sent again when the queue does not hold it")
{
  Stage stage;
  stage.slurm->submit_faults = {{timed_out, false}};
  auto all = stage.requests(1);
  const auto outcomes = stage.submit(all);
  CHECK(stage.slurm->jobs.size() == 2);
  CHECK(stage.slurm->jobs[0].comment == stage.slurm->jobs[1].comment);
  CHECK(outcomes[0].job_id == "101");
  CHECK(stage.paused_s > 0);
}

TEST_CASE("of two jobs for one batch, because the first turned up too late, the first stays and the other leaves the queue")
{
  Stage stage;
  stage.slurm->submit_faults = {{timed_out, true}};
  stage.slurm->hidden_loads = 2;
  auto all = stage.requests(4);
  const auto outcomes = stage.submit(all);
  CHECK(outcomes[3].job_id == "100_3");
  CHECK(stage.slurm->killed == std::vector<std::string>{"101"});
}

TEST_CASE("a copy of a job that could not be removed is ended with it")
{
  Accepted stage(2);
  auto copy = stage.slurm->queue[0];
  copy.id = copy.array_id = 200;
  stage.slurm->queue.push_back(copy);
  stage.scheduler.cancel(std::vector{Stage::handle(stage.all[1], "100_1")});
  CHECK(stage.slurm->killed == std::vector<std::string>{"100_[1]", "200_[1]"});
}

TEST_CASE("a submission that is neither answered nor found out about stays open, and the rest is not sent")
{
  Stage stage;
  stage.slurm->submit_faults = {{timed_out, true}};
  stage.slurm->load_faults = {timed_out, timed_out, timed_out};
  std::vector all{stage.request("a", 1), stage.request("b", 2)};
  const auto outcomes = stage.submit(all);
  CHECK(outcomes[0].unanswered);
  CHECK(outcomes[0].error ==
        "Slurm's controller at head:6817 did not answer (scripted), so it is unknown whether it accepted the job; the next look "
        "finds out.");
  CHECK(outcomes[1].unanswered);
  CHECK(outcomes[1].error == "It was not sent: Slurm's controller at head:6817 has stopped answering.");
  CHECK(stage.slurm->jobs.size() == 1);

  // Taken up again: the first is found, the second submitted under its old token.
  const auto again = stage.scheduler.submit(all, {});
  CHECK(again[0].job_id == "100");
  CHECK(again[1].job_id == "101");
  CHECK(stage.slurm->jobs.size() == 2);
}

TEST_CASE("a batch of which a part is known is submitted for the rest alone, and its list of tasks stays whole")
{
  Accepted stage(4);
  stage.slurm->queue[0].tasks = {0, 2}; // the controller crashed and lost two of them
  const auto outcomes = stage.scheduler.submit(stage.all, {});
  REQUIRE(stage.slurm->jobs.size() == 2);
  CHECK(stage.slurm->jobs[1].array == "1,3");
  CHECK(outcomes[0].job_id == "100_0");
  CHECK(outcomes[1].job_id == "101_1");
  CHECK(parse_tasks(read_file(stage.batch(stage.all[0]) / "tasks")).size() == 4);
}

TEST_CASE("a refusal is told with the setting at fault, and the other batches go in")
{
  Stage stage;
  stage.slurm->submit_faults = {{bad_partition, false}};
  std::vector all{stage.request("a", 1), stage.request("b", 2)};
  all[0].resources.partition = "gpu";
  const auto outcomes = stage.submit(all);
  CHECK(outcomes[0].error == "Slurm refused it: scripted (resources.partition: gpu).");
  CHECK_FALSE(outcomes[0].unanswered);
  CHECK_FALSE(outcomes[0].deferred);
  CHECK(outcomes[1].job_id == "101");
  stage.slurm->submit_faults = {{2050, false}}; // another limit of the account than that of submitted jobs: no want of room
  std::vector other{stage.request("c")};
  CHECK_FALSE(stage.submit(other)[0].deferred);
}

TEST_CASE("a full queue is asked again a few times, with growing pauses, and then refuses")
{
  Stage stage;
  stage.slurm->submit_faults = {{queue_full, false}, {queue_full, false}};
  auto all = stage.requests(1);
  CHECK(stage.submit(all)[0].job_id == "102");
  CHECK(stage.paused_s >= 1.5);
  stage.slurm->submit_faults = {{queue_full, false}, {queue_full, false}, {queue_full, false}};
  std::vector other{stage.request("other")};
  CHECK(stage.submit(other)[0].deferred);
}

TEST_CASE("of an array larger than the limit on submitted jobs goes in what there is room for, and the rest says why it waits")
{
  Stage stage;
  stage.slurm->room = 5;
  auto all = stage.requests(8);
  const auto outcomes = stage.submit(all);
  CHECK(stage.slurm->jobs.size() == 2);
  CHECK(stage.slurm->jobs[0].array == "0-3");
  CHECK(stage.slurm->jobs[1].array == "4");
  CHECK(batch_of_comment(stage.slurm->jobs[0].comment) == batch_of_comment(stage.slurm->jobs[1].comment));
  CHECK(stage.slurm->refusals == 2);
  CHECK(outcomes[3].job_id == "100_3");
  CHECK(outcomes[4].job_id == "101_4");
  for (std::size_t i = 5; i < 8; ++i) {
    CHECK(outcomes[i].deferred);
    CHECK(outcomes[i].error.find("QOSMaxSubmitJobPerUserLimit") != std::string::npos);
  }

  // Handed over again under the same tokens, when three of the first five have ended.
  stage.slurm->queue[0].tasks = {3};
  const std::vector rest(all.begin() + 5, all.end());
  const auto again = stage.scheduler.submit(rest, {});
  CHECK(stage.slurm->jobs.back().array == "5-7");
  for (const auto& outcome : again) CHECK_FALSE(outcome.deferred);
  CHECK(again[2].job_id == "102_7");
  CHECK(parse_tasks(read_file(stage.batch(all[0]) / "tasks")).size() == 8);
}

TEST_CASE("a limit of any size takes as many of an array's tasks as it allows")
{
  for (std::size_t room = 0; room <= 20; ++room) {
    INFO("room for " << room);
    Stage stage;
    stage.slurm->room = room;
    auto all = stage.requests(19);
    const auto outcomes = stage.submit(all);
    const auto taken =
        std::count_if(outcomes.begin(), outcomes.end(), [](const auto& outcome) { return !outcome.job_id.empty(); });
    CHECK(taken == static_cast<std::ptrdiff_t>(std::min<std::size_t>(room, 19)));
    CHECK(std::all_of(outcomes.begin(), outcomes.end(),
                      [](const auto& outcome) { return outcome.job_id.empty() == outcome.deferred; }));
    CHECK(stage.slurm->refusals <= 6);
  }
}

TEST_CASE("where there is no room for one job, the next ones of the same account are not tried")
{
  Stage stage;
  stage.slurm->room = 0;
  std::vector all{stage.request("a", 1), stage.request("b", 2), stage.request("c", 3)};
  all[2].resources.account = "other";
  const auto outcomes = stage.submit(all);
  CHECK(std::all_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) { return outcome.deferred; }));
  CHECK(stage.slurm->refusals == 2);
}

TEST_CASE("what is handed over later waits for the parts that hold its submission's lanes")
{
  Stage stage;
  stage.slurm->room = 4;
  auto all = stage.requests(6);
  stage.submit(all, {2});
  REQUIRE(stage.slurm->jobs.size() >= 1);
  CHECK(stage.slurm->jobs[0].array.ends_with("%2"));
  stage.slurm->room = 10;
  const std::vector rest(all.begin() + 4, all.end());
  stage.scheduler.submit(rest, {2});
  CHECK(stage.slurm->jobs.back().array == "4-5%2");
  CHECK(stage.slurm->jobs.back().dependency.starts_with("afterany:"));
}

TEST_CASE("a task that was struck out of a waiting array is cancelled, and nothing is concluded where Slurm knows no such array")
{
  Accepted stage(3);
  stage.slurm->queue[0].tasks = {0, 2};
  CHECK(stage.poll(1, "100_1").state == JobStatus::State::ended);
  CHECK(stage.poll(1, "100_1").outcome == RunState::cancelled);
  CHECK(stage.poll(2, "100_2").state == JobStatus::State::queued);
  CHECK(stage.poll(1, "99_1").state == JobStatus::State::not_found);
  // All of it, as `scancel --user` does: the array is still known, with no tasks.
  stage.slurm->queue[0].tasks.clear();
  stage.slurm->queue[0].phase = JobPhase::cancelled;
  CHECK(stage.poll(2, "100_2").outcome == RunState::cancelled);
  // Its script has left a log: it has started, whatever became of it.
  write_file_atomic(stage.batch(stage.all[2]) / "log-2", "");
  CHECK(stage.poll(2, "100_2").state == JobStatus::State::not_found);
  stage.slurm->queue.clear();
  CHECK(stage.poll(1, "100_1").state == JobStatus::State::not_found);
}

TEST_CASE("of a task that is no longer listed the accounting is asked first, and without one an old array tells nothing")
{
  Stage stage;
  auto all = stage.requests(3);
  stage.slurm->submit_unix_s -= 1000;
  stage.submit(all);
  auto failed = stage.slurm->queue[0];
  stage.slurm->queue[0].tasks = {0, 2};
  CHECK(stage.poll(all[1], "100_1").state == JobStatus::State::not_found);
  CHECK(stage.poll(all[1], "100_1").reason.find("no accounting") != std::string::npos);
  stage.slurm->keeps_accounts = true;
  failed.tasks = {1};
  failed.phase = JobPhase::failed;
  failed.state = "FAILED";
  failed.exit_status = 53;
  failed.nodes = "node1";
  stage.slurm->past = {failed};
  const auto told = stage.poll(all[1], "100_1");
  CHECK(told.outcome == RunState::failed);
  CHECK(told.cause.starts_with("could not start on node1"));
  stage.slurm->past.clear();
  CHECK(stage.poll(all[1], "100_1").outcome == RunState::cancelled); // the accounting keeps every task that started
}

TEST_CASE("a job whose comment was replaced is known by id and time of submission, and one with a given-out id is another's")
{
  Stage stage;
  stage.slurm->changed_comment = "acct=phys";
  auto all = stage.requests(2);
  const auto outcomes = stage.submit(all);
  CHECK(outcomes[1].caution.starts_with("this site changes the comment of jobs"));
  auto& job = stage.slurm->queue[0];
  CHECK(stage.poll(all[1], "100_1").state == JobStatus::State::queued);
  job.name = "renamed";
  CHECK(stage.poll(all[1], "100_1").state == JobStatus::State::queued);
  CHECK(stage.scheduler.submit(all, {})[1].job_id == "100_1"); // taken up again: it is in the queue
  CHECK(stage.slurm->jobs.size() == 1);
  stage.scheduler.cancel(std::vector{Stage::handle(all[0], "100_0"), Stage::handle(all[1], "100_1")});
  CHECK(stage.slurm->killed == std::vector<std::string>{"100_[0-1]"});
  ++job.submit_unix_s; // the controller crashed and gave the id out again
  CHECK(stage.poll(all[1], "100_1").state == JobStatus::State::not_found);
  job.restarts = 1; // or an administrator renamed it and started it again: nobody can tell
  CHECK(stage.poll(all[1], "100_1").state == JobStatus::State::unknown);
  CHECK_THROWS_AS(stage.scheduler.cancel(std::vector{Stage::handle(all[1], "100_1")}), Error);
  job.name = stage.slurm->jobs[0].name;
  CHECK(stage.poll(all[1], "100_1").state == JobStatus::State::queued);
}

TEST_CASE("a job of another cluster is unknown, and Slurm is not asked about it")
{
  Accepted stage(1);
  auto handle = Stage::handle(stage.all[0], "100");
  handle.cluster = "there";
  const auto loads = stage.slurm->loads;
  const auto status = stage.scheduler.poll(std::vector{handle}).at(0);
  CHECK(status.state == JobStatus::State::unknown);
  CHECK(status.native_state == elsewhere_state);
  CHECK(stage.slurm->loads == loads);
  handle.cluster = "here";
  CHECK(stage.scheduler.poll(std::vector{handle}).at(0).state == JobStatus::State::queued);
}

TEST_CASE("who cancelled a job is asked of the accounting, twice at most, and a cancellation by dtctl is not asked about")
{
  Accepted stage(1, true);
  auto& job = stage.slurm->queue[0];
  job.phase = JobPhase::cancelled;
  job.state = "CANCELLED";
  CHECK(stage.poll(0, "100").cause == "cancelled in Slurm");
  CHECK(stage.slurm->queries.size() == 2);
  stage.slurm->past = {job};
  stage.slurm->past[0].cancelled_by = "admin";
  CHECK(stage.poll(0, "100").cause == "cancelled by admin");
  CHECK(stage.slurm->queries.size() == 3);
  write_file_atomic(stage.all[0].attempt.cancel(), "");
  stage.poll(0, "100");
  CHECK(stage.slurm->queries.size() == 3);
}

TEST_CASE(
    "submissions keep the pace that the recipe asks for, and batches beyond the most that may run wait for those before them")
{
  Stage stage;
  std::vector all{stage.request("a", 1), stage.request("b", 2), stage.request("c", 3)};
  for (auto& request : all) request.resources.max_rpc_per_s = 0.1;
  stage.submit(all, {2});
  CHECK(stage.paused_s > 19);
  CHECK(stage.paused_s <= 20);
  REQUIRE(stage.slurm->jobs.size() == 3);
  CHECK(stage.slurm->jobs[1].dependency.empty());
  CHECK(stage.slurm->jobs[2].dependency == "afterany:100");
}

TEST_CASE("the state of any number of runs costs one question, and none to the accounting while all are in the queue")
{
  Accepted stage(50, true);
  std::vector<JobHandle> handles;
  for (const auto& request : stage.all) handles.push_back(Stage::handle(request, ""));
  stage.slurm->loads = 0;
  const auto statuses = stage.scheduler.poll(handles);
  CHECK(stage.slurm->loads == 1);
  CHECK(stage.slurm->queries.empty());
  CHECK(statuses[49].state == JobStatus::State::queued);
  CHECK(statuses[49].job_id == "100_49");
}

TEST_CASE("an id that was given out again to somebody else's job proves nothing")
{
  Accepted stage(1);
  stage.slurm->queue[0].comment = "dtctl:j0000000000000000";
  CHECK(stage.poll(0, "100").state == JobStatus::State::not_found);
  stage.slurm->queue[0].comment = "";
  stage.slurm->queue[0].submit_unix_s += 60;
  CHECK(stage.poll(0, "100").state == JobStatus::State::not_found);
  stage.slurm->queue[0].comment = stage.slurm->jobs[0].comment;
  CHECK(stage.poll(0, "100").state == JobStatus::State::queued);
}

TEST_CASE("of two jobs for one run the one that lives counts, then the newer one")
{
  Accepted stage(1);
  auto second = stage.slurm->queue[0];
  second.id = 200;
  second.submit_unix_s += 5;
  second.phase = JobPhase::failed;
  stage.slurm->queue.push_back(second);
  CHECK(stage.poll(0, "200").job_id == "100");
  stage.slurm->queue[0].phase = second.phase;
  CHECK(stage.poll(0, "100").job_id == "200");
}

TEST_CASE("jobs that the queue has forgotten are looked up in the accounting, in one question by id")
{
  Accepted stage(3, true);
  stage.slurm->past = stage.slurm->queue;
  stage.slurm->past[0].phase = JobPhase::timeout;
  stage.slurm->queue.clear();
  std::vector<JobHandle> handles;
  for (const auto& request : stage.all) handles.push_back(Stage::handle(request, "100_0"));
  const auto statuses = stage.scheduler.poll(handles);
  CHECK(statuses[1].outcome == RunState::timed_out);
  REQUIRE(stage.slurm->queries.size() == 1);
  CHECK(stage.slurm->queries[0].ids == std::vector<std::uint32_t>{100});
  CHECK(stage.slurm->queries[0].names.empty());
}

TEST_CASE("a job whose recorded name is lost is looked for by its key in queue and accounting")
{
  Accepted stage(1, true);
  std::filesystem::remove(stage.batch(stage.all[0]) / "name");
  stage.slurm->queue[0].name = "key0";
  stage.slurm->queue[0].comment = "dtctl:j" + parse_token(stage.all[0].token)->batch;
  CHECK(stage.poll(0, "").job_id == "100");
  stage.slurm->queue.clear();
  stage.poll(0, "");
  REQUIRE(stage.slurm->queries.size() == 1);
  CHECK(stage.slurm->queries[0].names == std::vector<std::string>{"key0"});
}

TEST_CASE("a run whose answer was never seen is looked up in the accounting by name since its submission, unless its end is "
          "written down")
{
  Accepted stage(1, true);
  stage.slurm->queue.clear();
  dt::Submission intent;
  intent.submitted_unix_s = 1'000'000;
  write_file_atomic(stage.all[0].attempt.submission(), to_json(intent));
  CHECK(stage.poll(0, "").state == JobStatus::State::not_found);
  REQUIRE(stage.slurm->queries.size() == 1);
  CHECK(stage.slurm->queries[0].ids.empty());
  CHECK(stage.slurm->queries[0].names == std::vector{stage.slurm->jobs[0].name});
  CHECK(stage.slurm->queries[0].since_unix_s == 1'000'000 - 3600);
  stage.slurm->queries.clear();
  auto handle = Stage::handle(stage.all[0], "100");
  handle.has_ended = true; // its end is written down
  CHECK(stage.scheduler.poll(std::vector{handle})[0].state == JobStatus::State::not_found);
  CHECK(stage.slurm->queries.empty());
}

TEST_CASE(
    "an accounting that does not answer leaves the state unknown, never lost, and one that alone calls a job running counts not")
{
  Accepted stage(1, true);
  stage.slurm->past.swap(stage.slurm->queue);
  stage.slurm->past[0].phase = JobPhase::running;
  CHECK(stage.poll(0, "100").state == JobStatus::State::not_found);
  stage.slurm->past_fault = 7000;
  CHECK(stage.poll(0, "100").state == JobStatus::State::unknown);
}

TEST_CASE("a task that was removed while it waited is cancelled, though Slurm keeps nothing of it")
{
  Accepted stage(2);
  stage.slurm->queue.clear();
  write_file_atomic(stage.all[0].attempt.cancel(), "1 me\n");
  CHECK(stage.poll(0, "100_0").outcome == RunState::cancelled);
  CHECK(stage.poll(1, "100_1").state == JobStatus::State::not_found);
  write_file_atomic(stage.all[0].attempt.owner(), "{}"); // it ran
  CHECK(stage.poll(0, "100_0").state == JobStatus::State::not_found);
}

TEST_CASE("a job that Slurm cancelled on its node before it began may have failed to start, and that is said")
{
  Accepted stage(1);
  auto& record = stage.slurm->queue.at(0);
  record.phase = JobPhase::cancelled;
  CHECK(stage.poll(0, "100").cause == "cancelled in Slurm"); // while it waited
  record.nodes = "node7";
  CHECK(stage.poll(0, "100").cause.starts_with("cancelled in Slurm before it began on node7"));
  record.exit_status = 15;
  CHECK(stage.poll(0, "100").cause == "cancelled in Slurm");
  record.exit_status = 0;
  write_file_atomic(stage.all[0].attempt.owner(), "{}"); // it ran
  CHECK(stage.poll(0, "100").cause == "cancelled in Slurm");
}

TEST_CASE("a node that could not open the output is told with the folder of the batch")
{
  Accepted stage(1);
  auto& record = stage.slurm->queue.at(0);
  record.phase = JobPhase::failed;
  record.reason = "JobLaunchFailure";
  record.exit_status = 53;
  const auto status = stage.poll(0, "100");
  CHECK(status.outcome == RunState::failed);
  CHECK(status.cause.find(stage.batch(stage.all[0]).string()) != std::string::npos);
}

TEST_CASE("tasks are ended by one list, jobs of their own by id, and what is over is left alone")
{
  Stage stage;
  auto all = stage.requests(6);
  all.push_back(stage.request("alone", 2));
  all.push_back(stage.request("over", 3));
  const auto outcomes = stage.submit(all);
  stage.slurm->queue[2].phase = JobPhase::complete;
  std::vector<JobHandle> handles;
  for (const std::size_t i : {0u, 1u, 2u, 5u, 6u, 7u}) handles.push_back(Stage::handle(all[i], outcomes[i].job_id));
  stage.scheduler.cancel(handles);
  CHECK(stage.slurm->killed == std::vector<std::string>{"100_[0-2,5]", "101"});
}

TEST_CASE("a ladder's job is ended only when all of its open runs are to end")
{
  Stage stage;
  auto all = stage.requests(3);
  for (auto& request : all) request.ladder = "L";
  const auto outcomes = stage.submit(all);
  CHECK(outcomes[2].job_id == "100");
  std::vector<JobHandle> handles;
  for (const auto& request : all) handles.push_back(Stage::handle(request, "100"));
  write_file_atomic(all[0].attempt.end(), "exit 0 1\n");
  write_file_atomic(all[1].attempt.cancel(), "1 me\n");
  stage.scheduler.cancel(std::span(handles).subspan(1, 1));
  CHECK(stage.slurm->killed.empty());
  write_file_atomic(all[2].attempt.cancel(), "1 me\n");
  write_file_atomic(all[0].attempt.preempted(), "{}"); // cut off, so it runs again when its job does
  stage.scheduler.cancel(std::span(handles).subspan(1));
  CHECK(stage.slurm->killed.empty());
  write_file_atomic(all[0].attempt.stop_reason(), "time_limit\n");
  stage.scheduler.cancel(std::span(handles).subspan(1));
  CHECK(stage.slurm->killed == std::vector<std::string>{"100"});
}

TEST_CASE("a run of a ladder waits for its turn while the ladder's job runs")
{
  Stage stage;
  auto all = stage.requests(3);
  for (auto& request : all) request.ladder = "L";
  stage.submit(all);
  stage.slurm->queue[0].phase = JobPhase::running;
  write_file_atomic(all[0].attempt.owner(), "{}");
  CHECK(stage.poll(all[0], "100").state == JobStatus::State::running);
  CHECK(stage.poll(all[1], "100").reason.ends_with("; 1 run is before it"));
  CHECK(stage.poll(all[2], "100").reason.ends_with("; 2 runs are before it"));
  write_file_atomic(all[0].attempt.end(), "exit 0 1\n");
  CHECK(stage.poll(all[1], "100").reason.ends_with("; 0 runs are before it"));
  stage.slurm->queue[0].phase = JobPhase::timeout;
  CHECK(stage.poll(all[1], "100").outcome == RunState::timed_out);
}

TEST_CASE(
    "a controller that does not answer is told in one sentence, at once when it is down and after a second try when it is slow")
{
  Accepted stage(1);
  const auto sentence = "Slurm's controller at head:6817 does not answer (scripted). Nothing was lost; try again later.";
  stage.slurm->loads = 0;
  stage.slurm->load_faults = {refused_connection};
  CHECK_THROWS_WITH(stage.poll(0, "100"), sentence);
  CHECK(stage.slurm->loads == 1);
  CHECK(stage.paused_s == 0);
  stage.slurm->load_faults = {timed_out, timed_out};
  CHECK_THROWS_WITH(stage.poll(0, "100"), sentence);
  CHECK(stage.slurm->loads == 3);
  stage.slurm->load_faults = {timed_out, 0};
  CHECK(stage.poll(0, "100").state == JobStatus::State::queued);
}

TEST_CASE("a run that oversubscribes asks for no more than the partition's nodes have")
{
  Stage stage;
  auto all = stage.requests(1);
  all[0].resources.ranks_per_node = 16;
  all[0].resources.oversubscribe = true;
  stage.submit(all);
  CHECK(stage.slurm->jobs[0].tasks_per_node == 2);
}

TEST_CASE("scheduler_args that dtctl does not know refuse their runs, with the words of the recipe's error")
{
  Stage stage;
  auto all = stage.requests(1);
  all[0].resources.scheduler_args = {"--nodes=4"};
  const auto outcomes = stage.submit(all);
  CHECK(outcomes[0].error.starts_with("resources.scheduler_args: `--nodes` cannot be used"));
  CHECK(stage.slurm->jobs.empty());
}

TEST_CASE("a waiting job is told of a reservation on nodes of its partition, and of no other")
{
  Accepted stage(1);
  auto& job = stage.slurm->queue[0];
  job.reason = "ReqNodeNotAvail";
  job.partition = "main";
  SlurmNode node;
  node.name = "n0";
  node.partitions = "main";
  stage.slurm->known_nodes = {node};
  const auto start = static_cast<std::int64_t>(now_unix_s()) + 3600;
  stage.slurm->known_reservations = {{"maint", "n9", start, start + 60}};
  CHECK(stage.poll(0, "100").reason.find("maint") == std::string::npos);
  stage.slurm->known_reservations[0].nodes = "n0";
  CHECK(stage.poll(0, "100").reason.find("the reservation maint begins") != std::string::npos);
}
