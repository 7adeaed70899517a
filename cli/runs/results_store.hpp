// The results database. It is updated from the run folders before it is read.
#pragma once

#include "cli/command/context.hpp"
#include "jobs/follow/reconcile.hpp"
#include "store/ingest/ingest.hpp"
#include "store/query/queries.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace dt::cli {

// A run as stored in the database, with its current state if it had not succeeded when it was stored.
struct RunView {
  store::RunRow row; // if `live` is set, its state, cause and attempt are copied from there
  std::optional<jobs::RunStatus> live;
  std::int64_t resumed_step = 0;     // of a running attempt: the step of the checkpoint from which it probably continued
  double steps_per_s = not_measured; // of a running attempt that dtctl follows: its recent rate
};

// Updates a view with a run's current state.
void put_status(const Home& home, RunView& view, jobs::RunStatus status);

class ResultsStore {
 public:
  // For reading: makes neither a home nor a file in it. Without a database the run folders are read into one in memory; one that
  // is there takes in what is new. If it cannot be written, opens it read-only and warns. Studies marked as pending are stored.
  // They stay pending if another process changes the home now.
  explicit ResultsStore(Context& context);
  // For a process that changes the home: makes the database if it is missing, from the run folders. `later`: a study that stays
  // pending.
  ResultsStore(Context& context, const LockedHome& home, const std::string& later = {});
  // For a reader that goes on as one that changes the home.
  void keep(const LockedHome& home);
  // For a program that goes on: opens the database again if another file is in its place now, or none.
  // Returns whether that was so.
  bool follow_home();

  store::Database& database() { return *database_; }
  const Home& home() const { return home_; }

  // Returns the rows of `query`, after reconciling and storing all of them that have not succeeded.
  std::vector<RunView> up_to_date(const std::function<std::vector<store::RunRow>()>& query);

  // After a write that failed nothing more is written, so that a command warns once. A program that goes on calls this to try
  // again.
  void try_writing_again() { writable_ = opened_writable_; }

  // Prints a message to standard error; the same one only once.
  void tell_once(const std::string& message);

  // Updates the newest study, for queries that do not name a study.
  void refresh_newest();

  // Stores a study and its runs. Warns if the database cannot be written now. `succeeded`: runs that are known to have succeeded;
  // those that are stored so are not examined again.
  void take_in(const StudyRecord& study, const std::set<std::string>& succeeded = {});
  // Like take_in, right after a submission of new runs only: asks no scheduler and reads no folder.
  void take_in_submitted(const StudyRecord& study, std::span<const store::SubmittedRun> runs);
  // Stores the predictions of the home. Warns if a file is damaged, or the database cannot be written now.
  void take_in_predictions();
  // Stores the notes and tags of the home if their file has changed. Warns if it is damaged; the stored ones then stay.
  void take_in_notes();
  // Removes a study and the given runs after their folders were deleted. Throws an environment error if the database cannot be
  // written.
  void remove(const std::string& study_id, std::span<const std::string> run_keys);

 private:
  // The states of the runs, without those that must not be stored: runs without an attempt, and runs whose state nobody could be
  // asked about. The first call that knows the state stores them.
  std::vector<store::RunVerdict> storable_verdicts(std::span<const std::string> keys);
  ResultsStore(Context& context, const Home& home, const LockedHome* locked, const std::string& later);
  void begin(const LockedHome* locked, const std::string& later);
  void open(const LockedHome& home);
  void open_existing();
  void open_as(store::Access access);
  store::Judge judge();
  void warn_of_left_out(const store::IngestReport& report);
  void read_again();
  void forget_removed(const LockedHome& home);
  bool stored(const StudyRecord& study, const std::set<std::string>& succeeded = {});
  void take_in_pending(const std::string& later, bool is_locked);
  void no_longer_pending(const StudyRecord& study);
  // Stores a study; warns if the database refuses its record. `record`: a study whose file is gone is left out.
  void ingest(const StudyRecord& study, const std::filesystem::path& record);
  bool ingest(std::span<const store::RunVerdict> verdicts);
  bool written(const std::function<void()>& write);
  void warn_once(const std::string& message);
  void tell_damaged(jobs::RunStatus& status, const std::string& why);

  Context& context_;
  Home home_;
  std::optional<store::Database> database_;
  std::pair<dev_t, ino_t> opened_; // device and inode of its file; zeroes: there was none
  bool opened_writable_ = true, writable_ = true;
  std::set<std::string> told_;
  std::map<std::string, std::string> damaged_; // runs of which a record could not be taken in, by key, with the file and why
};

// Calls jobs::reconcile. Schedulers that cannot be reached are noted in the context.
std::vector<jobs::RunStatus> reconcile(Context& context, const Home& home, std::span<const std::string> keys);

store::RunVerdict verdict_of(const jobs::RunStatus& status);
std::vector<store::RunVerdict> reconcile_verdicts(Context& context, const Home& home, std::span<const std::string> keys);

// Marks a study whose rows in the database may be older than its folders. The mark is written before a study is changed and
// removed when the database is up to date. So no study is missed if dtctl is killed in between.
void mark_pending(const LockedHome& home, const std::string& study_id);

} // namespace dt::cli
