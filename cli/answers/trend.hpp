// The drift of one recipe over weeks and months: what `dtctl trend` shows of each point.
#pragma once

#include "cli/output/cell.hpp"
#include "store/analysis/doubts/separation.hpp"
#include "store/analysis/statistics/drift.hpp"
#include "store/query/separation_query.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

enum class Period { day, week, month };

// "2026-11-27": the first day of the period that holds this moment, in UTC. Weeks begin on Monday.
std::string begin_of(Period period, double unix_s);

// The runs of one study, which share the hour, and so are one value of a series.
struct TrendStudy {
  std::string id;
  double begin_unix_s = 0;
  double median = 0;
  std::vector<double> values;
  std::vector<std::string> news; // "kernels: 6.1.0-28": facts that no earlier study had
};

// The studies in the order of their first runs. `measured`: when and where the runs were measured (store::measured_of).
std::vector<TrendStudy> studies_of(const std::vector<store::TrendRun>& runs, const std::vector<store::Measured>& measured);

struct PointTrend {
  std::string title;
  std::vector<TrendStudy> studies;
  std::vector<store::ChangePoint> changes; // of the medians of the studies
};
PointTrend trend_of(std::string title, std::vector<TrendStudy> studies);

// A row for each period in which there were runs: the median of its runs with its interval, the change that it begins with or
// holds, and the facts that are new in it. `metric`: the heading of the values.
Table trend_table(const PointTrend& trend, Period period, std::string_view metric);

// The changes, for programs: times, medians before and after, p.
Json changes_json(const PointTrend& trend);

} // namespace dt::cli
