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

namespace dt::cli {
namespace {

struct QueryOptions {
  std::string sql;
  std::string format = "table";
  store::QueryLimits limits;
};

// Ends this process with an error if a query exceeds its time limit. SQLite checks the time only between its instructions, and a
// single instruction (LIKE, replace, instr on long texts) can take hours. Queries only read, so nothing is left incomplete.
class Watchdog {
 public:
  Watchdog(Context& context, double limit_s)
      : thread_([this, &context, limit_s](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, stop, std::chrono::duration<double>(limit_s + grace_s), [] { return false; });
          if (!stop.stop_requested()) end(context, limit_s);
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

 private:
  static constexpr double grace_s = 0.5; // time in which SQLite's own check can act first

  [[noreturn]] static void end(Context& context, double limit_s)
  {
    context.out.fail(store::query_overrun(limit_s), ExitCode::usage);
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(ExitCode::usage));
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

store::Table answer_of(Context& context, store::Database& database, const QueryOptions& options)
{
  const Watchdog watchdog(context, options.limits.time_s);
  return store::query(database, options.sql, options.limits);
}

ExitCode query(Context& context, const QueryOptions& options)
{
  ResultsStore results(context);
  results.refresh_newest();
  const auto table = answer_of(context, results.database(), options);
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
  verb.add_option("--timeout", options->limits.time_s, "time limit in seconds (30)")
      ->type_name("SECONDS")
      ->check(positive_number());
}

} // namespace dt::cli
