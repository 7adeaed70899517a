#include "store/ingest/ingest.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/folder.hpp"
#include "store/ingest/rows.hpp"

namespace dt::store {
namespace {

namespace fs = std::filesystem;

// The data that the database has about a run.
struct Stored {
  RunVerdict verdict;
  std::string fingerprint; // empty: only the key is known, from a study
};

std::optional<Stored> look_up(Connection& connection, const std::string& key)
{
  auto s = connection.statement(
      "SELECT state, cause, evidence, attempt, fingerprint, coalesce(cause_kind, '') FROM runs WHERE key = ?");
  s.bind(key);
  if (!s.next()) return std::nullopt;
  return Stored{
      {key, run_state_of(s.text(0)).value_or(RunState::unknown), s.text(1), s.text(2), static_cast<int>(s.integer(3)), s.text(5)},
      s.text(4)};
}

bool same(const RunVerdict& a, const RunVerdict& b)
{
  return a.state == b.state && a.attempt == b.attempt && a.cause == b.cause && a.evidence == b.evidence &&
         a.cause_kind == b.cause_kind;
}

// Whether another process has stored a later attempt since our verdict was made.
bool is_outdated(const RunVerdict& verdict, const Stored& stored, const fs::path& run_folder)
{
  return stored.verdict.attempt > verdict.attempt && is_there(AttemptFolder(run_folder, stored.verdict.attempt).path());
}

std::int64_t bytes_taken(Connection& connection, std::int64_t run_id, int attempt)
{
  auto taken = connection.statement("SELECT events_bytes FROM attempts WHERE run_id = ? AND attempt = ?");
  taken.bind(run_id, attempt);
  return taken.next() ? taken.integer(0) : 0;
}

// Runs `write`, which stores a record of `file`. A record that the schema does not accept is this file's fault.
template<class Write> auto store_record(const fs::path& file, Write write)
{
  try {
    return write();
  } catch (const RefusedRow& error) {
    throw FolderError(file.string() + " is damaged: " + error.what());
  }
}

// Returns ":7" if line 7 is the first line of the event log whose step is `not_counted`, which the database does not accept;
// empty if there is no such line.
std::string bad_line_of(const fs::path& file)
{
  std::int64_t line = 0, bad = 0;
  const auto is_bad = [](const Event& event) {
    const auto* step = std::get_if<StepEvent>(&event);
    const auto* eval = std::get_if<EvalEvent>(&event);
    return (step != nullptr && step->step == not_counted) || (eval != nullptr && eval->step == not_counted);
  };
  read_lines_from(file, 0, [&](std::string_view lines) {
    for (auto end = lines.find('\n'); end != std::string_view::npos && bad == 0; end = lines.find('\n')) {
      ++line;
      if (is_bad(parse_event(lines.substr(0, end)))) bad = line;
      lines.remove_prefix(end + 1);
    }
  });
  return bad == 0 ? "" : ":" + std::to_string(bad);
}

// Stores the part of an event log that is not stored yet. Starts again if the file is shorter than the part that was read.
std::size_t take_in_events(Connection& connection, std::int64_t run_id, const AttemptFolder& attempt)
{
  const auto number = attempt.number();
  std::int64_t offset = bytes_taken(connection, run_id, number);
  if (size_of(attempt.events()) < offset) {
    for (const auto* table : {"steps", "evals"})
      connection.statement(std::string("DELETE FROM ") + table + " WHERE run_id = ? AND attempt = ?").run(run_id, number);
    offset = 0;
  }
  std::size_t steps = 0;
  const auto store = [&](std::string_view lines) {
    try {
      steps += write_events(connection, run_id, number, lines);
    } catch (const RefusedRow& error) {
      throw FolderError(attempt.events().string() + bad_line_of(attempt.events()) + " is damaged: " + error.what());
    }
  };
  const auto end = read_lines_from(attempt.events(), offset, store);
  connection.statement("UPDATE attempts SET events_bytes = ? WHERE run_id = ? AND attempt = ?").run(end, run_id, number);
  return steps;
}

std::size_t write_records(Connection& connection, const fs::path& folder, const PlannedRun& planned, const RunRecords& records,
                          const RunVerdict& verdict)
{
  const auto run_id =
      store_record(spec_path(folder), [&] { return write_run(connection, planned, verdict, records.fingerprint); });
  keep_attempts(connection, run_id, records.attempts);
  std::size_t steps = 0;
  const AttemptRecord* current = nullptr;
  for (const auto& attempt : records.attempts) {
    const AttemptFolder files(folder, attempt.number);
    store_record(files.path(), [&] { write_attempt(connection, run_id, attempt); });
    steps += take_in_events(connection, run_id, files);
    if (attempt.number == verdict.attempt) current = &attempt;
  }
  const auto result = AttemptFolder(folder, verdict.attempt).result();
  store_record(result, [&] { write_current(connection, run_id, current); });
  return steps;
}

class Ingest {
 public:
  Ingest(Database::Impl& database, const Home& home) : database_(database), home_(home) {}

  void take_in(const RunVerdict& verdict)
  {
    try {
      take_in_folder(verdict, home_.run(verdict.key));
    } catch (const FolderError& error) {
      (error.may_be_whole() ? report_.unreadable : report_.problems).emplace_back(error.what());
      if (!error.may_be_whole()) leave_out(verdict.key, error.what());
    }
  }

  IngestReport report() && { return std::move(report_); }

 private:
  void take_in_folder(const RunVerdict& verdict, const fs::path& folder)
  {
    const auto stored = look_up(database_.connection, verdict.key);
    const bool known = stored && !stored->fingerprint.empty();
    const bool same_verdict = known && same(stored->verdict, verdict);
    if (same_verdict && is_final(verdict.state)) return unchanged();
    if (verdict.attempt == 0 && !is_there(spec_path(folder))) return unchanged(); // planned, and no file was written yet
    if (stored && is_outdated(verdict, *stored, folder)) return unchanged();
    const auto records = read_attempts(folder, verdict.attempt);
    if (same_verdict && stored->fingerprint == records.fingerprint) return unchanged();
    write(verdict, folder, records);
    ++(known ? report_.runs_updated : report_.runs_added);
  }

  void unchanged() { ++report_.runs_unchanged; }

  // A run with a damaged record is listed with why, if its spec tells what it is. What is known of it from before stays, unless
  // the schema has changed since.
  void leave_out(const std::string& key, const std::string& why)
  {
    report_.damaged.emplace(key, why);
    const auto stored = look_up(database_.connection, key);
    if (stored && !stored->fingerprint.empty()) return;
    try {
      const auto planned = read_spec(home_.run(key), key);
      const RunVerdict verdict{key, RunState::unknown, why, "unreadable", 0};
      database_.write([&](Connection& connection) { // as in write: the run may be removed meanwhile
        if (is_there(spec_path(home_.run(key)))) write_run(connection, planned, verdict, "damaged");
      });
    } catch (const FolderError&) { // the spec itself is damaged
    } catch (const RefusedRow&) {
    }
  }

  void write(const RunVerdict& verdict, const fs::path& folder, const RunRecords& records)
  {
    const auto planned = read_spec(folder, verdict.key);
    std::size_t steps = 0;
    database_.write([&](Connection& connection) {
      // A removal takes the folder away before it waits for this transaction, so what is stored here it still finds.
      if (is_there(spec_path(folder))) steps = write_records(connection, folder, planned, records, verdict);
    });
    report_.step_rows += steps;
    for (const auto& attempt : records.attempts)
      report_.problems.insert(report_.problems.end(), attempt.problems.begin(), attempt.problems.end());
  }

  Database::Impl& database_;
  const Home& home_;
  IngestReport report_;
};

// Whether this submission of the study is stored. The id stands for the run list, and each submission has its own time.
bool is_known(Connection& connection, const StudyRecord& study)
{
  auto known = connection.statement("SELECT 1 FROM studies WHERE key = ? AND submitted_unix_s = ? AND points_current IS NOT -1");
  known.bind(study.id, study.submitted_unix_s);
  return known.next();
}

// A fingerprint that no folder has, so that the next ingest reads the run's files.
constexpr const char* nothing_read_yet = "submitted";

void write_submitted(Connection& connection, const SubmittedRun& run)
{
  const RunVerdict verdict{run.planned->key, RunState::queued, "", "submission.json", run.submission.attempt};
  AttemptRecord attempt;
  attempt.number = run.submission.attempt;
  attempt.submission = run.submission;
  const auto run_id = write_run(connection, *run.planned, verdict, nothing_read_yet);
  write_attempt(connection, run_id, attempt);
  write_current(connection, run_id, &attempt);
}

// The points of a study change with its runs, and thousands of runs may be taken in at once, so they are written once at the end.
// If this process is killed before, the marks remain and the next ingest writes them.
void write_stale_points(Database::Impl& database)
{
  if (has_stale_points(database.connection)) database.write([](Connection& connection) { write_points(connection); });
}

} // namespace

std::size_t ingest_submitted(Database& database, std::span<const SubmittedRun> runs)
{
  std::size_t taken = 0;
  database.impl().write([&](Connection& connection) {
    taken = 0;
    for (const auto& run : runs) {
      const auto stored = look_up(connection, run.planned->key);
      if (stored && !stored->fingerprint.empty()) continue;
      write_submitted(connection, run);
      ++taken;
    }
    write_points(connection);
  });
  return taken;
}

std::string ingest_study(Database& database, const StudyRecord& study, const fs::path& record)
{
  auto& impl = database.impl();
  if (is_known(impl.connection, study)) return {};
  try {
    impl.write([&](Connection& connection) {
      if (!record.empty() && !is_there(record)) return; // see Ingest::write
      write_study(connection, study);
      write_points(connection);
    });
  } catch (const RefusedRow& error) {
    return error.what();
  }
  return {};
}

std::vector<std::string> runs_to_read_again(Database& database)
{
  std::vector<std::string> keys;
  auto s = database.impl().connection.statement("SELECT key FROM runs WHERE fingerprint = '' AND ranks IS NOT NULL");
  while (s.next()) keys.push_back(s.text(0));
  return keys;
}

std::vector<std::string> studies_to_read_again(Database& database)
{
  std::vector<std::string> ids;
  auto s = database.impl().connection.statement("SELECT key FROM studies WHERE points_current IS NOT 1 AND points_current IS -1");
  while (s.next()) ids.push_back(s.text(0));
  return ids;
}

void ingest_removed(Database& database, const RunVerdict& verdict)
{
  database.impl().write([&](Connection& connection) {
    connection.statement("UPDATE runs SET state = ?, cause = ?, evidence = ?, cause_kind = ? WHERE key = ?")
        .run(name_of(verdict.state), verdict.cause, verdict.evidence, verdict.cause_kind, verdict.key);
  });
}

IngestReport ingest_runs(Database& database, const Home& home, std::span<const RunVerdict> verdicts)
{
  Ingest ingest(database.impl(), home);
  for (const auto& verdict : verdicts) ingest.take_in(verdict);
  write_stale_points(database.impl());
  return std::move(ingest).report();
}

} // namespace dt::store
