// A sample of the timeline: what each rank did over one step.
#include "cli/report/chart/charts.hpp"
#include "cli/runs/timelines.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr int most_ranks = 8;
constexpr std::size_t most_spans = 2000;
// The tracks that are drawn (engine/comm/trace.hpp): the phases of the step, and the sums of gradients beside them.
constexpr std::string_view training = "training", sums = "sums";

// A span that is drawn, on rank 0's clock.
struct Slice {
  std::size_t row = 0;
  std::string name;
  double begin_s = 0, end_s = 0;
};

// The step in the middle of those that rank 0 recorded, because the first steps are slower.
std::optional<std::int64_t> middle_step(const TraceRecord& record)
{
  std::set<std::int64_t> steps;
  for (const auto& span : record.spans)
    if (span.step > 0) steps.insert(span.step);
  if (steps.empty()) return std::nullopt;
  return *std::next(steps.begin(), static_cast<std::ptrdiff_t>(steps.size() / 2));
}

struct Drawn {
  std::size_t ranks = 0;
  std::vector<std::string> rows; // "rank 0 on host1", "rank 0: sums"
  std::vector<Slice> slices;
};

const std::string& name_at(const TraceRecord& record, int index) { return record.names.at(static_cast<std::size_t>(index)); }

// The span `step` encloses all others and would hide them, and an evaluation is no part of a step and much longer.
bool is_drawn(std::string_view name) { return name != "step" && name != "evaluation"; }

void add_track(Drawn& drawn, const TraceRecord& record, std::string_view track, std::int64_t step, const std::string& row)
{
  std::vector<Slice> slices;
  for (const auto& span : record.spans)
    if (span.step == step && name_at(record, span.track) == track && is_drawn(name_at(record, span.name)))
      slices.push_back({drawn.rows.size(), name_at(record, span.name), record.aligned_s(span.begin_ns),
                        record.aligned_s(span.begin_ns + span.length_ns)});
  if (slices.empty()) return;
  drawn.rows.push_back(row);
  drawn.slices.insert(drawn.slices.end(), slices.begin(), slices.end());
}

Drawn drawn_of(const std::vector<TraceRecord>& ranks, std::int64_t step)
{
  Drawn drawn;
  for (const auto& record : ranks) {
    if (drawn.slices.size() > most_spans) break; // the caption says how many ranks are drawn
    ++drawn.ranks;
    add_track(drawn, record, training, step, fmt::format("rank {} on {}", record.rank, record.host));
    add_track(drawn, record, sums, step, fmt::format("rank {}: sums", record.rank));
  }
  return drawn;
}

std::vector<Series> series_of(const Drawn& drawn)
{
  double first_s = std::numeric_limits<double>::infinity();
  for (const auto& slice : drawn.slices) first_s = std::min(first_s, slice.begin_s);
  std::vector<Series> all;
  std::map<std::string, std::size_t> places;
  for (const auto& slice : drawn.slices) {
    const auto [place, is_new] = places.try_emplace(slice.name, all.size());
    if (is_new) all.push_back({.name = slice.name, .mark = Mark::floating, .points = {}, .colour = static_cast<int>(all.size())});
    const double begin_ms = (slice.begin_s - first_s) * 1e3, end_ms = (slice.end_s - first_s) * 1e3;
    all[place->second].points.push_back(
        {static_cast<double>(slice.row), end_ms - begin_ms, begin_ms, end_ms, fmt::format("{:.3g} ms", end_ms - begin_ms)});
  }
  return all;
}

// The traced run of the most ranks; of several, the one that comes last in the study's order.
struct Traced {
  const store::RunRow* run;
  AttemptFolder attempt;
};
std::optional<Traced> widest_traced(const ChartSource& source)
{
  std::optional<Traced> widest;
  for (const auto& run : source.runs) {
    if (!run.records_trace || (widest && run.ranks < widest->run->ranks)) continue;
    if (auto attempt = traced_attempt(source.home, run.key)) widest.emplace(Traced{&run, *attempt});
  }
  return widest;
}

} // namespace

Charts timeline_chart(const ChartSource& source)
{
  constexpr const char* none =
      "No run of this study was traced. Run its recipe again with: dtctl sweep RECIPE --set train.trace=true";
  const auto traced = widest_traced(source);
  const auto left_none = [](const store::RunRow& run) { return run.strategy.empty() && run.records_trace; };
  if (!traced && !source.runs.empty() && std::all_of(source.runs.begin(), source.runs.end(), left_none))
    return {
        {},
        "The study runs a program of your own that trains neither with dtctl_sync nor with a PyTorch that dtctl observes, and "
        "such programs record no timelines."};
  const auto is_run_simulated = [&](const store::RunRow& run) { return is_simulated(source, run.series); };
  if (!traced && !source.runs.empty() && std::all_of(source.runs.begin(), source.runs.end(), is_run_simulated))
    return {{}, "The study was simulated, and simulated runs record no timelines."};
  if (!traced) return {{}, none};
  const auto ranks = read_timelines(traced->attempt, most_ranks).ranks;
  const auto step = ranks.empty() ? std::nullopt : middle_step(ranks.front());
  if (!step) return {{}, "The timelines of " + traced->run->name + " hold no step."};
  auto drawn = drawn_of(ranks, *step);
  if (drawn.slices.empty()) return {{}, "The timelines of " + traced->run->name + " hold no phases."};
  Chart chart{.id = "timeline",
              .title = fmt::format("Timeline of step {}: {}", *step, traced->run->name),
              .caption =
                  fmt::format("One step in the middle of the run, of {} of {} ranks, on rank 0's clock. For all steps: dtctl "
                              "trace {} -o trace.json",
                              drawn.ranks, traced->run->ranks, traced->run->key.substr(0, 10)),
              .x = {.title = "", .categories = drawn.rows},
              .y = {.title = "time since the step began [ms]", .from_zero = true},
              .series = series_of(drawn),
              .is_horizontal = true};
  return {{std::move(chart)}, ""};
}

} // namespace dt::cli
