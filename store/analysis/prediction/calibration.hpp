// Calibration: the parameters of the replays, from the measurements of a series. Pure functions.
#pragma once

#include "store/analysis/prediction/link_fit.hpp"
#include "store/analysis/prediction/server_queue.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// What the replays need, for any size of the series.
struct Calibration {
  SeriesTraits traits;
  // Compute time of a worker and a step with a batch of b samples: fixed_s + sample_s b. With one batch size, fixed_s is 0.
  double fixed_s = 0, sample_s = 0;
  double input_s = 0, update_s = 0; // of a worker and a step, at the largest size
  StepSpread spread{};
  std::vector<Bucket> buckets{};
  CostModel link{};
  double service_s = 0, service_link_s = 0; // of one exchange with the servers (ServedStep)
  // Measured time of a step divided by the replayed one, at the largest size. Every prediction is multiplied by it.
  double correction = 1;
  std::vector<std::string> assumptions{}; // full sentences, for people
};

// `sizes`: one or more, ascending.
Calibration calibrate(const SeriesTraits& traits, std::span<const MeasuredSize> sizes, const LinkSource& links);

// One step at a size of the series.
struct PredictedStep {
  double step_s = 0;        // mean, in seconds, with the correction
  double communication = 0; // exposed, as a share of the step: 0..1; with servers also waiting for them
  double stragglers = 0;    // share of the step in which the mean worker waits for the slowest one
};
PredictedStep step_at(const Calibration& calibration, const StudySize& size);

// The replays' input at a size. `synchronous_at` is for strategies without servers, `served_at` for those with servers.
SynchronousStep synchronous_at(const Calibration& calibration, const StudySize& size);
ServedStep served_at(const Calibration& calibration, const StudySize& size);

} // namespace dt::store
