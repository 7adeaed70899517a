// A safe interface to SQLite's C API, private to this folder. Statements are cached, values are always bound, transactions roll
// back unless committed, and every failure becomes a dt::Error that says what to do.
#pragma once

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "store/database/database.hpp"
#include "store/database/file_system.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sqlite3.h>

namespace dt::store {

class Connection;

// A row that the schema does not accept, such as a second one with the same key. Its author is whoever wrote the record, so this
// error is that record's and not the database's.
class RefusedRow : public Error {
 public:
  explicit RefusedRow(const Error& error) : Error(error) {}
};

// A prepared statement, borrowed from its connection's cache. The destructor resets and returns it. It must not outlive the
// connection.
class Statement {
 public:
  Statement(Connection& connection, std::string sql, sqlite3_stmt* handle);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds the values to the parameters 1, 2, …; text is copied. NaN is bound as NULL (not measured).
  template<class... Values> Statement& bind(const Values&... values)
  {
    int index = 0;
    (bind_at(++index, values), ...);
    return *this;
  }
  void bind_at(int index, std::int64_t value);
  void bind_at(int index, int value) { bind_at(index, std::int64_t{value}); }
  void bind_at(int index, bool value) { bind_at(index, std::int64_t{value}); }
  void bind_at(int index, double value);
  void bind_at(int index, std::string_view value);
  void bind_at(int index, const std::string& value) { bind_at(index, std::string_view(value)); }
  void bind_at(int index, const char* value) { bind_at(index, std::string_view(value)); }
  void bind_at(int index, std::nullptr_t);
  void bind_at(int index, const Cell& value);
  template<class Value> void bind_at(int index, const std::optional<Value>& value)
  {
    value ? bind_at(index, *value) : bind_at(index, nullptr);
  }

  // Moves to the next row. Returns false after the last row.
  bool next();
  // Binds the values, executes the statement to its end and resets it.
  template<class... Values> void run(const Values&... values)
  {
    bind(values...);
    finish();
  }
  // Executes the statement to its end with the values that are bound.
  void finish();

  int columns() const { return sqlite3_column_count(handle_); }
  std::string column_name(int column) const { return sqlite3_column_name(handle_, column); }
  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); } // 0 for NULL
  double real(int column) const;                                                           // NaN for NULL
  std::string text(int column) const;                                                      // empty for NULL
  Cell cell(int column) const;

  // The same by the column's name in the query: what follows AS, or the name of the column that is selected. Throws an internal
  // error if the query has no such column.
  bool is_null(std::string_view column) const { return is_null(index_of(column)); }
  std::int64_t integer(std::string_view column) const { return integer(index_of(column)); }
  double real(std::string_view column) const { return real(index_of(column)); }
  std::string text(std::string_view column) const { return text(index_of(column)); }

 private:
  void reset();
  int index_of(std::string_view column) const;

  Connection* connection_;
  std::string sql_;
  sqlite3_stmt* handle_;
  mutable int expected_ = 0; // index of the column that is looked for first: columns are mostly read in the query's order
};

// A cell of the current row of a raw statement. A blob becomes hexadecimal text.
Cell cell_of(sqlite3_stmt* statement, int column);

// One open database file.
class Connection {
 public:
  // `flags` as in sqlite3_open_v2. `immutable`: nobody can write to the file's folder, not even SQLite's helper files.
  Connection(const std::filesystem::path& file, int flags, double lock_timeout_s, bool immutable = false);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& file() const { return file_; }
  double lock_timeout_s() const { return lock_timeout_s_; }

  // Waits while another process recovers the write-ahead log, which a killed process has left. SQLite itself gives up after some
  // seconds and calls that a fault of the protocol. Throws an environment error that names the process if it takes longer than
  // lock_timeout_s.
  void wait_for_recovery() const;
  // Whether the last statement failed because the disk is full or a quota is used up.
  bool lacks_space() const;
  // Goes on with a copy of the whole database in memory, with what is in the write-ahead log. For a full disk, where SQLite
  // cannot open the file as usual: even a reader makes an index of the log, a file of 32 KiB.
  void read_into_memory();
  // Copies the database over another one, in one transaction of that one.
  void copy_to(Connection& target);
  bool is_in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  // Executes statements without parameters, one after the other.
  void execute(const std::string& sql);
  // Takes the statement from the cache, or prepares it.
  Statement statement(const std::string& sql);
  std::int64_t integer_of(const std::string& sql);
  std::string text_of(const std::string& sql);
  // Throws error_of(code) unless the code means success; as a RefusedRow if the values of a row are at fault.
  void expect_ok(int code) const;
  // Translates a failure into an error that says who must act, and how.
  Error error_of(int code) const;

 private:
  friend class Statement;
  void open(const std::string& name, int flags);
  void close();
  void give_back(std::string sql, sqlite3_stmt* handle);

  std::filesystem::path file_;
  double lock_timeout_s_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> idle_; // prepared statements that are not borrowed
};

// A transaction: rolls back unless commit() was called. The constructor takes the write lock. Within another one it is a part of
// it, which can be rolled back alone.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Connection& connection_;
  bool is_part_, open_ = true;
};

// The file next to the database whose lock allows one writer per machine.
std::filesystem::path writer_lock_of(const std::filesystem::path& database);
// Takes that lock. Waits at most `timeout_s`.
FileLock acquire_writer_lock(const std::filesystem::path& database, double timeout_s);

// Sets journal mode and durability according to the file system, and migrates. WAL needs memory shared by all users of the file,
// which only a local file system provides.
void prepare_for_writing(Connection& connection, bool local);

struct Database::Impl {
  Impl(const std::filesystem::path& file, Access access, double lock_timeout_s);

  bool is_in_memory; // and is lost at the end
  Connection connection;
  FileSystem file_system;
  std::string journal_mode;

  // Runs `work` in one transaction, as the only writer. A call within another one's work is a part of that transaction.
  void write(const std::function<void(Connection&)>& work);
};

} // namespace dt::store
