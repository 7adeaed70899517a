// Rebuilds the database from the run folders.
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/record/notes.hpp"
#include "core/record/study_record.hpp"
#include "store/database/migrations.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/ingest.hpp"

#include <algorithm>

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

using Judge = std::function<std::vector<RunVerdict>(std::span<const std::string>)>;

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

// Renames a damaged database, because SQLite cannot overwrite it; the user can examine the renamed file.
void set_aside_if_damaged(const fs::path& file)
{
  if (!is_there(file)) return;
  const Connection connection(file, SQLITE_OPEN_READONLY, 0);
  const int code = sqlite3_exec(connection.handle(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) & 0xFF;
  if (code != SQLITE_NOTADB && code != SQLITE_CORRUPT) return;
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

} // namespace

IngestReport rebuild(const LockedHome& home, const Judge& judge)
{
  const auto file = home.database();
  set_aside_if_damaged(file);
  const bool replaces_one = holds_anything(file);
  Database target(file, Access::read_write); // what cannot be written is refused now rather than after an hour's work

  IngestReport report;
  Scratch scratch(file.string() + ".new");
  take_in_studies(scratch.database(), home, report);
  take_in_runs(scratch.database(), home, judge, report);
  for (auto& problem : ingest_predictions(scratch.database(), home)) report.problems.push_back(std::move(problem));
  take_in_notes(scratch.database(), home, report);
  if (replaces_one) expect_readable(report, file);
  copy_over(scratch.database().impl().connection, target.impl().connection);
  return report;
}

} // namespace dt::store
