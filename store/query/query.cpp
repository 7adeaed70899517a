// Executes one statement of the user under restrictions: an authorizer, a time limit, and limits on rows and bytes.
#include "core/error.hpp"
#include "core/text.hpp"
#include "store/database/database.hpp"
#include "store/database/sqlite.hpp"

#include <array>
#include <chrono>
#include <memory>

namespace dt::store {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, "query: " + why); }

// Allows reading and pure functions. Denies everything that writes, attaches files, loads code or changes settings.
int authorize(void* denied, int action, const char* first, const char* second, const char*, const char*)
{
  const std::string_view function = second == nullptr ? "" : second;
  if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE) return SQLITE_OK;
  if (action == SQLITE_FUNCTION && function != "load_extension" && function != "fts3_tokenizer") return SQLITE_OK;
  auto& what = *static_cast<std::string*>(denied);
  if (what.empty())
    what = action == SQLITE_FUNCTION                     ? std::string(function)
           : action == SQLITE_PRAGMA && first != nullptr ? "PRAGMA " + std::string(first)
                                                         : "";
  return SQLITE_DENY;
}

int is_late(void* deadline) { return Clock::now() > *static_cast<const Clock::time_point*>(deadline) ? 1 : 0; }

// Applies the restrictions to a connection; the destructor removes them.
class Fence {
 public:
  Fence(sqlite3* database, double time_s)
      : database_(database),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_s)))
  {
    constexpr int longest_value_bytes = 64 * 1024 * 1024;
    constexpr int instructions_between_looks = 10000;
    old_length_ = sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, longest_value_bytes);
    sqlite3_set_authorizer(database_, authorize, &denied_);
    sqlite3_progress_handler(database_, instructions_between_looks, is_late, &deadline_);
  }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence()
  {
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    sqlite3_set_authorizer(database_, nullptr, nullptr);
    sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, old_length_);
  }
  const std::string& denied() const { return denied_; }

 private:
  sqlite3* database_;
  Clock::time_point deadline_;
  std::string denied_;
  int old_length_;
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

class Question {
 public:
  Question(Connection& connection, const std::string& sql, const QueryLimits& limits)
      : connection_(connection), limits_(limits), fence_(connection.handle(), limits.time_s)
  {
    const char* rest = sql.c_str();
    while (statement_ == nullptr && *rest != '\0') statement_ = prepare(rest);
    if (statement_ == nullptr) refuse("there is no statement in it. Write one SELECT");
    while (*rest != '\0')
      if (prepare(rest) != nullptr) refuse("only one statement is allowed, and text follows the first one's semicolon");
    if (sqlite3_stmt_readonly(statement_.get()) == 0) refuse("only reading is allowed. Write one SELECT");
    if (sqlite3_bind_parameter_count(statement_.get()) > 0)
      refuse("it has a parameter (? or :name) without a value. Write the value itself");
  }

  Table answer()
  {
    Table table;
    const int columns = sqlite3_column_count(statement_.get());
    for (int i = 0; i < columns; ++i) table.columns.emplace_back(sqlite3_column_name(statement_.get(), i));
    std::int64_t bytes = 0;
    for (int code = step(); code == SQLITE_ROW; code = step()) {
      table.truncated = static_cast<std::int64_t>(table.rows.size()) >= limits_.rows || bytes > limits_.bytes;
      if (table.truncated) break;
      auto& row = table.rows.emplace_back();
      for (int i = 0; i < columns; ++i) bytes += add_cell(row, i);
    }
    return table;
  }

 private:
  // Prepares the statement at the beginning of `sql` and moves `sql` behind it. Returns null for blanks and comments.
  Prepared prepare(const char*& sql)
  {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(connection_.handle(), sql, -1, &statement, &sql);
    if (code != SQLITE_OK) fail(code);
    return Prepared(statement);
  }

  int step()
  {
    const int code = sqlite3_step(statement_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
    return code;
  }

  std::int64_t add_cell(std::vector<Cell>& row, int column)
  {
    row.push_back(cell_of(statement_.get(), column));
    const auto* text = std::get_if<std::string>(&row.back());
    return text == nullptr ? 0 : static_cast<std::int64_t>(text->size());
  }

  [[noreturn]] void fail(int code) const
  {
    const std::string message = sqlite3_errmsg(connection_.handle());
    switch (code & 0xFF) {
    case SQLITE_AUTH:
      refuse("only reading is allowed" + (fence_.denied().empty() ? "" : ", not " + fence_.denied()) + ". Write one SELECT");
    case SQLITE_INTERRUPT:
      throw query_overrun(limits_.time_s);
    case SQLITE_ERROR:
      refuse(message + hint(message));
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
      refuse(message);
    default:
      throw connection_.error_of(code);
    }
  }

  static std::string hint(const std::string& message)
  {
    if (message.starts_with("no such table")) return ". List tables and views with: SELECT type, name FROM sqlite_schema";
    if (message.starts_with("no such column"))
      return ". See the columns of a table or view with: SELECT * FROM runs_flat LIMIT 1";
    return {};
  }

  Connection& connection_;
  const QueryLimits& limits_;
  Fence fence_;
  Prepared statement_; // must be destroyed before the fence
};

} // namespace

Error query_overrun(double time_s)
{
  return {ErrorKind::usage, "query: it ran longer than " + format_shortest(time_s) +
                                " s and was stopped. Make it smaller, or raise the limit with --timeout"};
}

Table query(Database& database, const std::string& sql, const QueryLimits& limits)
{
  return Question(database.impl().connection, sql, limits).answer();
}

} // namespace dt::store
