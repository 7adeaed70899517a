// Statistics over the measured steps of one rank.
#pragma once

#include "core/run_record.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace dt::engine {

// Times of many steps. Samples are kept as floats (24 bytes a step); totals are summed in double.
class TimeSeries {
public:
  void add(double seconds);
  // Total, mean, maximum, and percentiles by nearest rank: p50 is the smallest sample that half of all do not exceed.
  // All zero when there are no samples.
  PhaseStats summary() const;
  double total_s() const { return total_s_; }

private:
  std::vector<float> samples_;
  double total_s_ = 0;
};

class StepStatistics {
public:
  // One measured step: its phases (evaluation is ignored) and its wall time.
  void add_step(const std::array<double, phase_count>& phase_s, double step_s);
  // One evaluation after the warm-up steps.
  void add_evaluation(double seconds);
  // The phase's part of all measured step time; NaN when there is none.
  double share(Phase phase) const { return phases_[static_cast<std::size_t>(phase)].total_s() / steps_.total_s(); }
  // Fills phases and step of a record.
  void fill(RankRecord& record) const;

private:
  std::array<TimeSeries, phase_count> phases_;
  TimeSeries steps_;
};

} // namespace dt::engine
