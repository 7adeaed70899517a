// Statistics over the measured steps of one rank.
#pragma once

#include "core/record/run_record.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace dt::train {

// Durations of many steps. Samples are stored as floats (24 bytes per step for all series together); totals are summed in double.
class TimeSeries {
 public:
  void add(double seconds);
  // Total, mean, maximum and quantiles (core/maths/statistics.hpp).
  // All zero when there are no samples.
  PhaseStats summary() const;
  double total_s() const { return total_s_; }
  std::vector<double> all_s() const { return {samples_.begin(), samples_.end()}; }

 private:
  std::vector<float> samples_;
  double total_s_ = 0;
};

class StepStatistics {
 public:
  // Adds one measured step: its phases (evaluation is ignored) and its wall time.
  void add_step(const std::array<double, phase_count>& phase_s, double step_s);
  // Adds one evaluation after the warm-up steps.
  void add_evaluation(double seconds);
  // The phase's share of the time of all measured steps; NaN without steps.
  double share(Phase phase) const { return phases_[static_cast<std::size_t>(phase)].total_s() / steps_.total_s(); }
  // Wall times of the measured steps in order, in s.
  std::vector<double> steps_s() const { return steps_.all_s(); }
  // Fills in the phases and the step of a record.
  void fill(RankRecord& record) const;

 private:
  std::array<TimeSeries, phase_count> phases_;
  TimeSeries steps_;
};

} // namespace dt::train
