// The results database: one SQLite file that can be rebuilt from the run folders. The headers of this room for others are
// database/database.hpp, ingest/ingest.hpp, query/queries.hpp, query/doubts.hpp and analysis/*.hpp. None exposes SQLite.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace dt::store {

enum class Access {
  read_write, // creates the file and migrates it if needed; refuses a file of a newer dtctl
  // The same for those who may make no file: where the database or its lock is missing, all is done in memory.
  existing,
  in_memory, // an empty database that has no file; its path is a name in errors only
  read_only, // the file must exist and have the current version; on a full disk it is copied into memory first
};

// Whether there is a database to read. An empty file, left by a full disk or an interrupted copy, does not count, although SQLite
// would open it as a database without runs.
bool holds_anything(const std::filesystem::path& file);

// How long a writer waits for another one.
inline constexpr double usual_lock_timeout_s = 20;

class Database {
 public:
  // An environment error that says what to do when the file is damaged, newer, not ours or not writable, or locked by
  // another process for lock_timeout_s seconds; that limit holds for every later call too.
  Database(const std::filesystem::path& file, Access access, double lock_timeout_s = usual_lock_timeout_s);
  ~Database();
  Database(Database&&) noexcept;

  // Whether what is written stays in memory, and is lost with this object.
  bool is_in_memory() const;

  int version() const;
  // Returns "wal", or "delete" on a file system that is not local, where WAL fails and locks are unreliable.
  std::string journal_mode() const;
  std::string file_system() const;
  // Runs PRAGMA integrity_check, foreign_key_check and dtctl's own rules. Returns the problems; empty if there are none.
  std::vector<std::string> check();

  // A number that is another one whenever the content has changed, by this process or by another.
  std::int64_t changes();

  struct Impl; // defined in store/database/sqlite.hpp, for this folder only
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The format of the file that this dtctl knows. A newer one is only needed for a change that adding columns and making the views
// again does not cover.
int latest_version();

// One value in the result of a query.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  bool truncated = false; // a limit cut the rows off
};

struct QueryLimits {
  double time_s = 30;
  std::int64_t rows = 100000;
  std::int64_t bytes = 256 * 1024 * 1024; // limit on the size of all texts in the answer together
};

// Executes one read-only statement of the user. Throws a usage error if the text is not one such statement (an authorizer refuses
// writes, ATTACH and PRAGMA), if it contains an error, or if it exceeds its time limit.
Table query(Database& database, const std::string& sql, const QueryLimits& limits);

// Makes the error for a query that exceeded its time limit. SQLite checks the time only between its instructions; a caller that
// must not wait for a long instruction has to check the time in another thread.
Error query_overrun(double time_s);

} // namespace dt::store
