#include "cli/runs/results_store.hpp"

#include "cli/runs/checkpoints.hpp"
#include "cli/runs/removal.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/home/home_identity.hpp"
#include "core/record/event_record.hpp"
#include "core/record/notes.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/run_key.hpp"
#include "jobs/attempts/attempts.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

fs::path pending_folder(const Home& home) { return home.root() / "pending"; }

// Device and inode; zeroes if there is no such file. With `is_copied` another one, too, whenever the file has changed.
std::pair<dev_t, ino_t> place_of(const fs::path& file, bool is_copied)
{
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return {};
  const auto changed_ns = static_cast<ino_t>(facts.st_mtim.tv_sec) * 1'000'000'000 + static_cast<ino_t>(facts.st_mtim.tv_nsec);
  return {facts.st_dev, is_copied ? facts.st_ino ^ (changed_ns << 1) : facts.st_ino};
}

// Whether there are studies that a database should contain.
bool has_earlier_studies(const Home& home)
{
  const auto pending = names_in(pending_folder(home));
  const auto studies = names_in(home.studies());
  return std::any_of(studies.begin(), studies.end(),
                     [&](const auto& id) { return std::find(pending.begin(), pending.end(), id) == pending.end(); });
}

// The result is written a moment before the end of its job, and the end must be stored too.
bool is_settled(const store::RunRow& row) { return row.state == RunState::succeeded && row.has_end(); }

// Whether the state could be determined. A state that is unknown because nobody could be asked must not be stored.
bool is_known(const jobs::RunStatus& status)
{
  return !status.unreadable && (status.verdict.state != RunState::unknown || status.job.native_state != jobs::unreachable_state);
}

// Whether the run's current state differs from the database.
bool is_news(const store::RunRow& row, const jobs::RunStatus& status)
{
  if (status.verdict.state == RunState::planned && status.attempt == 0) return false; // no folder yet, so nothing to store
  if (!is_known(status)) return false;
  const bool other_cause = is_final(status.verdict.state) && row.cause != status.verdict.cause;
  return row.model.empty() || row.state != status.verdict.state || row.attempt != status.attempt || other_cause ||
         (!row.has_end() && status.verdict.exit_code.has_value());
}

// The database knows an attempt, and none is there any more.
bool is_removed(const store::RunRow& row, const jobs::RunStatus& status)
{
  return row.attempt > 0 && !status.unreadable && status.attempts == 0;
}

// What became of a run that had not ended when its folder was last looked at.
jobs::Verdict verdict_of_removed(const Home& home, const store::RunRow& row)
{
  const bool has_run = row.state == RunState::running || row.state == RunState::suspended;
  return {RunState::failed,
          fmt::format("removed {}: {} is gone", has_run ? "while it ran" : "before it ended",
                      AttemptFolder(home.run(row.key), row.attempt).path().string()),
          "no attempt is there",
          std::nullopt,
          false,
          std::string(cause_kind::removed)};
}

std::map<std::string, jobs::RunStatus> statuses_of(Context& context, const Home& home, const std::vector<store::RunRow>& rows)
{
  std::map<std::string, const store::RunRow*> open;
  std::vector<std::string> keys;
  for (const auto& row : rows)
    if (!is_settled(row) && open.emplace(row.key, &row).second) keys.push_back(row.key);
  std::map<std::string, jobs::RunStatus> statuses;
  if (keys.empty()) return statuses;
  for (auto& status : reconcile(context, home, keys)) {
    const auto& row = *open.at(status.key);
    if (is_removed(row, status)) {
      if (is_final(row.state)) continue; // the database keeps what it was
      status.attempt = row.attempt;
      status.verdict = verdict_of_removed(home, row);
    }
    auto key = status.key;
    statuses.emplace(std::move(key), std::move(status));
  }
  return statuses;
}

RunView view_of(const Home& home, store::RunRow row, const std::map<std::string, jobs::RunStatus>& statuses)
{
  RunView view{.row = std::move(row), .live = {}};
  const auto found = statuses.find(view.row.key);
  if (found == statuses.end()) return view;
  put_status(home, view, found->second);
  return view;
}

// The step of the first event of an attempt; 0 if it has none.
std::int64_t first_step_of(const AttemptFolder& attempt)
{
  const auto file = open_if_exists(attempt.events());
  if (!file.is_open()) return 0;
  std::string begin(16'384, '\0');
  begin.resize(read_at(file.get(), begin.data(), begin.size(), 0, attempt.events()));
  const auto events = parse_events(begin);
  return events.steps.empty() ? 0 : events.steps.front().step;
}

// The step from which a later attempt continued, for the estimate of the remaining time: that of dtengine's checkpoint, or the
// first that a program has reported. 0 if unknown.
std::int64_t resumed_step(const fs::path& run_folder, int attempt)
{
  try {
    const auto checkpoint = last_checkpoint(run_folder, attempt - 1);
    return checkpoint > 0 ? checkpoint : first_step_of(AttemptFolder(run_folder, attempt));
  } catch (const Error&) {
    return 0;
  }
}

} // namespace

store::RunVerdict verdict_of(const jobs::RunStatus& status)
{
  return {status.key,     status.verdict.state,     status.verdict.cause, status.verdict.evidence,
          status.attempt, status.verdict.cause_kind};
}

void put_status(const Home& home, RunView& view, jobs::RunStatus status)
{
  view.row.state = status.verdict.state;
  view.row.cause = status.verdict.cause;
  view.row.cause_kind = status.verdict.cause_kind;
  view.row.attempt = status.attempt;
  if (status.submission && status.attempt == status.newest_attempt) view.row.job_id = status.submission->job_id;
  const bool has_begun = status.verdict.state == RunState::running || status.verdict.state == RunState::suspended;
  const bool is_later = has_begun && status.attempt > 1;
  view.resumed_step = is_later ? resumed_step(home.run(status.key), status.attempt) : 0;
  view.live = std::move(status);
}

std::vector<jobs::RunStatus> reconcile(Context& context, const Home& home, std::span<const std::string> keys)
{
  std::vector<std::string> troubles;
  auto statuses = jobs::reconcile(home, keys, &troubles);
  context.note(troubles);
  for (const auto& status : statuses)
    if (status.unreadable) context.note_unreadable(short_key(status.key), status.verdict.cause);
  return statuses;
}

std::vector<store::RunVerdict> reconcile_verdicts(Context& context, const Home& home, std::span<const std::string> keys)
{
  std::vector<store::RunVerdict> verdicts;
  for (const auto& status : reconcile(context, home, keys)) verdicts.push_back(verdict_of(status));
  return verdicts;
}

void mark_pending(const LockedHome& home, const std::string& study_id)
{
  make_folders(pending_folder(home));
  write_file_atomic(pending_folder(home) / study_id, "");
}

ResultsStore::ResultsStore(Context& context) : ResultsStore(context, context.home(), nullptr, {}) {}

ResultsStore::ResultsStore(Context& context, const LockedHome& home, const std::string& later)
    : ResultsStore(context, home, &home, later)
{
}

ResultsStore::ResultsStore(Context& context, const Home& home, const LockedHome* locked, const std::string& later)
    : context_(context), home_(home)
{
  begin(locked, later);
}

void ResultsStore::begin(const LockedHome* locked, const std::string& later)
{
  locked == nullptr ? open_existing() : open(*locked);
  read_again();
  if (!writable_) return;
  take_in_notes();
  const auto left = emptied(home_);
  if (names_in(pending_folder(home_)).empty() && left.studies.empty() && left.runs.empty()) return;
  const auto own = locked == nullptr && !database_->is_in_memory() ? LockedHome::try_lock(home_) : std::nullopt;
  if (own) locked = &*own;
  take_in_pending(later, locked != nullptr);
  if (locked != nullptr) forget_removed(*locked);
}

// A removal on a full disk may have left rows. A study or a run that was submitted again since is there again, and stays.
void ResultsStore::forget_removed(const LockedHome& home)
{
  auto [studies, runs] = emptied(home);
  std::erase_if(studies, [&](const auto& id) { return is_there(home.study(id)); });
  std::erase_if(runs, [&](const auto& key) { return is_there(home.run(key)); });
  const bool done = written([&] {
    for (const auto& id : studies) store::remove_study(*database_, id, runs);
    if (studies.empty() && !runs.empty()) store::remove_study(*database_, {}, runs);
  });
  if (done) forget_emptied(home);
}

void ResultsStore::open_as(store::Access access)
{
  const bool is_new = !store::holds_anything(home_.database());
  const auto place = place_of(home_.database(), false), copied = place_of(home_.database(), true);
  try {
    database_.emplace(home_.database(), access);
    opened_ = database_->is_in_memory() ? copied : place;
  } catch (const Error& error) {
    if (is_new || error.kind() != ErrorKind::environment) throw;
    database_.emplace(home_.database(), store::Access::read_only);
    opened_ = place;
    opened_writable_ = writable_ = false;
    context_.messages.warn("results may be out of date: {}", error.what());
  }
}

void ResultsStore::open(const LockedHome& home)
{
  if (!store::holds_anything(home.database()) && has_earlier_studies(home)) {
    context_.messages.info("{} is missing; rebuilding it from the run folders", home.database().string());
    warn_of_left_out(store::rebuild(home, judge()));
  }
  open_as(store::Access::read_write);
  if (writable_) keep_reserve(home);
}

void ResultsStore::open_existing()
{
  if (const auto words = words_about_copy(home_); !words.empty()) context_.messages.warn("{}", words);
  open_as(store::Access::existing);
  if (store::holds_anything(home_.database())) return;
  if (!is_there(home_.root())) return tell_once(home_.root().string() + " does not exist; the first submission makes this home");
  if (names_in(home_.studies()).empty()) return;
  tell_once(home_.database().string() +
            " is missing, so the run folders are read in its place. To make it again: dtctl db rebuild");
  warn_of_left_out(store::ingest_home(*database_, home_, judge()));
}

bool ResultsStore::follow_home()
{
  if (opened_ == place_of(home_.database(), database_->is_in_memory())) return false;
  told_.clear();
  damaged_.clear();
  opened_writable_ = writable_ = true;
  begin(nullptr, {});
  return true;
}

void ResultsStore::keep(const LockedHome& home)
{
  if (database_->is_in_memory()) open(home);
}

store::Judge ResultsStore::judge()
{
  return [this](std::span<const std::string> keys) { return reconcile_verdicts(context_, home_, keys); };
}

void ResultsStore::warn_of_left_out(const store::IngestReport& report)
{
  for (const auto* left_out : {&report.problems, &report.unreadable})
    for (const auto& problem : *left_out) warn_once(problem);
}

std::vector<store::RunVerdict> ResultsStore::storable_verdicts(std::span<const std::string> keys)
{
  auto verdicts = reconcile_verdicts(context_, home_, keys);
  const bool is_unasked = !context_.troubles.empty() || !context_.unreadable.empty();
  std::erase_if(verdicts, [&](const auto& verdict) {
    return (verdict.state == RunState::planned && verdict.attempt == 0) || (verdict.state == RunState::unknown && is_unasked);
  });
  return verdicts;
}

// Takes in the runs that a change of the schema has marked, and completes what a killed ingest has left. Runs whose state could
// not be asked keep their mark.
void ResultsStore::read_again()
{
  if (!writable_) return;
  for (const auto& id : store::studies_to_read_again(*database_))
    if (const auto study = read_study(home_.study(id))) written([&] { ingest(*study, {}); });
  const auto keys = store::runs_to_read_again(*database_);
  ingest(keys.empty() ? std::vector<store::RunVerdict>() : storable_verdicts(keys));
}

bool ResultsStore::written(const std::function<void()>& write)
{
  if (!writable_) return false;
  try {
    write();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    writable_ = false;
    context_.messages.warn("new results could not be stored; a later call will store them: {}", error.what());
    return false;
  }
}

void ResultsStore::ingest(const StudyRecord& study, const std::filesystem::path& record)
{
  if (const auto why = store::ingest_study(*database_, study, record); !why.empty())
    warn_once((home_.study(study.id) / "study.json").string() + " is damaged; it was left out: " + why);
}

bool ResultsStore::ingest(std::span<const store::RunVerdict> verdicts)
{
  return written([&] {
    const auto report = store::ingest_runs(*database_, home_, verdicts);
    for (const auto& verdict : verdicts) damaged_.erase(verdict.key);
    damaged_.insert(report.damaged.begin(), report.damaged.end());
    for (const auto& problem : report.problems) warn_once(problem);
    for (const auto& problem : report.unreadable) context_.messages.warn("{}; its earlier results stay in the database", problem);
  });
}

bool ResultsStore::stored(const StudyRecord& study, const std::set<std::string>& succeeded)
{
  std::set<std::string> settled;
  if (!succeeded.empty())
    for (const auto& row : store::runs_of_study(*database_, study.id))
      if (row.state == RunState::succeeded && row.has_end() && succeeded.contains(row.key)) settled.insert(row.key);
  auto keys = study.run_keys;
  std::erase_if(keys, [&](const auto& key) { return settled.contains(key); });
  const auto verdicts = storable_verdicts(keys);
  return written([&] { ingest(study, home_.study(study.id) / "study.json"); }) && ingest(verdicts);
}

void ResultsStore::take_in(const StudyRecord& study, const std::set<std::string>& succeeded)
{
  if (stored(study, succeeded)) no_longer_pending(study);
}

void ResultsStore::take_in_submitted(const StudyRecord& study, std::span<const store::SubmittedRun> runs)
{
  const bool done = written([&] {
    ingest(study, {});
    store::ingest_submitted(*database_, runs);
  });
  if (done) no_longer_pending(study);
}

void ResultsStore::no_longer_pending(const StudyRecord& study)
{
  if (database_->is_in_memory()) return;
  std::error_code ignored; // the mark remains, and the next call stores the study again
  fs::remove(pending_folder(home_) / study.id, ignored);
}

void ResultsStore::remove(const std::string& study_id, std::span<const std::string> run_keys)
{
  if (!opened_writable_) {
    database_.emplace(home_.database(), store::Access::read_write); // there may be space now
    opened_writable_ = true;
  }
  store::remove_study(*database_, study_id, run_keys);
  std::error_code ignored; // a mark for a study that does not exist is harmless
  fs::remove(pending_folder(home_) / study_id, ignored);
}

// Without the lock another process may replace the study's record after it was read here. The study then stays marked as pending.
void ResultsStore::take_in_pending(const std::string& later, bool is_locked)
{
  for (const auto& id : names_in(pending_folder(home_))) {
    if (id == later) continue;
    const auto study = read_study(home_.study(id));
    if (study && stored(*study) && is_locked) no_longer_pending(*study);
  }
}

void ResultsStore::take_in_predictions()
{
  written([&] {
    for (const auto& problem : store::ingest_predictions(*database_, home_)) context_.messages.warn("{}", problem);
  });
}

void ResultsStore::take_in_notes()
{
  written([&] {
    if (!store::has_new_notes(*database_, home_)) return;
    try {
      store::ingest_notes(*database_, home_);
    } catch (const DamagedNotes& damage) { // of another kind than a database that cannot be written
      warn_once(damage.what());
    }
  });
}

void ResultsStore::warn_once(const std::string& message)
{
  if (told_.insert(message).second) context_.messages.warn("{}", message);
}

void ResultsStore::tell_once(const std::string& message)
{
  if (told_.insert(message).second) context_.messages.info("{}", message);
}

void ResultsStore::refresh_newest()
{
  for (const auto& study : store::list_studies(*database_, 1))
    up_to_date([&] { return store::runs_of_study(*database_, study.id); });
}

// A run whose records could not be taken in is shown as unreadable; its earlier results, if there are any, stay in the database.
void ResultsStore::tell_damaged(jobs::RunStatus& status, const std::string& why)
{
  status.verdict = {.state = RunState::unknown, .cause = why, .evidence = "unreadable", .exit_code = {}, .stalled = false};
  status.unreadable = true;
  const auto line = "the records of run " + short_key(status.key) + " are damaged: " + why; // of which ingest has warned
  auto& all = context_.unreadable;
  if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(line);
}

std::vector<RunView> ResultsStore::up_to_date(const std::function<std::vector<store::RunRow>()>& query)
{
  auto rows = query();
  auto statuses = statuses_of(context_, home_, rows);
  std::vector<store::RunVerdict> news;
  bool has_removed = false;
  for (const auto& row : rows) {
    const auto found = statuses.find(row.key);
    if (found == statuses.end() || !is_news(row, found->second)) continue;
    if (found->second.attempts > 0)
      news.push_back(verdict_of(found->second));
    else
      has_removed = written([&] { store::ingest_removed(*database_, verdict_of(found->second)); }) || has_removed;
  }
  if ((!news.empty() && ingest(news)) || has_removed) rows = query();
  for (auto& [key, status] : statuses)
    if (const auto found = damaged_.find(key); found != damaged_.end()) tell_damaged(status, found->second);
  std::vector<RunView> views;
  views.reserve(rows.size());
  for (auto& row : rows) views.push_back(view_of(home_, std::move(row), statuses));
  return views;
}

} // namespace dt::cli
