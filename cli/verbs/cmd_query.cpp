// dtctl query: read-only SQL queries on the results.
#include "cli/output/store_tables.hpp"
#include "cli/runs/results_store.hpp"
#include "cli/verbs/verbs.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::cli {
namespace {

struct QueryOptions {
  std::string sql;
  std::string format = "table";
  store::QueryLimits limits;
};

// Ends this process with an error if a query and the printing of its rows exceed the time limit. SQLite checks the time only
// between its instructions, and a single instruction (LIKE, replace, instr on long texts) can take hours. Queries only read, so
// nothing is left incomplete.
class Watchdog {
 public:
  Watchdog(Context& context, double limit_s)
      : thread_([this, &context, limit_s](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, stop, std::chrono::duration<double>(limit_s + grace_s), [] { return false; });
          if (!stop.stop_requested()) end(context, limit_s, prints_);
        })
  {
  }
  ~Watchdog()
  {
    const std::lock_guard lock(mutex_); // if the watchdog is ending the process already, wait for it
    thread_.request_stop();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  // From now on this process prints the answer, and its output must not be used by another thread.
  void begin_printing()
  {
    const std::lock_guard lock(mutex_);
    prints_ = true;
  }

 private:
  static constexpr double grace_s = 0.5; // time in which SQLite's own check can act first

  [[noreturn]] static void end(Context& context, double limit_s, bool prints)
  {
    const auto error = store::query_overrun(limit_s);
    if (prints) {
      const auto line = fmt::format("dtctl: {}\n", error.what());
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    } else {
      context.out.fail(error, ExitCode::usage);
      std::fflush(nullptr);
    }
    std::_Exit(static_cast<int>(ExitCode::usage));
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool prints_ = false;
  std::jthread thread_;
};

ExitCode query(Context& context, const QueryOptions& options)
{
  ResultsStore results(context);
  results.refresh_newest();
  static Watchdog watchdog(context, options.limits.time_s); // JSON is printed after this function
  const auto table = store::query(results.database(), options.sql, options.limits);
  watchdog.begin_printing();
  if (options.format == "csv" && !context.json) {
    context.out.block("csv", csv_of(table));
  } else {
    context.out.data("columns", table.columns);
    context.out.table(table_of("rows", table));
  }
  context.out.data("truncated", table.truncated);
  if (table.truncated) context.messages.warn("only the first {} rows are shown; raise --limit", options.limits.rows);
  return ExitCode::ok;
}

} // namespace

void add_query(Commands& commands)
{
  auto options = std::make_shared<QueryOptions>();
  auto& verb = commands.add(
      {"query", understand_verbs, "Query the results database with SQL (read-only).",
       "Views: scaling (one row per point of a study), runs_flat (one per run), phases_flat (one per run, rank and phase).\n\n"
       "Example:\n  dtctl query \"select strategy, ranks, throughput from runs_flat where state = 'succeeded'\""},
      [options](Context& context) { return query(context, *options); });
  verb.add_option("SQL", options->sql, "one SELECT statement")->required()->type_name("SQL");
  verb.add_option("--format", options->format, "table or csv")->type_name("table|csv")->one_of({"table", "csv"});
  verb.add_option("--limit", options->limits.rows, "print at most N rows (100000)")->type_name("N")->check(positive_number());
  verb.add_option("--timeout", options->limits.time_s, "time limit in seconds, with the printing of the rows (30)")
      ->type_name("SECONDS")
      ->check(positive_number());
}

} // namespace dt::cli
