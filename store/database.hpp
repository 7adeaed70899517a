// The results database: one SQLite file that can be rebuilt from the run folders. The room's public faces are database.hpp,
// ingest.hpp, queries.hpp and scaling.hpp; nobody outside sees SQLite.
#pragma once

#include "core/error.hpp"
#include "core/paths.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace dt::store {

enum class Access {
  read_write, // creates and migrates as needed; refuses a file of a newer dtctl
  read_only,  // the file must exist and be of this version
};

// Whether there is a database to read. A file without a byte, as a full disk or an interrupted copy leaves it, is none: it would
// open as a database without runs.
bool holds_anything(const std::filesystem::path& file);

class Database {
 public:
  // An environment error that says what to do when the file is damaged, newer, not ours or not writable, or locked by
  // another process for lock_timeout_s seconds; that limit holds for every later call too.
  Database(const std::filesystem::path& file, Access access, double lock_timeout_s = 20);
  ~Database();
  Database(Database&&) noexcept;

  int version() const;
  // "wal", or "delete" on a file system that is not local, where WAL fails and locks lie; and that file system's name.
  std::string journal_mode() const;
  std::string file_system() const;
  // PRAGMA integrity_check, foreign_key_check and our own rules; empty when all is well.
  std::vector<std::string> check();

  struct Impl; // defined in store/sqlite.hpp, for this room only
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The newest schema version this dtctl knows.
int latest_version();

// A cell of a query's result.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  bool truncated = false; // a limit cut it
};

struct QueryLimits {
  double time_s = 30;
  std::int64_t rows = 100000;
  std::int64_t bytes = 256 * 1024 * 1024; // of all texts of the answer together
};

// One read-only statement of the user's. A usage error when it is not one (an authorizer refuses every write, ATTACH and
// PRAGMA), has an error, or runs over its time.
Table query(Database& database, const std::string& sql, const QueryLimits& limits);

// The error of a query that ran over its time. The time is looked at between SQLite's instructions; whoever must not wait longer for
// one of them keeps watch from another thread.
Error query_overrun(double time_s);

} // namespace dt::store
