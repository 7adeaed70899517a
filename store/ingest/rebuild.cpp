// Rebuilds the database from the run folders.
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/notes.hpp"
#include "core/record/study_record.hpp"
#include "store/database/migrations.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/folder.hpp"
#include "store/ingest/ingest.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace dt::store {
namespace {

namespace fs = std::filesystem;

// Names of the visible folders in a folder, sorted, so that the order of rows does not depend on the file system.
std::vector<std::string> folders_in(const fs::path& path)
{
  auto names = names_in(path);
  std::erase_if(names, [&](const auto& name) { return name.starts_with('.') || !is_folder(path / name); });
  std::sort(names.begin(), names.end());
  return names;
}

void remove_database(const fs::path& file)
{
  std::error_code ignored;
  for (const auto* suffix : {"", "-wal", "-shm", "-journal", ".lock"}) fs::remove(file.string() + suffix, ignored);
}

// A temporary database next to the real one; the destructor removes it.
class Scratch {
 public:
  explicit Scratch(fs::path file) : file_(std::move(file))
  {
    remove_database(file_); // left from a rebuild that was killed
    database_ = std::make_unique<Database>(file_, Access::read_write);
    // Nobody else reads this file, and after a crash it is deleted, so it needs no durability.
    database_->impl().connection.execute("PRAGMA journal_mode = MEMORY");
    database_->impl().connection.execute("PRAGMA synchronous = OFF");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch()
  {
    database_.reset();
    remove_database(file_);
  }
  Database& database() { return *database_; }

 private:
  fs::path file_;
  std::unique_ptr<Database> database_;
};

void add(IngestReport& sum, const IngestReport& part)
{
  sum.damaged.insert(part.damaged.begin(), part.damaged.end());
  sum.runs_added += part.runs_added;
  sum.runs_updated += part.runs_updated;
  sum.runs_unchanged += part.runs_unchanged;
  sum.step_rows += part.step_rows;
  sum.problems.insert(sum.problems.end(), part.problems.begin(), part.problems.end());
  sum.unreadable.insert(sum.unreadable.end(), part.unreadable.begin(), part.unreadable.end());
}

// Returns nothing if the record is missing, damaged, of another format or not a regular file.
std::optional<StudyRecord> study_in(const fs::path& folder)
{
  try {
    return read_study(folder);
  } catch (const IrregularFile&) {
    return std::nullopt;
  }
}

// Refuses to replace the old database if some runs could not be read now: the new one would contain less.
void expect_readable(const IngestReport& report, const fs::path& file)
{
  if (report.unreadable.empty()) return;
  const auto count = report.unreadable.size();
  throw Error(ErrorKind::environment, report.unreadable.front() +
                                          (count > 1 ? " (and " + std::to_string(count - 1) + " more)" : "") + "; " +
                                          file.string() +
                                          " was not changed. Check the disk and the permissions and try again, or move "
                                          "the run's folder out of the home to leave it out");
}

void take_in_studies(Database& database, const Home& home, IngestReport& report)
{
  for (const auto& id : folders_in(home.studies())) {
    const auto study = study_in(home.study(id));
    const auto file = (home.study(id) / "study.json").string();
    if (!study) {
      report.problems.push_back(file + " is missing, damaged or of another format; it was left out");
      continue;
    }
    if (const auto why = ingest_study(database, *study); !why.empty())
      report.problems.push_back(file + " is damaged; it was left out: " + why);
  }
}

void take_in_runs(Database& database, const Home& home, const Judge& judge, IngestReport& report)
{
  constexpr std::size_t batch = 1000; // of runs that are judged at once
  const auto keys = folders_in(home.runs());
  std::vector<RunVerdict> verdicts;
  for (std::size_t begin = 0; begin < keys.size(); begin += batch)
    for (auto& verdict : judge(std::span(keys).subspan(begin, std::min(batch, keys.size() - begin))))
      verdicts.push_back(std::move(verdict));
  // In one call, because each call computes the points of its studies from all of their runs, and in one transaction, because the
  // end of each costs as much as a run.
  database.impl().write([&](Connection&) { add(report, ingest_runs(database, home, verdicts)); });
}

void take_in_notes(Database& database, const Home& home, IngestReport& report)
{
  try {
    ingest_notes(database, home);
  } catch (const DamagedNotes& damage) {
    report.problems.emplace_back(damage.what());
  }
}

// Of any page: a database is opened for writing, and so replaced, only if all that tells its schema can be read.
bool is_damaged(const fs::path& file)
{
  Connection connection(file, SQLITE_OPEN_READWRITE, 0);
  try {
    return connection.text_of("PRAGMA quick_check(1)") != "ok";
  } catch (const Error&) {
    const int code = sqlite3_errcode(connection.handle()) & 0xFF;
    return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
  }
}

// Renames a damaged database, because SQLite cannot overwrite it; the user can examine the renamed file.
void set_aside_if_damaged(const fs::path& file)
{
  if (!is_there(file) || !is_damaged(file)) return;
  const auto aside = fs::path(file.string() + ".damaged");
  remove_database(aside);
  std::error_code error;
  fs::rename(file, aside, error);
  if (error) throw system_error("rename the damaged " + file.string(), error.value());
  remove_database(file); // removes the remaining helper files
}

// Other processes see either the old content or the new. (Renaming a file over an open database would combine its write-ahead log
// with the wrong file.)
void copy_over(Connection& from, Connection& to)
{
  const auto lock = acquire_writer_lock(to.file(), to.lock_timeout_s());
  from.copy_to(to);
}

// The first of them, and how many more there are.
void add_some(std::vector<std::string>& all, const std::vector<std::string>& names, std::string_view begin, std::string_view end)
{
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) all.push_back(fmt::format("{} {} {}", begin, names[i], end));
  if (names.size() > most) all.push_back(fmt::format("and {} more: {} … {}", names.size() - most, begin, end));
}

std::set<std::string> keys_of(Connection& connection, const std::string& query)
{
  std::set<std::string> keys;
  auto statement = connection.statement(query);
  while (statement.next()) keys.insert(statement.text(0));
  return keys;
}

std::vector<std::string> only_in(const std::set<std::string>& some, const std::set<std::string>& others)
{
  std::vector<std::string> found;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(found));
  return found;
}

// Of runs that both have: those whose files have changed since they were taken in.
HomeDifferences changed_runs(Connection& connection, const Home& home)
{
  HomeDifferences found;
  std::vector<std::string> changed;
  auto runs = connection.statement("SELECT key, state, attempt, fingerprint FROM runs WHERE fingerprint <> '' ORDER BY key");
  while (runs.next()) {
    const auto folder = home.run(runs.text(0));
    const auto numbers = attempt_numbers(folder);
    if (numbers.empty()) continue;
    const int attempt = static_cast<int>(runs.integer(2));
    const bool is_same = numbers.back() <= attempt && read_attempts(folder, attempt).fingerprint == runs.text(3);
    if (is_same) continue;
    // A run that had not ended is taken in when a command looks at it, and so is one that failed.
    if (run_state_of(runs.text(1)) == RunState::succeeded)
      changed.push_back(runs.text(0));
    else
      ++found.to_take_in;
  }
  add_some(found.problems, changed, "run", "has changed since the database has it");
  return found;
}

} // namespace

HomeDifferences differences_from(const Home& home, Database& database)
{
  auto& connection = database.impl().connection;
  auto found = changed_runs(connection, home);
  const auto pending = names_in(home.root() / "pending"); // studies that the next command takes in
  std::set<std::string> studies, runs, left_out(pending.begin(), pending.end());
  for (const auto& id : folders_in(home.studies()))
    if (!left_out.contains(id) && study_in(home.study(id))) studies.insert(id);
  for (const auto& key : folders_in(home.runs()))
    if (is_there(spec_path(home.run(key)))) runs.insert(key);
  for (const auto& id : pending)
    if (const auto study = study_in(home.study(id)))
      for (const auto& key : study->run_keys) runs.erase(key);
  const auto known = keys_of(connection, "SELECT key FROM studies"),
             known_runs = keys_of(connection, "SELECT key FROM runs WHERE fingerprint <> ''");
  add_some(found.problems, only_in(studies, known), "study", "is in the home, but not in the database");
  add_some(found.problems, only_in(runs, known_runs), "run", "is in the home, but not in the database");
  auto gone_studies = only_in(known, studies), gone_runs = only_in(known_runs, runs);
  std::erase_if(gone_studies, [&](const auto& id) { return is_there(home.study(id)); });
  std::erase_if(gone_runs, [&](const auto& key) { return is_there(home.run(key)); });
  add_some(found.problems, gone_studies, "study", "is in the database, but its folder is gone");
  add_some(found.problems, gone_runs, "run", "is in the database, but its folder is gone");
  return found;
}

IngestReport ingest_home(Database& database, const Home& home, const Judge& judge)
{
  IngestReport report;
  take_in_studies(database, home, report);
  take_in_runs(database, home, judge, report);
  for (auto& problem : ingest_predictions(database, home)) report.problems.push_back(std::move(problem));
  take_in_notes(database, home, report);
  return report;
}

IngestReport rebuild(const LockedHome& home, const Judge& judge)
{
  const auto file = home.database();
  set_aside_if_damaged(file);
  const bool replaces_one = holds_anything(file);
  Database target(file, Access::read_write); // what cannot be written is refused now rather than after an hour's work

  Scratch scratch(file.string() + ".new");
  const auto report = ingest_home(scratch.database(), home, judge);
  if (replaces_one) expect_readable(report, file);
  copy_over(scratch.database().impl().connection, target.impl().connection);
  return report;
}

} // namespace dt::store
