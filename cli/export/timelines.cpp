// The timelines of a run's ranks, for a trace viewer.
#include "cli/export/exports.hpp"

#include "cli/command/destination.hpp"
#include "cli/export/trace_events.hpp"
#include "cli/output/standard_out.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/runs/timelines.hpp"
#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace dt::cli {
namespace {

StepRange steps_of(const std::string& text)
{
  if (text.empty()) return {};
  const auto dash = text.find('-');
  const auto first = number_of<std::int64_t>(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : number_of<std::int64_t>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first)
    throw Error(ErrorKind::usage, "--steps takes two step numbers as 100-120, or one, not `" + printable(text) + "`");
  return {*first, *last};
}

AttemptFolder require_traced_attempt(const Home& home, const RunView& run, int wanted)
{
  if (auto attempt = traced_attempt(home, run.row.key, wanted)) return *attempt;
  const auto name = printable(run.row.name) + (wanted == 0 ? "" : fmt::format(" (attempt {})", wanted));
  const auto spec = read_planned_run(home.run(run.row.key)).spec;
  if (spec.is_simulated())
    throw Error(ErrorKind::usage, name +
                                      " is simulated, and only runs on real machines record timelines. Where its time goes: "
                                      "dtctl results " +
                                      short_key(run.row.study) + " --why");
  if (spec.is_own_program() && !spec.program.sync && spec.train.trace && is_final(run.row.state))
    throw Error(ErrorKind::usage,
                name +
                    " has no timeline: its program trains neither with dtctl_sync nor with a PyTorch that dtctl observes "
                    "(program.observe). Its phases, if it reports them: dtctl show " +
                    short_key(run.row.key));
  if (run.row.state == RunState::running)
    throw Error(ErrorKind::usage, name + " is running and has no timelines yet; they are written at its end, if its recipe has "
                                         "train.trace: true");
  throw Error(ErrorKind::usage, name + " was not traced. Set train.trace: true and run it again (dtctl sweep RECIPE --set "
                                       "train.trace=true --force).");
}

// Reads the timelines, sorted by rank. Warns about torn ones and leaves them out.
std::vector<TraceRecord> read_with_warnings(Context& context, const AttemptFolder& attempt)
{
  auto timelines = read_timelines(attempt, std::numeric_limits<int>::max());
  for (const auto& file : timelines.incomplete) context.messages.warn("{} is incomplete and was left out", file.string());
  for (const auto& record : timelines.ranks)
    if (record.forgotten > 0)
      context.messages.warn("rank {} did not record its last {} spans, because its buffer was full", record.rank,
                            record.forgotten);
  return std::move(timelines.ranks);
}

// Throws a usage error if no rank recorded a span of these steps.
void require_steps(const std::vector<TraceRecord>& records, const StepRange& steps, const RunView& run)
{
  StepRange known{std::numeric_limits<std::int64_t>::max(), 0};
  for (const auto& record : records)
    for (const auto& span : record.spans) {
      if (steps.contains(span.step)) return;
      if (span.step < 0) continue;
      known = {std::min(known.first, span.step), std::max(known.last, span.step)};
    }
  const auto has = known.first > known.last ? std::string("no steps") : fmt::format("steps {} to {}", known.first, known.last);
  throw Error(ErrorKind::usage, fmt::format("the timelines of {} have {}, and none of --steps {}-{}; give steps that they have",
                                            printable(run.row.name), has, steps.first, steps.last));
}

} // namespace

void export_timelines(Context& context, const Selector& selector, const std::string& file, const TimelineChoice& choice)
{
  const auto steps = steps_of(choice.steps);
  ResultsStore results(context);
  const auto run = select_newest(context, results, selector,
                                 [&](const RunView& one) { return traced_attempt(results.home(), one.row.key).has_value(); });
  const auto attempt = require_traced_attempt(results.home(), run, choice.attempt);
  const auto records = read_with_warnings(context, attempt);
  if (!choice.steps.empty()) require_steps(records, steps, run);
  const bool is_printed = file.empty() || is_standard_output(file);
  if (is_printed && !context.json) {
    write_trace_events(records, steps, write_out);
    flush_out();
    return;
  }
  std::string text;
  write_trace_events(records, steps, [&](std::string_view piece) { text += piece; });
  context.out.data("key", run.row.key);
  context.out.data("attempt", attempt.number());
  if (is_printed) {
    context.out.data("trace", Json::parse(text));
    return;
  }
  write_text(context, file, "trace", text);
  context.out.field("ranks", "ranks", count_cell(static_cast<std::int64_t>(records.size())));
}

} // namespace dt::cli
