#include "jobs/slurm/submission.hpp"

#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/machine/quick_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

namespace fs = std::filesystem;

// Thrown if it is unknown whether Slurm took a batch, and could not be determined.
struct Unanswered {
  std::string words;
};

constexpr std::string_view changed_comment =
    "this site changes the comment of jobs, by which dtctl knows its own; it knows them by id, time of submission and name";

// Environment of the job. `scontrol requeue` in the job must reach the same cluster, so SLURM_CONF is kept.
std::map<std::string, std::string> job_environment()
{
  auto environment = environment_to_keep();
  if (const auto* conf = std::getenv("SLURM_CONF"); conf != nullptr && *conf != '\0') environment["SLURM_CONF"] = conf;
  return environment;
}

std::string current_folder()
{
  std::error_code error;
  const auto folder = fs::current_path(error);
  return error ? std::string("/") : folder.string();
}

// The lowest rate of submissions that a request demands, in calls per second; 0: no limit.
double pace_of(std::span<const JobRequest> requests)
{
  double pace = 0;
  for (const auto& request : requests)
    if (const auto wanted = request.resources.max_rpc_per_s; wanted > 0 && (pace == 0 || wanted < pace)) pace = wanted;
  return pace;
}

// Number of jobs that a limit on submitted jobs counts: each task of an array, and 1 for any other batch.
std::size_t jobs_in(const Batch& batch)
{
  return batch.kind == BatchKind::array ? batch.members.size() : std::min<std::size_t>(batch.members.size(), 1);
}

Batch part_of(const Batch& batch, std::size_t begin, std::size_t end)
{
  const auto cut = [&](const auto& all) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return {batch.kind, batch.id, cut(batch.members), cut(batch.indices), batch.name};
}

Batch first_of(const Batch& batch, std::size_t jobs)
{
  return part_of(batch, 0, batch.kind == BatchKind::array ? jobs : batch.members.size());
}

Batch without_first(const Batch& batch, std::size_t jobs)
{
  return part_of(batch, batch.kind == BatchKind::array ? jobs : batch.members.size(), batch.members.size());
}

// Adds the tasks to those in the file. Lines of an earlier submission stay, because its jobs may still read them.
std::string merged_tasks(const fs::path& file, std::span<const BatchTask> tasks)
{
  std::map<std::uint32_t, BatchTask> lines;
  for (auto& task : parse_tasks(read_file_if_exists(file).value_or(""))) lines.emplace(task.index, std::move(task));
  for (const auto& task : tasks) lines.insert_or_assign(task.index, task);
  std::vector<BatchTask> merged;
  for (auto& [index, task] : lines) merged.push_back(std::move(task));
  return format_tasks(merged);
}

} // namespace

Submission::Submission(const Home& home, SlurmApi& api, const Pause& pause, std::span<const JobRequest> requests,
                       const SubmitRules& rules)
    : home_(home), api_(api), pause_(pause), requests_(requests), lanes_(rules.max_running), outcomes_(requests.size())
{
  context_.work_dir = current_folder();
  context_.environment = job_environment();
  most_running_ = rules.max_running;
}

std::vector<SubmitOutcome> Submission::run()
{
  auto batches = batches_of(requests_);
  for (auto& outcome : outcomes_) outcome.error = "Its token is not one of the Slurm scheduler's.";
  for (const auto& batch : batches) settle(batch, {});
  context_.cores_per_node = cores_of_oversubscribed();
  leave_out_known(batches);
  write_folders(batches);
  share_lanes(batches);
  for (const auto& batch : batches) hand_over(batch);
  look_at_accepted(batches);
  return std::move(outcomes_);
}

// The folder is written before Slurm is asked. Without a folder, the batch was never submitted.
bool Submission::was_begun(const Batch& batch) const { return is_there(batch_folder(home_, batch.id) / "tasks"); }

void Submission::leave_out_known(std::vector<Batch>& batches)
{
  if (std::none_of(batches.begin(), batches.end(), [&](const Batch& batch) { return was_begun(batch); })) return;
  std::vector<std::string> tokens;
  for (const auto& request : requests_) tokens.push_back(request.token);
  const KnownJobs queue(ask(api_, pause_, [&] { return api_.load_jobs(); }), [&] { return read_seen_batches(home_, tokens); });
  for (auto& batch : batches) batch = without_known(batch, queue);
}

// Requests that are in the queue already get their job id, and their jobs take their lanes.
Batch Submission::without_known(const Batch& batch, const KnownJobs& queue)
{
  Batch rest{batch.kind, batch.id, {}, {}, batch.name};
  for (std::size_t i = 0; i < batch.members.size(); ++i) {
    const BatchToken token{batch.kind, batch.id, batch.indices[i]};
    if (const auto* record = queue.find(token)) {
      outcomes_[batch.members[i]] = {id_of(*record, token), {}};
    } else {
      rest.members.push_back(batch.members[i]);
      rest.indices.push_back(batch.indices[i]);
    }
  }
  for (const auto* record : queue.living_of(batch.kind, batch.id))
    lanes_.take(std::max<std::size_t>(record->tasks.size(), 1), std::to_string(job_of(*record)));
  return rest;
}

// Writes all folders before the first request. They are not synced, because that could take longer than everything else. If a
// power cut destroys the files of an accepted job, the job finds no attempt to claim and does nothing.
void Submission::write_folders(std::vector<Batch>& batches)
{
  std::erase_if(batches, [&](Batch& batch) {
    if (batch.members.empty()) return true;
    try {
      write_folder(batch);
      return false;
    } catch (const Error& error) {
      settle(batch, {{}, error.what()});
      return true;
    }
  });
}

void Submission::write_folder(Batch& batch) const
{
  const auto folder = batch_folder(home_, batch.id);
  make_folders(folder);
  if (is_there(folder / "name"))
    batch.name = trim(read_file(folder / "name")); // a part of the batch was submitted under this name
  else
    write_file_quick(folder / "name", batch.name + "\n");
  const auto& resources = requests_[batch.members.front()].resources;
  write_file_quick(folder / "script", start_script({agent_program().string(), folder, batch.kind == BatchKind::ladder,
                                                    resources.requeue, resources.signal_ahead_s}));
  write_file_quick(folder / "tasks", merged_tasks(folder / "tasks", tasks_for(batch, requests_)));
}

// Slurm refuses an array as a whole even if there is room for a part of it, so smaller and smaller parts are tried.
void Submission::hand_over(const Batch& batch)
{
  if (!has_contact_)
    return settle(batch, {{}, "It was not sent: Slurm's controller at " + api_.controller() + " has stopped answering.", true});
  auto rest = batch;
  SlurmJob job;
  try {
    std::size_t too_many = jobs_in(rest) + 1; // the smallest number of jobs known to be too many
    for (auto count = jobs_in(rest); count > 0; count = std::min(jobs_in(rest), too_many / 2)) {
      if (hand_over_part(first_of(rest, count), job)) {
        rest = without_first(rest, count);
        too_many -= count;
      } else {
        too_many = count;
      }
    }
    settle(rest, {{}, full_words_, false, true});
  } catch (const SlurmFailure& failure) {
    settle(rest, {{}, refusal_words(failure, job)});
  } catch (const Unanswered& silence) {
    has_contact_ = false;
    settle(rest, {{}, silence.words, true});
  } catch (const Error& error) {
    settle(rest, {{}, error.what()});
  }
}

// Returns false if Slurm has no room for this part.
bool Submission::hand_over_part(const Batch& part, SlurmJob& job)
{
  const auto runs = jobs_in(part);
  context_.max_running = shares_.at(part.id);
  const auto lanes = context_.max_running > 0 ? std::min(runs, static_cast<std::size_t>(context_.max_running)) : runs;
  job = job_for(part, requests_, batch_folder(home_, part.id), context_, lanes_.before(lanes));
  job.script = read_file(job.script_path);
  const Purse purse{job.partition, job.account, job.qos};
  if (const auto full = full_.find(purse); full != full_.end()) {
    full_words_ = full->second;
    return false;
  }
  try {
    const auto id = submit(part, job);
    lanes_.take(lanes, std::to_string(id));
    for (std::size_t i = 0; i < part.members.size(); ++i)
      outcomes_[part.members[i]] = {format_job_id(part.kind, id, part.indices[i]), {}};
    return true;
  } catch (const SlurmFailure& failure) {
    if (!is_full(failure)) throw;
    full_words_ = full_words(failure);
    if (runs == 1) full_[purse] = full_words_;
    return false;
  }
}

// Submits exactly once: if no answer arrived, the queue is searched before the next try.
std::uint32_t Submission::submit(const Batch& batch, const SlurmJob& job)
{
  bool may_be_in = false; // Slurm may still accept an earlier try
  for (int number = 1;; ++number) {
    try {
      keep_pace();
      const auto id = api_.submit(job);
      return may_be_in ? without_copies(batch, id) : id;
    } catch (const SlurmFailure& failure) {
      if (is_ambiguous(failure.code())) {
        may_be_in = true;
        if (const auto id = look_up(batch)) return *id;
        if (number >= most_tries) throw Unanswered{no_answer(api_, failure).what()};
      } else if (!is_temporary(failure.code()) || number >= most_tries || (is_full(failure) && !full_words_.empty())) {
        throw; // the queue was full a moment ago: do not wait for it again
      }
      pause_(pause_before_s(number));
    }
  }
}

// Returns the id of the batch's job if the queue has it. A controller that recovers may answer this request before it processes
// an earlier submission, so the queue must be empty of the batch twice in a row.
std::optional<std::uint32_t> Submission::look_up(const Batch& batch) const
{
  const BatchToken token{batch.kind, batch.id, batch.indices.front()};
  bool was_empty = false;
  for (int number = 1;; ++number) {
    try {
      const KnownJobs queue(api_.load_jobs());
      if (const auto* record = queue.find(token)) return job_of(*record);
      if (was_empty) return std::nullopt;
      was_empty = true;
    } catch (const SlurmFailure& failure) {
      if (number >= most_tries)
        throw Unanswered{fmt::format(
            "Slurm's controller at {} did not answer ({}), so it is unknown whether it accepted the job; the next look "
            "finds out.",
            api_.controller(), failure.what())};
    }
    pause_(pause_before_s(number));
  }
}

// One look shows the jobs as Slurm keeps them. A plug-in of the site, or a wrapper around sbatch, may have changed the comment;
// then the jobs are known by what is kept here.
void Submission::look_at_accepted(std::span<const Batch> batches)
{
  std::map<std::uint32_t, std::pair<const Batch*, std::vector<std::size_t>>> accepted; // by the job's id
  for (const auto& batch : batches)
    for (const auto member : batch.members)
      if (const auto id = leading_number<std::uint32_t>(outcomes_[member].job_id)) {
        accepted[*id].first = &batch;
        accepted[*id].second.push_back(member);
      }
  if (accepted.empty()) return;
  try {
    for (const auto& record : api_.load_jobs()) {
      const auto known = accepted.find(job_of(record));
      if (known == accepted.end()) continue;
      const auto& [batch, members] = known->second;
      add_seen_job(batch_folder(home_, batch->id), {known->first, record.submit_unix_s, record.name});
      if (batch_of_comment(record.comment) != static_cast<char>(batch->kind) + batch->id)
        for (const auto member : members) outcomes_[member].caution = std::string(changed_comment);
      accepted.erase(known);
    }
  } catch (const SlurmFailure&) { // the jobs are known by their comment alone
  } catch (const Error&) {        // the home cannot be written; the same
  }
}

// If a batch has several jobs, keeps the one that has started, otherwise the first, and removes the others from the queue. If
// that fails, the others start, find their runs claimed and end.
std::uint32_t Submission::without_copies(const Batch& batch, std::uint32_t id) const
{
  const BatchToken token{batch.kind, batch.id, batch.indices.front()};
  try {
    const KnownJobs queue(api_.load_jobs());
    const auto jobs = queue.living(token);
    const auto is_first = [](const SlurmRecord* a, const SlurmRecord* b) {
      const bool a_waits = a->phase == JobPhase::pending, b_waits = b->phase == JobPhase::pending;
      return a_waits != b_waits ? b_waits : job_of(*a) < job_of(*b);
    };
    if (jobs.size() < 2) return id;
    const auto* kept = *std::min_element(jobs.begin(), jobs.end(), is_first);
    for (const auto* job : jobs)
      if (job != kept && job->phase == JobPhase::pending) api_.kill(std::to_string(job_of(*job)));
    return job_of(*kept);
  } catch (const SlurmFailure&) {
    return id;
  }
}

void Submission::keep_pace()
{
  const double pace = pace_of(requests_);
  if (pace <= 0) return;
  const double wait_s = last_call_unix_s_ + 1 / pace - now_unix_s();
  if (wait_s > 0) pause_(wait_s);
  last_call_unix_s_ = now_unix_s();
}

void Submission::share_lanes(std::span<const Batch> batches)
{
  std::vector<std::size_t> runs;
  for (const auto& batch : batches) runs.push_back(jobs_in(batch));
  const auto shares = shares_of_lanes(runs, most_running_);
  for (std::size_t i = 0; i < batches.size(); ++i) shares_[batches[i].id] = shares[i];
}

void Submission::settle(const Batch& batch, const SubmitOutcome& outcome)
{
  for (const auto member : batch.members) outcomes_[member] = outcome;
}

// Of the partition used by the first run that oversubscribes. Asks Slurm only if there is such a run.
std::int64_t Submission::cores_of_oversubscribed() const
{
  const auto wants = [](const JobRequest& request) { return request.resources.oversubscribe; };
  const auto request = std::find_if(requests_.begin(), requests_.end(), wants);
  if (request == requests_.end()) return 0;
  return cores_per_node(ask(api_, pause_, [&] { return api_.partitions(); }), request->resources.partition);
}

} // namespace dt::jobs::slurm
