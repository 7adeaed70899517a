// The results database, brought up to date from the run folders before it is read.
#pragma once

#include "cli/context.hpp"
#include "jobs/reconcile.hpp"
#include "store/ingest.hpp"
#include "store/queries.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::cli {

// A run as the database knows it, and as it stands now when it had not succeeded at the last look.
struct RunView {
  store::RunRow row; // its state, cause and attempt are those of `live` where there is one
  std::optional<jobs::RunStatus> live;
  std::int64_t resumed_step = 0; // of a running attempt: the checkpoint that it most likely went on from
};

// Puts a run's present standing into its view.
void put_status(const Home& home, RunView& view, jobs::RunStatus status);

class ResultsStore {
 public:
  // Makes the database when there is none, from the folders of earlier runs where there are any. Without the right to write
  // it is read as it is, with a warning. Studies that wait to be taken in are, except `later`.
  explicit ResultsStore(Context& context, const std::string& later = {});

  store::Database& database() { return *database_; }
  const Home& home() const { return home_; }

  // The rows `query` gives, after all of them that have not succeeded were reconciled and taken in.
  std::vector<RunView> up_to_date(const std::function<std::vector<store::RunRow>()>& query);

  // Brings the newest study up to date, for questions that name none.
  void refresh_newest();

  // Takes a study and its runs in; a warning when the database cannot be written now.
  void take_in(const StudyRecord& study);
  // The same right after a submission that was all new: nothing is asked and no folder is read.
  void take_in_submitted(const StudyRecord& study, std::span<const store::SubmittedRun> runs);
  // Takes out a study and these of its runs, whose folders are gone; an environment error when the database cannot be written.
  void remove(const std::string& study_id, std::span<const std::string> run_keys);

 private:
  void take_in_pending(const std::string& later);
  void no_longer_pending(const StudyRecord& study);
  bool ingest(std::span<const store::RunVerdict> verdicts);
  bool written(const std::function<void()>& write);

  Context& context_;
  Home home_;
  std::optional<store::Database> database_;
  bool writable_ = true;
};

// What jobs::reconcile says; schedulers that cannot be reached are noted in the context.
std::vector<jobs::RunStatus> reconcile(Context& context, const Home& home, std::span<const std::string> keys);

store::RunVerdict verdict_of(const jobs::RunStatus& status);
std::vector<store::RunVerdict> reconcile_verdicts(Context& context, const Home& home, std::span<const std::string> keys);

// A note that a study's rows in the database may be behind its folders. It is written before anything else happens to a study
// and removed when the database has caught up, so that a killed dtctl leaves no study unseen.
void mark_pending(const Home& home, const std::string& study_id);

} // namespace dt::cli
