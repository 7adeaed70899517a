// Estimates how long a study will still take from the wall times of its runs that have finished. Pure functions.
#pragma once

#include "core/record/field.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace dt::cli {

// A run, as the estimate of the remaining time needs it.
struct TimedRun {
  enum class Stage { finished, running, waiting };
  Stage stage = Stage::waiting;
  std::string label{}; // without the size
  std::int64_t nodes = 1, ranks = 1;
  double wall_s = not_measured; // of a finished run: from the start of its job to its end
  double done = not_measured;   // of a running run: the share of its work that is done, 0 to 1; NaN: unknown
  double elapsed_s = 0;         // of a running run: since its job started
  std::int64_t places = 1;      // in the queue, that it takes while it runs
};

// The runs that a queue lets run at the same time.
struct QueueRoom {
  std::int64_t places = 1;                                           // cores of this machine, or jobs of a cluster
  std::int64_t most_runs = std::numeric_limits<std::int64_t>::max(); // at the same time, whatever their places
};

// Seconds until all runs have ended, if the queue starts the waiting runs in their order and none overtakes. The expected wall
// time of a run is the median of the finished runs of its point (label and size), else of the nearest size of its label, else of
// all finished runs. Of a running run, the share that is done is subtracted, or, if that is unknown, the time that has passed.
// NaN if no run has finished: there is nothing to estimate from. 0 if all have.
double study_remaining_s(std::span<const TimedRun> runs, const QueueRoom& room);

} // namespace dt::cli
