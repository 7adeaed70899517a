#include "jobs/submit/deferred.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/registry/schedulers.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace dt::jobs {
namespace {

using Action = SubmitReport::Action;

// A deferred attempt.
struct Waiting {
  LatestAttempt latest;
  Deferral deferral;
};

std::optional<Waiting> waiting(LatestAttempt latest)
{
  if (!latest.unreadable.empty() || !latest.record.submission || !latest.record.submission->job_id.empty()) return std::nullopt;
  for (const auto file : {AttemptFile::cancel, AttemptFile::owner, AttemptFile::begin, AttemptFile::end})
    if (latest.reader->has(file)) return std::nullopt;
  latest.reader->read(std::array{AttemptFile::deferred}, latest.record);
  if (!latest.record.deferral) return std::nullopt;
  auto deferral = *latest.record.deferral;
  return Waiting{std::move(latest), std::move(deferral)};
}

JobRequest request_of(const Waiting& run, RunTitles& titles)
{
  const auto planned = read_planned_run(run.latest.folder->run_folder());
  const auto& submission = *run.latest.record.submission;
  auto request = request_for(planned, AttemptFolder(std::filesystem::absolute(run.latest.folder->path())), submission.token,
                             submission.study);
  request.after = run.deferral.after;
  request.title = titles.of(submission.study, run.latest.key);
  return request;
}

SubmitReport take_outcome(const Waiting& run, const SubmitOutcome& outcome)
{
  const auto& attempt = *run.latest.folder;
  SubmitReport report{.key = run.latest.key, .action = Action::submitted, .attempt = attempt.number(), .reason = outcome.error};
  if (outcome.deferred) {
    report.action = Action::deferred;
    if (outcome.error != run.deferral.reason)
      write_file_quick(attempt.deferred(),
                       to_json(Deferral{now_unix_s(), outcome.error, run.deferral.max_running, run.deferral.after}));
  } else if (outcome.unanswered) {
    report.action = Action::unanswered;
  } else if (outcome.job_id.empty()) {
    report.action = Action::refused;
    remove_refused(attempt);
  } else {
    report.submission = run.latest.record.submission;
    report.submission->job_id = outcome.job_id;
    report.submission->submitted_unix_s = now_unix_s();
    write_file_quick(attempt.submission(), to_json(*report.submission));
    std::error_code none;
    std::filesystem::remove(attempt.deferred(), none);
  }
  return report;
}

std::vector<SubmitReport> hand_over(const Home& home, const std::string& scheduler, std::int64_t max_running,
                                    std::vector<Waiting> runs)
{
  std::vector<JobRequest> requests;
  RunTitles titles(home);
  const auto opened = scheduler_kind(scheduler).open(home);
  const auto here = opened->cluster();
  std::erase_if(runs, [&](const Waiting& run) { return !elsewhere_words(run.latest.record.submission->cluster, here).empty(); });
  for (const auto& run : runs) requests.push_back(request_of(run, titles));
  const auto outcomes = opened->submit(requests, {max_running});
  std::vector<SubmitReport> reports;
  for (std::size_t i = 0; i < runs.size(); ++i) reports.push_back(take_outcome(runs[i], outcomes[i]));
  return reports;
}

} // namespace

std::vector<SubmitReport> submit_deferred(const Home& home, std::span<const std::string> keys)
{
  const auto locked = LockedHome::try_lock(home);
  if (!locked) return {};
  std::map<std::pair<std::string, std::int64_t>, std::vector<Waiting>> groups; // key: scheduler and max_running
  for (auto& latest : latest_attempts(home, keys))
    if (auto run = waiting(std::move(latest)))
      groups[{run->latest.record.submission->scheduler, run->deferral.max_running}].push_back(std::move(*run));
  std::vector<SubmitReport> reports;
  for (auto& [rules, runs] : groups)
    for (auto& report : hand_over(home, rules.first, rules.second, std::move(runs))) reports.push_back(std::move(report));
  return reports;
}

} // namespace dt::jobs
