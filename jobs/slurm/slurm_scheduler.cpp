#include "jobs/slurm/slurm_scheduler.hpp"

#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/job_builder.hpp"
#include "jobs/slurm/questions.hpp"
#include "jobs/slurm/records.hpp"
#include "jobs/slurm/site_fit.hpp"
#include "jobs/slurm/submission.hpp"
#include "jobs/slurm/words.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

namespace fs = std::filesystem;

// Whether the ladder's job will skip this run, now or after a restart.
bool is_over(const BatchTask& task)
{
  const AttemptFolder first(task.attempt);
  const auto numbers = attempt_numbers(first.run_folder());
  const AttemptFolder latest(first.run_folder(), numbers.empty() ? first.number() : numbers.back());
  if (is_there(latest.cancel()) || is_there(latest.result())) return true;
  return is_there(latest.end()) && !was_cut_off(latest);
}

std::vector<BatchTask> read_tasks(const Home& home, const std::string& batch)
{
  return parse_tasks(read_file_if_exists(batch_folder(home, batch) / "tasks").value_or(""));
}

// Status of a run that was asked to end before it began. The job's script checks for this request before it starts a run, so it
// never will.
void put_removed(JobStatus& status, const std::string& cause)
{
  status.state = JobStatus::State::ended;
  status.native_state = "REMOVED";
  status.outcome = RunState::cancelled;
  status.cause = cause;
}

// If the ladder's job runs but this run's turn has not come, reports the run as queued.
void put_turn(const Home& home, const BatchToken& token, const JobHandle& job, JobStatus& status)
{
  if (status.state != JobStatus::State::running || is_there(job.attempt.owner())) return;
  if (is_there(job.attempt.cancel())) return put_removed(status, "its ladder continues without it");
  const auto tasks = read_tasks(home, token.batch);
  const auto before = std::count_if(tasks.begin(), tasks.end(),
                                    [&](const BatchTask& task) { return task.index < token.index && !is_over(task); });
  status.state = JobStatus::State::queued;
  status.reason = "waits for its turn in the ladder; " + counted(before, "run is", "runs are") + " before it";
}

// If the ladder's job ended before this run's turn, says so.
void put_missed_turn(const JobHandle& job, JobStatus& status)
{
  if (status.state != JobStatus::State::ended || is_there(job.attempt.owner())) return;
  status.cause =
      status.cause.empty() ? "its ladder's job ended before its turn" : "before its turn, its ladder's job " + status.cause;
}

// Slurm also cancels a job that its node could not start: the prolog failed there, or the disk for scripts is full.
void put_failed_start(const JobHandle& job, const SlurmRecord& record, JobStatus& status)
{
  const bool had_nodes = !record.nodes.empty() && record.exit_status == 0;
  if (status.outcome != RunState::cancelled || !had_nodes || is_there(job.attempt.owner()) || is_there(job.attempt.cancel()))
    return;
  status.cause += fmt::format(" before it began on {}: if nobody ran scancel, the node could not start it; sinfo -R says what is "
                              "wrong with nodes",
                              record.nodes);
}

constexpr std::string_view removed_early = "removed from Slurm's queue before it started";

std::vector<std::string> tokens_of(std::span<const JobHandle> jobs)
{
  std::vector<std::string> tokens;
  for (const auto& job : jobs) tokens.push_back(job.token);
  return tokens;
}

KnownJobs known_jobs(const Home& home, std::vector<SlurmRecord> records, std::span<const JobHandle> jobs)
{
  return KnownJobs(std::move(records), [&] { return read_seen_batches(home, tokens_of(jobs)); });
}

std::string words_of_stranger(const SlurmRecord& record, const std::string& job_id)
{
  return fmt::format(
      "job {} is {} in Slurm, but its comment and its time of submission or name are not those of this run's job, so "
      "dtctl cannot tell whether it is this run; if it is, end it by: scancel {}",
      job_id, printable(record.state), job_id);
}

class Poll {
 public:
  Poll(const Home& home, SlurmApi& api, const Pause& pause, std::span<const JobHandle> jobs)
      : home_(home), api_(api), pause_(pause), jobs_(jobs), statuses_(jobs.size())
  {
  }

  std::vector<JobStatus> run()
  {
    std::vector<std::size_t> here;
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      if (!is_elsewhere(i)) here.push_back(i);
    if (here.empty()) return std::move(statuses_);
    const auto queue = known_jobs(home_, ask(api_, pause_, [&] { return api_.load_jobs(); }), jobs_);
    std::vector<std::size_t> missing;
    for (const auto i : here)
      if (!tell(i, queue) && !is_strange(i, queue) && !jobs_[i].has_ended) missing.push_back(i);
    std::erase_if(missing, [&](std::size_t i) { return was_removed(i); });
    name_who_cancelled();
    if (!missing.empty()) look_into_the_past(missing, queue);
    return std::move(statuses_);
  }

 private:
  // Of another cluster, whose jobs this one does not know, or has others with the same ids.
  bool is_elsewhere(std::size_t i)
  {
    if (jobs_[i].cluster.empty()) return false;
    if (!cluster_) cluster_ = ask(api_, pause_, [&] { return api_.cluster(); });
    auto words = elsewhere_words(jobs_[i].cluster, *cluster_);
    if (words.empty()) return false;
    statuses_[i].state = JobStatus::State::unknown;
    statuses_[i].native_state = elsewhere_state;
    statuses_[i].reason = std::move(words);
    return true;
  }

  // A living job with the run's id that may be the run's.
  bool is_strange(std::size_t i, const KnownJobs& queue)
  {
    const auto token = parse_token(jobs_[i].token);
    const auto* record = token ? queue.stranger(*token, jobs_[i].job_id) : nullptr;
    if (record == nullptr) return false;
    statuses_[i].state = JobStatus::State::unknown;
    statuses_[i].native_state = record->state;
    statuses_[i].reason = words_of_stranger(*record, jobs_[i].job_id);
    return true;
  }

  bool tell(std::size_t i, const KnownJobs& known)
  {
    const auto token = parse_token(jobs_[i].token);
    const auto* record = token ? known.find(*token) : nullptr;
    if (record == nullptr) return false;
    statuses_[i] = words_for(record, token->batch);
    if (statuses_[i].outcome == RunState::cancelled && record->cancelled_by.empty() && !is_there(jobs_[i].attempt.cancel()))
      nameless_.push_back(i);
    statuses_[i].job_id = id_of(*record, *token);
    put_failed_start(jobs_[i], *record, statuses_[i]);
    if (token->kind != BatchKind::ladder) return true;
    put_turn(home_, *token, jobs_[i], statuses_[i]);
    put_missed_turn(jobs_[i], statuses_[i]);
    return true;
  }

  // A task that never ran and was asked to end will never run.
  bool was_removed(std::size_t i)
  {
    const auto& attempt = jobs_[i].attempt;
    if (is_there(attempt.owner()) || !is_there(attempt.cancel())) return false;
    put_removed(statuses_[i], std::string(removed_early));
    return true;
  }

  // When its array was submitted, of a task that left no log and that the controller no longer lists in an array that it knows:
  // it was removed while it waited, or its node could not start it and the controller has forgotten that.
  std::optional<std::int64_t> struck_out(const JobHandle& job, const KnownJobs& queue) const
  {
    const auto token = parse_token(job.token);
    if (!token || token->kind != BatchKind::array || is_there(job.attempt.owner())) return std::nullopt;
    if (is_there(log_of(batch_folder(home_, token->batch), *token))) return std::nullopt;
    return queue.submission_of_array(*token, job.job_id);
  }

  // Without accounting. The controller keeps ended jobs for MinJobAge, so within that time the task has never started.
  void judge_struck_out(std::size_t i, std::int64_t submitted_unix_s)
  {
    constexpr double clocks_apart_s = 5;
    const auto min_job_age_s = ask(api_, pause_, [&] { return api_.site().min_job_age_s; });
    if (now_unix_s() - static_cast<double>(submitted_unix_s) + clocks_apart_s < static_cast<double>(min_job_age_s))
      return put_removed(statuses_[i], std::string(removed_early));
    say({i}, JobStatus::State::not_found,
        "it is no longer in Slurm's queue and left no log: it was removed before it started, or its node could not start it; the "
        "site has no accounting that could tell");
  }

  // Caches the status, because thousands of waiting tasks share the record of their array.
  const JobStatus& words_for(const SlurmRecord* record, const std::string& batch)
  {
    const auto [entry, is_new] = words_.try_emplace(record);
    if (!is_new) return entry->second;
    auto known = *record;
    if (known.phase == JobPhase::node_fail && known.failed_node.empty()) known.failed_node = failed_nodes(nodes(known.nodes));
    entry->second = status_of(known, batch_folder(home_, batch).string());
    if (entry->second.state == JobStatus::State::queued)
      entry->second.reason += words_of_reservation(known, reservations(known), now_unix_s());
    return entry->second;
  }

  // Those that the site has now.
  std::vector<SlurmNode> nodes(const std::string& list) const
  {
    try {
      return list.empty() ? std::vector<SlurmNode>() : api_.nodes(list);
    } catch (const SlurmFailure&) { // one of them is gone
      return {};
    }
  }

  // The reservations with nodes of the job's partitions. Asks only when the answer is needed, and once.
  std::vector<SlurmReservation> reservations(const SlurmRecord& record)
  {
    if (record.reason != "ReqNodeNotAvail") return {};
    if (!reservations_) reservations_ = ask(api_, pause_, [&] { return api_.reservations(); });
    auto found = *reservations_;
    const auto wanted = split(record.partition, ',');
    std::erase_if(found, [&](const SlurmReservation& one) {
      const auto reserved = nodes(one.nodes);
      return std::none_of(reserved.begin(), reserved.end(), [&](const SlurmNode& node) {
        const auto names = split(node.partitions, ',');
        return std::find_first_of(names.begin(), names.end(), wanted.begin(), wanted.end()) != names.end();
      });
    });
    return found;
  }

  // The queue does not tell who cancelled a job; the accounting does, a moment later. What is kept of the end should have the
  // name.
  void name_who_cancelled()
  {
    if (nameless_.empty() || !api_.has_accounting()) return;
    auto asked = std::exchange(nameless_, {});
    try {
      for (int number = 1; !asked.empty() && number <= most_tries_of_a_question; ++number) {
        if (number > 1) pause_(1);
        const auto past = known_jobs(home_, api_.load_past(query_for(asked)), jobs_);
        words_.clear();
        std::erase_if(asked, [&](std::size_t i) {
          const auto* record = past.find(*parse_token(jobs_[i].token));
          return record != nullptr && !record->cancelled_by.empty() && tell(i, past);
        });
      }
    } catch (const SlurmFailure&) { // it is cancelled all the same
    }
  }

  void look_into_the_past(const std::vector<std::size_t>& missing, const KnownJobs& queue)
  {
    if (!api_.has_accounting()) {
      for (const auto i : missing)
        if (const auto submitted_unix_s = struck_out(jobs_[i], queue))
          judge_struck_out(i, *submitted_unix_s);
        else
          say({i}, JobStatus::State::not_found, "it is not in Slurm's queue, and the site has no accounting");
      return;
    }
    try {
      words_.clear();
      const auto past = known_jobs(home_, api_.load_past(query_for(missing)), jobs_);
      for (const auto i : missing)
        if (!tell(i, past) && struck_out(jobs_[i], queue))
          put_removed(statuses_[i], std::string(removed_early)); // the accounting keeps every task that started
        else if (statuses_[i].state == JobStatus::State::not_found)
          say({i}, JobStatus::State::not_found, "it is neither in Slurm's queue nor in its accounting");
        else if (statuses_[i].state != JobStatus::State::ended)
          forget_runaway(i);
    } catch (const SlurmFailure& failure) {
      say(missing, JobStatus::State::unknown,
          fmt::format("it is not in Slurm's queue, and Slurm's accounting does not answer ({})", failure.what()));
    }
  }

  // The accounting never received the end of this job, and the controller has forgotten it.
  void forget_runaway(std::size_t i)
  {
    const auto native = statuses_[i].native_state;
    statuses_[i] = {};
    say({i}, JobStatus::State::not_found, "it is not in Slurm's queue, although Slurm's accounting says " + native);
  }

  void say(const std::vector<std::size_t>& places, JobStatus::State state, const std::string& reason)
  {
    for (const auto i : places) {
      statuses_[i].state = state;
      statuses_[i].reason = reason;
    }
  }

  // By id if all ids are known, because that is fast; otherwise by name, since the first of these jobs was submitted.
  PastQuery query_for(const std::vector<std::size_t>& missing) const
  {
    std::set<std::uint32_t> ids;
    double since_unix_s = 0;
    for (const auto i : missing) {
      if (!parse_token(jobs_[i].token)) continue;
      if (!jobs_[i].job_id.empty()) {
        ids.insert(static_cast<std::uint32_t>(std::strtoul(jobs_[i].job_id.c_str(), nullptr, 10)));
        continue;
      }
      const auto submission = read_submission(jobs_[i].attempt);
      const double submitted = submission ? submission->submitted_unix_s : 1;
      since_unix_s = since_unix_s == 0 ? submitted : std::min(since_unix_s, submitted);
    }
    if (since_unix_s == 0) return {{ids.begin(), ids.end()}, {}, 0};
    std::map<std::string, std::string> names_of_batches; // thousands of tasks share the batch of their array
    for (const auto i : missing)
      if (const auto token = parse_token(jobs_[i].token))
        if (const auto [name, is_new] = names_of_batches.try_emplace(token->batch); is_new)
          name->second = recorded_job_name(batch_folder(home_, token->batch), *token, jobs_[i].name);
    std::set<std::string> names;
    for (const auto& [batch, name] : names_of_batches) names.insert(name);
    return {{}, {names.begin(), names.end()}, std::max<std::int64_t>(static_cast<std::int64_t>(since_unix_s) - 3600, 1)};
  }

  const Home& home_;
  SlurmApi& api_;
  const Pause& pause_;
  std::span<const JobHandle> jobs_;
  std::vector<JobStatus> statuses_;
  std::optional<std::string> cluster_; // that is asked
  std::vector<std::size_t> nameless_;  // cancelled, and Slurm's queue does not say by whom
  std::optional<std::vector<SlurmReservation>> reservations_;
  std::map<const SlurmRecord*, JobStatus> words_;
};

// Whether every run of the ladder has ended or was asked to end.
bool is_wholly_cancelled(const Home& home, const std::string& batch)
{
  const auto tasks = read_tasks(home, batch);
  return std::all_of(tasks.begin(), tasks.end(), is_over);
}

// The jobs that a cancellation ends, and the array tasks that it ends, grouped by their array.
struct Targets {
  std::set<std::string> jobs;
  std::map<std::uint32_t, std::vector<std::uint32_t>> tasks;
  std::set<std::string> ladders_looked_at;
  std::vector<std::string> strangers; // sentences about living jobs that may be those to be ended
};

void add_target(const Home& home, const KnownJobs& queue, const JobHandle& job, Targets& targets)
{
  const auto token = parse_token(job.token);
  if (!token) return;
  const auto records = queue.living(*token);
  if (const auto* stranger = records.empty() ? queue.stranger(*token, job.job_id) : nullptr)
    targets.strangers.push_back(words_of_stranger(*stranger, job.job_id));
  if (token->kind == BatchKind::ladder && !records.empty() &&
      (!targets.ladders_looked_at.insert(token->batch).second || !is_wholly_cancelled(home, token->batch)))
    return;
  for (const auto* record : records)
    if (token->kind == BatchKind::array)
      targets.tasks[record->array_id].push_back(token->index);
    else
      targets.jobs.insert(id_of(*record, *token));
}

void kill(SlurmApi& api, const Pause& pause, const std::string& id)
{
  ask(api, pause, [&] {
    try {
      api.kill(id);
    } catch (const SlurmFailure& failure) {
      if (!is_gone(failure.code())) throw;
    }
  });
}

} // namespace

void SlurmScheduler::sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::string SlurmScheduler::cluster()
{
  return ask(*api_, pause_, [&] { return api_->cluster(); });
}

void SlurmScheduler::assign_tokens(std::span<JobRequest> requests, const SubmitRules&)
{
  const auto site = ask(*api_, pause_, [&] { return api_->site(); });
  const auto new_id = [] { return random_token().substr(0, 16); };
  for (const auto& batch : plan_batches(requests, most_array_tasks(site), new_id))
    for (std::size_t i = 0; i < batch.members.size(); ++i)
      requests[batch.members[i]].token = format_token({batch.kind, batch.id, batch.indices[i]});
}

std::vector<std::string> SlurmScheduler::misfits(std::span<const JobRequest> requests)
{
  const auto site = ask(*api_, pause_, [&] { return api_->site(); });
  SiteOffer offer{ask(*api_, pause_, [&] { return api_->partitions(); }), ask(*api_, pause_, [&] { return api_->nodes(); })};
  if (site.demands_account) {
    try {
      offer.accounts = api_->accounts();
    } catch (const SlurmFailure&) { // slurmdbd is down: the controller knows the accounts, but does not tell them
    }
  }
  std::vector<std::string> misfits(requests.size());
  for (const auto& batch : plan_batches(requests, most_array_tasks(site), [] { return std::string(); })) {
    SubmissionContext context;
    context.cores_per_node = cores_per_node(offer.partitions, requests[batch.members.front()].resources.partition);
    const auto why = misfit(job_for(batch, requests, {}, context, {}), offer);
    for (const auto member : batch.members) misfits[member] = why;
  }
  return misfits;
}

std::vector<SubmitOutcome> SlurmScheduler::submit(std::span<const JobRequest> requests, const SubmitRules& rules)
{
  return Submission(home_, *api_, pause_, requests, rules).run();
}

std::vector<JobStatus> SlurmScheduler::poll(std::span<const JobHandle> jobs)
{
  if (jobs.empty()) return {};
  return Poll(home_, *api_, pause_, jobs).run();
}

void SlurmScheduler::cancel(std::span<const JobHandle> jobs)
{
  const auto queue = known_jobs(home_, ask(*api_, pause_, [&] { return api_->load_jobs(); }), jobs);
  Targets targets;
  for (const auto& job : jobs) add_target(home_, queue, job, targets);
  for (const auto& [array, tasks] : targets.tasks) kill(*api_, pause_, fmt::format("{}_[{}]", array, format_array_tasks(tasks)));
  for (const auto& id : targets.jobs) kill(*api_, pause_, id);
  if (!targets.strangers.empty()) throw Error(ErrorKind::scheduler, join(targets.strangers, "; "));
}

} // namespace dt::jobs::slurm
