// What-if: predictions with one property of the machine or the run changed. Pure functions.
#pragma once

#include "store/analysis/prediction/calibration.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A change, as the command line writes it: "bandwidth=2x" (a factor), "latency=0", "jitter=0", "overlap=perfect", "input=0".
struct Change {
  enum class What { bandwidth, latency, jitter, overlap, input } what = What::bandwidth;
  double factor = 1; // bandwidth: of bytes per second; latency, jitter, input: of the time or the scatter
  std::string text;
};

// Reads "bandwidth=2x,latency=0"; "all" stands for the five changes of usual_changes(). Throws Error (usage) with the allowed
// forms.
std::vector<Change> parse_changes(const std::vector<std::string>& texts);

// bandwidth=2x, latency=0, jitter=0, overlap=perfect, input=0.
std::vector<Change> usual_changes();

Calibration changed(Calibration calibration, const Change& change);

// One change and its gain at a size: throughput with the change, divided by that without it, minus 1.
struct Gain {
  Change change;
  double throughput = 0; // samples/s, with the change
  double gain = 0;
};

// Largest gain first.
std::vector<Gain> gains(const Calibration& calibration, const StudySize& size, std::span<const Change> changes);

} // namespace dt::store
