// The charts of a study, a function for each kind.
#pragma once

#include "cli/report/chart/chart.hpp"
#include "cli/report/chart/chart_source.hpp"
#include "store/analysis/attribution.hpp"

#include <span>
#include <string_view>

namespace dt::cli {

Charts efficiency_chart(const ChartSource& source);
Charts speedup_chart(const ChartSource& source);
// One chart for each drawn label: its largest size.
Charts waterfall_charts(const ChartSource& source);
// The same from the study's attributions, where the caller has them already.
Charts waterfall_charts(const ChartSource& source, const std::vector<store::Attribution>& points);
// A loss that falls by more than a factor of 20 is drawn on a logarithmic scale, wherever it is drawn.
AxisScale loss_scale(const std::vector<Series>& all);
Charts loss_over_time(const ChartSource& source);
Charts loss_over_samples(const ChartSource& source);
Charts accuracy_over_time(const ChartSource& source);
Charts accuracy_over_samples(const ChartSource& source);
// Draws the gradient noise scale over samples. Missing if no run measured it.
Charts noise_scale_chart(const ChartSource& source);
Charts target_chart(const ChartSource& source);
Charts pareto_chart(const ChartSource& source);
// Missing if no run's energy was measured.
Charts energy_chart(const ChartSource& source);
Charts phase_chart(const ChartSource& source);
// One chart for each drawn label with enough measured sizes.
Charts prediction_charts(const ChartSource& source);
Charts timeline_chart(const ChartSource& source);
Charts drift_chart(const ChartSource& source);
// One chart for each key that study.tune has tuned.
Charts tuning_charts(const ChartSource& source);

// A value of `dtctl plot --kind`: its name, its line of help and the function that makes its charts.
struct ChartKind {
  std::string_view name;
  std::string_view help;
  Charts (*make)(const ChartSource&);
};
std::span<const ChartKind> chart_kinds();

} // namespace dt::cli
