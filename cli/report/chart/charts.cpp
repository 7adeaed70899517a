#include "cli/report/chart/charts.hpp"

#include <array>

namespace dt::cli {

std::span<const ChartKind> chart_kinds()
{
  static constexpr std::array kinds{
      ChartKind{"efficiency", "efficiency over the size, with 95 % intervals", efficiency_chart},
      ChartKind{"speedup", "speed-up over the size, with 95 % intervals and the ideal line", speedup_chart},
      ChartKind{"waterfall", "from the ideal efficiency to the measured one: what each cause takes",
                [](const ChartSource& source) { return waterfall_charts(source); }},
      ChartKind{"loss", "training loss over time; over samples with --x samples", loss_over_time},
      ChartKind{"accuracy", "accuracy of the evaluations over time; over samples with --x samples", accuracy_over_time},
      ChartKind{"noise-scale", "gradient noise scale over samples (needs train.noise_scale)", noise_scale_chart},
      ChartKind{"target", "time to the target accuracy of each point", target_chart},
      ChartKind{"pareto", "time against node-hours, with the points that no other point beats in both", pareto_chart},
      ChartKind{"energy", "time against joules of a run, with the points that no other point beats in both", energy_chart},
      ChartKind{"phases", "phases of a step by size, stacked", phase_chart},
      ChartKind{"prediction", "measured throughput, and the band predicted for larger sizes", prediction_charts},
      ChartKind{"timeline", "what each rank did over one step (needs train.trace)", timeline_chart},
      ChartKind{"tuning", "what each setting costs that study.tune has tried; of two keys choose with --x KEY", tuning_charts},
      ChartKind{"drift", "throughput of each run relative to its point, over the time of the study", drift_chart},
  };
  return kinds;
}

} // namespace dt::cli
