#include "store/database/database.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/temporary_file.hpp"
#include "store/database/migrations.hpp"
#include "store/database/sqlite.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

namespace dt::store {

namespace fs = std::filesystem;

bool holds_anything(const fs::path& file)
{
  if (!is_there(file)) return false;
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  if (error) throw system_error("look at " + file.string(), error.value());
  return bytes > 0;
}

namespace {

void expect_present(const fs::path& file)
{
  if (!holds_anything(file))
    throw Error(ErrorKind::environment, "there is no results database at " + file.string() +
                                            ". Submit a recipe first, or rebuild it from the run folders with: dtctl db rebuild");
}

// A WAL database in a read-only folder can only be opened as immutable, because SQLite cannot create its helper files there.
bool needs_immutable(const fs::path& file)
{
  if (::access(folder_of(file).c_str(), W_OK) == 0) return false;
  return !holds_anything(file.string() + "-wal");
}

void expect_makeable(const fs::path& file)
{
  if (file.has_parent_path()) make_folders(file.parent_path());
  if (!is_there(file) && ::access(folder_of(file).c_str(), W_OK) != 0)
    throw Error(ErrorKind::environment, file.string() + " cannot be created (" + std::strerror(errno) +
                                            "). Make its folder writable, or set DTCTL_HOME to another folder");
  // Create the file with mode 0600: SQLite would make it readable for everybody, and gives its helper files the mode of this
  // file.
  const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
}

// Returns `file` after checking that it can be opened.
const fs::path& expected(const fs::path& file, Access access)
{
  if (access == Access::read_only) expect_present(file);
  if (access == Access::read_write) expect_makeable(file);
  return file;
}

// Whether a file would have to be made that this access does not make, or that nobody can make.
bool lacks_files(const fs::path& file, Access access)
{
  if (access != Access::existing) return access == Access::in_memory;
  return ::access(folder_of(file).c_str(), W_OK) != 0 || !holds_anything(file) || !is_there(writer_lock_of(file));
}

int flags_of(Access access, bool is_in_memory)
{
  constexpr int making = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (is_in_memory) return making | SQLITE_OPEN_MEMORY;
  return access == Access::read_only ? SQLITE_OPEN_READONLY : access == Access::existing ? SQLITE_OPEN_READWRITE : making;
}

// Copies what the file has, if there is one.
void read_from(const fs::path& file, Connection& connection)
{
  if (!holds_anything(file)) return;
  const bool is_fixed = needs_immutable(file);
  Connection source(file, is_fixed ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, connection.lock_timeout_s(), is_fixed);
  source.wait_for_recovery();
  source.copy_to(connection);
}

void expect_current(Connection& connection)
{
  if (!is_current(connection))
    throw Error(ErrorKind::environment,
                connection.file().string() + " lacks columns or views of this dtctl. Add them with: dtctl db migrate");
}

// dtctl's own rules: each query returns one text for every row that violates the rule.
constexpr std::array rules{
    "SELECT 'run ' || key || ' succeeded but has no result' FROM runs WHERE state = 'succeeded' AND id NOT IN (SELECT run_id "
    "FROM results)",
    "SELECT 'run ' || key || ' shows the result of attempt ' || results.attempt || ', but its state is of attempt ' || "
    "runs.attempt "
    "FROM runs JOIN results ON results.run_id = runs.id WHERE results.attempt <> runs.attempt",
    "SELECT 'run ' || key || ' is ' || state || ' but its attempt ' || attempt || ' is not there' FROM runs "
    "WHERE attempt > 0 AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = "
    "runs.attempt)",
    "SELECT 'run ' || key || ' has ' || ranks || ' ranks on ' || resources_nodes || ' nodes of ' || resources_ranks_per_node "
    "FROM runs "
    "WHERE ranks <> resources_nodes * resources_ranks_per_node",
    "SELECT 'run ' || key || ' has a communication share of ' || communication_share || ', not between 0 and 1' "
    "FROM runs JOIN results ON results.run_id = runs.id WHERE communication_share NOT BETWEEN 0 AND 1",
    "SELECT 'run ' || key || ' has an accuracy of ' || accuracy || ', not between 0 and 1' "
    "FROM runs JOIN results ON results.run_id = runs.id WHERE accuracy NOT BETWEEN 0 AND 1",
    "SELECT 'run ' || key || ' has a result of ' || count(*) || ' ranks, not of ' || runs.ranks FROM runs "
    "JOIN rank_phases ON rank_phases.run_id = runs.id AND phase = 'step' GROUP BY runs.id HAVING count(*) <> runs.ranks",
    "SELECT 'study ' || key || ' has gaps in its list of runs' FROM studies JOIN study_runs ON study_id = id "
    "GROUP BY id HAVING max(position) + 1 <> count(*)",
};

std::vector<std::string> integrity_findings(Connection& connection)
{
  std::vector<std::string> findings;
  try {
    auto integrity = connection.statement("PRAGMA integrity_check");
    while (integrity.next())
      if (integrity.text(0) != "ok") findings.push_back(integrity.text(0));
  } catch (const Error& error) {
    findings.emplace_back(error.what()); // too damaged for a complete check
  }
  return findings;
}

} // namespace

void prepare_for_writing(Connection& connection, bool local)
{
  const std::string wanted = local ? "wal" : "delete";
  if (schema_version(connection) == 0 || !is_current(connection) || connection.text_of("PRAGMA journal_mode") != wanted) {
    const auto lock = acquire_writer_lock(connection.file(), connection.lock_timeout_s());
    connection.execute("PRAGMA journal_mode = " + wanted);
    migrate(connection);
  }
  // In WAL mode a power cut can lose the last transactions but cannot damage the file. The run folders still have the data.
  connection.execute(local ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
}

Database::Impl::Impl(const fs::path& file, Access access, double lock_timeout_s)
    : is_in_memory(lacks_files(file, access)), connection(expected(file, access), flags_of(access, is_in_memory), lock_timeout_s,
                                                          access == Access::read_only && needs_immutable(file)),
      file_system(is_in_memory ? FileSystem{"memory", true} : file_system_at(file))
{
  if (is_in_memory && access != Access::in_memory) read_from(file, connection);
  connection.wait_for_recovery();
  if (access == Access::read_only && connection.lacks_space()) {
    connection.read_into_memory();
    is_in_memory = true;
  }
  connection.execute("PRAGMA foreign_keys = ON");
  connection.execute("PRAGMA cache_size = -65536"); // KiB
  if (is_in_memory)
    migrate(connection);
  else if (access == Access::read_only)
    expect_current(connection);
  else
    prepare_for_writing(connection, file_system.local);
  journal_mode = connection.text_of("PRAGMA journal_mode");
}

void Database::Impl::write(const std::function<void(Connection&)>& work)
{
  std::optional<FileLock> lock;
  if (!is_in_memory && !connection.is_in_transaction())
    lock = acquire_writer_lock(connection.file(), connection.lock_timeout_s());
  Transaction transaction(connection);
  work(connection);
  transaction.commit();
}

Database::Database(const fs::path& file, Access access, double lock_timeout_s)
    : impl_(std::make_unique<Impl>(file, access, lock_timeout_s))
{
}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;

bool Database::is_in_memory() const { return impl_->is_in_memory; }
int Database::version() const { return schema_version(impl_->connection); }
std::int64_t Database::changes()
{
  // data_version counts the commits of other connections, total_changes the rows that this one has changed.
  auto& connection = impl_->connection;
  return (connection.integer_of("PRAGMA data_version") << 32) + sqlite3_total_changes64(connection.handle());
}

std::string Database::journal_mode() const { return impl_->journal_mode; }
std::string Database::file_system() const { return impl_->file_system.name; }

std::vector<std::string> Database::check()
{
  auto findings = integrity_findings(impl_->connection);
  if (!findings.empty()) return findings; // do not run the rules on damaged pages
  auto orphans = impl_->connection.statement("SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2");
  while (orphans.next())
    findings.push_back(std::to_string(orphans.integer(2)) + " rows of " + orphans.text(0) + " belong to no row of " +
                       orphans.text(1));
  for (const auto* rule : rules) {
    auto broken = impl_->connection.statement(rule);
    while (broken.next()) findings.push_back(broken.text(0));
  }
  return findings;
}

} // namespace dt::store
