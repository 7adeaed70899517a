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
  LinkFit link_fit{}; // what `link` was fitted to; without samples if it was given
  double trunk_share =
      1; // of the trunks between supernodes (trunk_stretch); 1: they limit nothing, or nothing is known about them
  double service_s = 0, service_link_s = 0, after_answer_s = 0; // of one exchange with the servers (ServedStep)
  // Measured time of a step divided by the replayed one, at the largest size. Every prediction is multiplied by it.
  double correction = 1;
  // Beyond the largest measured size, steps take (workers / those of that size)^growth times as long as the model says: what the
  // measured sizes show beyond the model goes on. 0: the model is all there is.
  double growth = 0;
  std::int64_t grown_from = 1;            // workers of the largest size
  std::vector<std::string> assumptions{}; // full sentences, for people
};

// `sizes`: one or more, ascending.
Calibration calibrate(const SeriesTraits& traits, std::span<const MeasuredSize> sizes, const LinkSource& links);

// The same calibration with the correction that makes the replay of this size agree with its measurement.
Calibration corrected(Calibration calibration, const MeasuredSize& size);

// The same calibration of a strategy with servers, with the service time that makes the replay of this size agree with its
// measurement if the servers are busy for `after_answer_s` after they have answered (ServedStep).
Calibration with_service(Calibration calibration, const MeasuredSize& size, double after_answer_s);

// The computation of a step as samples for `seconds = fixed_s + sample_s b`: one for each size with times.
struct ComputeSample {
  double batch = 0, seconds = 0;
};
std::vector<ComputeSample> compute_samples(std::span<const MeasuredSize> sizes);

// One step at a size of the series.
struct PredictedStep {
  double step_s = 0;        // mean, in seconds, with the correction
  double communication = 0; // exposed, as a share of the step: 0..1; with servers also waiting for them
  double stragglers = 0;    // share of the step in which the mean worker waits for the slowest one
  double busy = 0;          // share of the time in which the servers work, or in which sums pass the links: 0..1
};
PredictedStep step_at(const Calibration& calibration, const StudySize& size);
// The same for several calibrations of one series with equal scatter and buckets, which share one replay of the computation.
std::vector<PredictedStep> steps_at(std::span<const Calibration> calibrations, const StudySize& size);

// The replays' input at a size. `synchronous_at` is for strategies without servers, `served_at` for those with servers.
SynchronousStep synchronous_at(const Calibration& calibration, const StudySize& size);
ServedStep served_at(const Calibration& calibration, const StudySize& size);

} // namespace dt::store
