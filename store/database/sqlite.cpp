#include "store/database/sqlite.hpp"

#include "core/machine/process.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "store/database/sql_functions.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace dt::store {
namespace {

// Who holds a lock on a database, for messages.

namespace fs = std::filesystem;
using FileId = std::tuple<unsigned, unsigned, std::uint64_t>; // device and inode

// The files on which SQLite and dtctl hold locks.
std::set<FileId> lockable_files(const fs::path& database)
{
  std::set<FileId> files;
  for (const auto* suffix : {"", "-shm", ".lock"}) {
    struct stat status {};
    if (::stat((database.string() + suffix).c_str(), &status) == 0)
      files.emplace(major(status.st_dev), minor(status.st_dev), status.st_ino);
  }
  return files;
}

std::string content_of(const fs::path& file)
{
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Another process with a lock for writing. A line of /proc/locks: "1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120", with "->"
// behind the number if the process waits for it.
std::optional<int> writer_of(const std::set<FileId>& files)
{
  std::istringstream locks(content_of("/proc/locks"));
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, file;
    int pid = 0;
    if (!(words >> number >> kind >> strictness >> access >> pid >> file) || access != "WRITE") continue;
    unsigned device_major = 0, device_minor = 0;
    unsigned long long inode = 0;
    if (std::sscanf(file.c_str(), "%x:%x:%llu", &device_major, &device_minor, &inode) != 3) continue;
    if (pid > 0 && pid != ::getpid() && files.contains({device_major, device_minor, inode})) return pid;
  }
  return std::nullopt;
}

// The words of its command line, as far as they help to recognise it.
std::string command_of(int pid)
{
  constexpr std::size_t longest = 60;
  auto words = split(content_of("/proc/" + std::to_string(pid) + "/cmdline"), '\0');
  if (words.empty() || words.front().empty()) return {};
  words.front() = fs::path(words.front()).filename().string();
  const auto command = without_secrets(std::string_view(join(words, " ")));
  const auto text = trim(command);
  return text.size() > longest ? printable(text.substr(0, longest)) + "…" : printable(text);
}

// Returns "process 4711 (dtctl status last), which is stopped" for another process that holds a lock for writing on the database
// or one of its helper files; "another process" if the system does not tell, as on a network file system or in another container.
std::string lock_holder(const fs::path& database)
{
  const auto pid = writer_of(lockable_files(database));
  if (!pid) return "another process";
  const auto command = command_of(*pid);
  return "process " + std::to_string(*pid) + (command.empty() ? "" : " (" + command + ")") +
         (is_stopped(*pid) ? ", which is stopped (kill -CONT " + std::to_string(*pid) + " lets it go on)" : "");
}

// Converts a file name to a URI. Escapes `?`, `#` and `%`, which SQLite would interpret.
std::string uri_of(const std::filesystem::path& file, std::string_view parameters)
{
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '?' || c == '#' || c == '%') {
      constexpr std::string_view digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', digits[byte >> 4], digits[byte & 15]};
    } else {
      uri += c;
    }
  }
  return uri.append(parameters);
}

Error stays_locked(const std::filesystem::path& database, double waited_s)
{
  return Error(ErrorKind::environment, database.string() + " stayed locked for " + format_shortest(waited_s) + " s by " +
                                           lock_holder(database) +
                                           ". Nothing was changed. Try again when the other dtctl has ended");
}

} // namespace

// ---- Statement --------------------------------------------------------------------------------------------------------

Statement::Statement(Connection& connection, std::string sql, sqlite3_stmt* handle)
    : connection_(&connection), sql_(std::move(sql)), handle_(handle)
{
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_), sql_(std::move(other.sql_)), handle_(std::exchange(other.handle_, nullptr))
{
}

Statement::~Statement()
{
  if (handle_ != nullptr) connection_->give_back(std::move(sql_), handle_);
}

void Statement::bind_at(int index, std::int64_t value) { connection_->expect_ok(sqlite3_bind_int64(handle_, index, value)); }
void Statement::bind_at(int index, double value) { connection_->expect_ok(sqlite3_bind_double(handle_, index, value)); }
void Statement::bind_at(int index, std::nullptr_t) { connection_->expect_ok(sqlite3_bind_null(handle_, index)); }

void Statement::bind_at(int index, std::string_view value)
{
  const char* bytes = value.data() == nullptr ? "" : value.data(); // a null pointer would bind NULL
  connection_->expect_ok(sqlite3_bind_text64(handle_, index, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_at(int index, const Cell& value)
{
  if (std::holds_alternative<std::monostate>(value)) return bind_at(index, nullptr);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return bind_at(index, *number);
  if (const auto* number = std::get_if<double>(&value)) return bind_at(index, *number);
  bind_at(index, std::get<std::string>(value));
}

bool Statement::next()
{
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  const auto result = sqlite3_reset(handle_);
  if (code != SQLITE_DONE) connection_->expect_ok(result == SQLITE_OK ? code : result);
  return false;
}

void Statement::finish()
{
  while (next()) {
  }
}

double Statement::real(int column) const { return is_null(column) ? std::nan("") : sqlite3_column_double(handle_, column); }

std::string Statement::text(int column) const
{
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)));
}

int Statement::index_of(std::string_view column) const
{
  const int count = columns();
  for (int tried = 0; tried < count; ++tried) {
    const int at = (expected_ + tried) % count;
    if (column != sqlite3_column_name(handle_, at)) continue;
    expected_ = at + 1;
    return at;
  }
  throw Error(ErrorKind::internal, "no column " + std::string(column) + " in: " + sql_);
}

Cell Statement::cell(int column) const { return cell_of(handle_, column); }

Cell cell_of(sqlite3_stmt* statement, int column)
{
  switch (sqlite3_column_type(statement, column)) {
  case SQLITE_INTEGER:
    return std::int64_t{sqlite3_column_int64(statement, column)};
  case SQLITE_FLOAT:
    return sqlite3_column_double(statement, column);
  case SQLITE_NULL:
    return std::monostate{};
  default:
    break;
  }
  const bool blob = sqlite3_column_type(statement, column) == SQLITE_BLOB;
  const auto* bytes = static_cast<const char*>(blob ? sqlite3_column_blob(statement, column)
                                                    : static_cast<const void*>(sqlite3_column_text(statement, column)));
  const std::string_view content(bytes == nullptr ? "" : bytes,
                                 static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
  if (!blob) return std::string(content);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const char c : content) hex += {digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]};
  return hex;
}

// ---- Connection -------------------------------------------------------------------------------------------------------

Connection::Connection(const std::filesystem::path& file, int flags, double lock_timeout_s, bool immutable)
    : file_(file), lock_timeout_s_(lock_timeout_s)
{
  open(uri_of(file, immutable ? "?immutable=1" : ""), flags | SQLITE_OPEN_URI);
}

Connection::~Connection() { close(); }

void Connection::open(const std::string& name, int flags)
{
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    const auto error = error_of(code);
    close();
    throw error;
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(lock_timeout_s_ * 1000));
  add_sql_functions(handle_);
}

void Connection::close()
{
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  idle_.clear();
  sqlite3_close_v2(std::exchange(handle_, nullptr));
}

void Connection::wait_for_recovery() const
{
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(lock_timeout_s_);
  for (;;) {
    const int code = sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) & 0xFF;
    if (code != SQLITE_BUSY && code != SQLITE_PROTOCOL) return; // the next statement tells any other error
    if (code == SQLITE_BUSY || std::chrono::steady_clock::now() >= deadline) throw error_of(code);
  }
}

bool Connection::lacks_space() const
{
  const int kind = sqlite3_errcode(handle_) & 0xFF;
  const bool is_refused = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN;
  return kind == SQLITE_FULL || (is_refused && is_lack_of_space(sqlite3_system_errno(handle_)));
}

void Connection::read_into_memory()
{
  close(); // it holds a lock
  open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
  const auto lock = acquire_writer_lock(file_, lock_timeout_s_);
  const bool has_log = holds_anything(file_.string() + "-wal");
  Connection source(file_, has_log ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, lock_timeout_s_, !has_log);
  // In this mode SQLite keeps the index of the log in its own memory.
  if (has_log) source.execute("PRAGMA locking_mode = EXCLUSIVE");
  source.copy_to(*this);
}

void Connection::copy_to(Connection& target)
{
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(target.lock_timeout_s());
  sqlite3_backup* backup = sqlite3_backup_init(target.handle_, "main", handle_, "main");
  if (backup == nullptr) throw target.error_of(sqlite3_errcode(target.handle_));
  int code = sqlite3_backup_step(backup, -1);
  while ((code == SQLITE_BUSY || code == SQLITE_LOCKED) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    code = sqlite3_backup_step(backup, -1);
  }
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) throw target.error_of(finished == SQLITE_OK ? code : finished);
}

void Connection::execute(const std::string& sql) { expect_ok(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr)); }

Statement Connection::statement(const std::string& sql)
{
  if (auto node = idle_.extract(sql); !node.empty()) return {*this, std::move(node.key()), node.mapped()};
  sqlite3_stmt* statement = nullptr;
  expect_ok(
      sqlite3_prepare_v3(handle_, sql.c_str(), static_cast<int>(sql.size()) + 1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  return {*this, sql, statement};
}

void Connection::give_back(std::string sql, sqlite3_stmt* handle)
{
  sqlite3_reset(handle);
  sqlite3_clear_bindings(handle);
  // If the same statement was borrowed twice at once, only one of the two is kept.
  if (!idle_.emplace(std::move(sql), handle).second) sqlite3_finalize(handle);
}

std::int64_t Connection::integer_of(const std::string& sql)
{
  auto found = statement(sql);
  return found.next() ? found.integer(0) : 0;
}

std::string Connection::text_of(const std::string& sql)
{
  auto found = statement(sql);
  return found.next() ? found.text(0) : std::string();
}

void Connection::expect_ok(int code) const
{
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  const int kind = code & 0xFF;
  if (kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH || kind == SQLITE_TOOBIG) throw RefusedRow(error_of(code));
  throw error_of(code);
}

Error Connection::error_of(int code) const
{
  const auto name = file_.string();
  std::string why = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int system = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  const auto environment = [](const std::string& text) { return Error(ErrorKind::environment, text); };
  const int kind = code & 0xFF;
  const bool is_refused = kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR;
  if (is_refused && system != 0) why += std::string(": ") + std::strerror(system);
  switch (is_refused && is_lack_of_space(system) ? SQLITE_FULL : kind) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_PROTOCOL: // another process has begun to recover the write-ahead log, and does not go on
    return stays_locked(file_, lock_timeout_s_);
  case SQLITE_FULL:
    return environment(name + ": no space left on the disk (" + why +
                       "). Earlier results are kept. Make room, for example with: dtctl remove STUDY --runs");
  case SQLITE_READONLY:
    return environment(name + " cannot be written (" + why + "). Make the file and its folder writable");
  case SQLITE_CANTOPEN:
    return environment(name + " cannot be opened (" + why + "). Check that its folder exists and that you may use it");
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return environment(name + " is damaged (" + why + "). Rebuild it from the run folders with: dtctl db rebuild");
  case SQLITE_CONSTRAINT:
  case SQLITE_MISMATCH:
  case SQLITE_TOOBIG:
    return environment("the database refuses a row of this record: " + why);
  case SQLITE_IOERR:
    return environment(name + ": the disk failed or is full (" + why + "). Check the disk and try again");
  default:
    return Error(ErrorKind::internal, name + ": " + why + " (SQLite code " + std::to_string(code) + ")");
  }
}

// ---- Transaction ------------------------------------------------------------------------------------------------------

Transaction::Transaction(Connection& connection) : connection_(connection), is_part_(connection.is_in_transaction())
{
  connection_.execute(is_part_ ? "SAVEPOINT part" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction()
{
  // This fails if SQLite has rolled back already, for example after a full disk. That is harmless.
  if (open_)
    sqlite3_exec(connection_.handle(), is_part_ ? "ROLLBACK TO part; RELEASE part" : "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit()
{
  connection_.execute(is_part_ ? "RELEASE part" : "COMMIT");
  open_ = false;
}

std::filesystem::path writer_lock_of(const std::filesystem::path& database) { return database.string() + ".lock"; }

FileLock acquire_writer_lock(const std::filesystem::path& database, double timeout_s)
{
  const auto path = writer_lock_of(database);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  for (;;) {
    if (auto lock = FileLock::try_acquire(path)) return std::move(*lock);
    if (std::chrono::steady_clock::now() >= deadline) throw stays_locked(database, timeout_s);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

} // namespace dt::store
