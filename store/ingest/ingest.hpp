// Ingest: copies run folders into the database. It is idempotent, has one writer at a time, uses one transaction per run, and can
// be interrupted at any point.
#pragma once

#include "core/home/locked_home.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"
#include "store/database/database.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A run's state as judged by jobs::reconcile. It is stored with the run's records.
struct RunVerdict {
  std::string key;
  RunState state = RunState::unknown;
  std::string cause, evidence;
  int attempt = 0;
  std::string cause_kind{}; // jobs::Verdict
};

struct IngestReport {
  std::size_t runs_added = 0, runs_updated = 0, runs_unchanged = 0;
  std::size_t step_rows = 0;
  std::vector<std::string> problems; // one sentence for each damaged record or folder that was left out
  // Runs that were left out because a record of theirs is damaged, by key, with the file and why. Also in `problems`.
  std::map<std::string, std::string> damaged;
  // Runs that were left out because the file system refused or failed; their files may be intact.
  std::vector<std::string> unreadable;
};

// Stores a study and its run list. The rows of the runs may be stored later. If `record` is given, the file study.json, a study
// whose file was removed meanwhile is not stored.
// Returns why the database refuses the record, which is then left out; empty if it does not.
std::string ingest_study(Database& database, const StudyRecord& study, const std::filesystem::path& record = {});

// Stores these runs from their folders: spec, attempts, begin, events and result. For a run that is already stored in the same
// final state, this costs only one look-up.
IngestReport ingest_runs(Database& database, const Home& home, std::span<const RunVerdict> verdicts);

// Keys of the stored runs whose folders must be read again, because a change of the schema added columns. ingest_runs reads them.
std::vector<std::string> runs_to_read_again(Database& database);

// The same of the studies; ingest_study reads them.
std::vector<std::string> studies_to_read_again(Database& database);

// A run that was just submitted, with the content of its folder.
struct SubmittedRun {
  const PlannedRun* planned = nullptr;
  Submission submission;
};

// Stores runs right after their submission, in state `queued`, in one transaction and without reading their folders. Leaves runs
// that the database knows already to ingest_runs. Returns the number of runs stored.
std::size_t ingest_submitted(Database& database, std::span<const SubmittedRun> runs);

// Stores the predictions in <home>/predictions that are not stored yet, or not as they are. Returns a sentence for each damaged
// file, which is left out.
std::vector<std::string> ingest_predictions(Database& database, const Home& home);

// Whether <home>/notes.json is another file than the one that the database has.
bool has_new_notes(Database& database, const Home& home);

// Replaces all notes and tags of the database by those of <home>/notes.json. Throws DamagedNotes.
void ingest_notes(Database& database, const Home& home);

// Removes a study, the given runs of it, and runs that are known only from its list. Keeps runs that belong to another study too.
void remove_study(Database& database, const std::string& study_id, std::span<const std::string> run_keys);

// Returns the verdicts for a batch of keys (cli passes jobs::reconcile).
using Judge = std::function<std::vector<RunVerdict>(std::span<const std::string>)>;

// Takes in all studies, runs, predictions and notes of a home. Damaged records of a run or a study leave out that one alone.
IngestReport ingest_home(Database& database, const Home& home, const Judge& judge);

// How a database differs from the home that it is of: a sentence for each difference that no later call mends, as of an old copy
// that was put back; and how many runs the next command that looks at them takes in.
struct HomeDifferences {
  std::vector<std::string> problems;
  std::size_t to_take_in = 0;
};
HomeDifferences differences_from(const Home& home, Database& database);

// Stores the verdict about a run whose folder is gone, so that nothing else of it can be read again.
void ingest_removed(Database& database, const RunVerdict& verdict);

// Builds the database anew from the folders, in a second file, and then copies it over the old one in one transaction. Runs whose
// files cannot be read now are left out if there is no database yet; else throws an environment error, because the new database
// would have less than the old one.
IngestReport rebuild(const LockedHome& home, const Judge& judge);

} // namespace dt::store
