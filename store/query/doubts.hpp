// Collects everything that may have disturbed the measurements of runs: drift, slow nodes, busy machines.
#pragma once

#include "store/analysis/doubts/busy_machine.hpp"
#include "store/analysis/doubts/contamination.hpp"
#include "store/analysis/statistics/batch_rule.hpp"
#include "store/database/database.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::store {

// A run with a result whose loss or accuracy was NaN or infinite somewhere.
struct NotFiniteRun {
  std::string run;
  std::int64_t steps = 0; // with such a training loss
  std::string divergence; // RunResult::divergence
  std::string accuracy;   // "NaN" if the last evaluation's is
};

// Something that the runs of a study should have in common and have not.
struct MixedDependence {
  std::string name;                        // "Python environments" (store/query/dependences.hpp)
  std::map<std::string, std::size_t> runs; // number of runs by text
};

// A label of which the recorded samples of a step contradict the recipe.
struct BatchDoubt {
  enum class Kind {
    mode,  // the study's kind: samples follow the workers in another way
    batch, // train.global_batch or train.batch_per_rank
  };
  Kind kind = Kind::mode;
  std::string label;    // the series
  std::string told;     // mode: the study's kind; batch: the key
  double of_recipe = 0; // batch: samples of a step of all workers, as the recipe says
  BatchRule recorded;   // its sizes; batch: of the smallest size that contradicts
};

// Measured runs that were too short for a machine with other processes: a pause of 20 ms is one per cent of two seconds.
struct ShortRuns {
  std::size_t runs = 0;
  double shortest_s = 0;
};
inline constexpr double least_measured_s = 2;

// Caveats of one kind (core/record/measuring/caveats.hpp).
struct CaveatedRuns {
  std::size_t runs = 0;
  std::map<std::string, std::size_t> sentences; // number of runs by sentence
};

struct Doubts {
  // Drift of the machine during a study. Nothing if fewer than two of the asked controls succeeded in the same allocation.
  std::optional<Drift> drift;
  std::vector<Outlier> outliers; // hosts and runs that were slower than comparable ones in the probe before the first step
  std::vector<BusyRun> busy;
  std::vector<NotFiniteRun> not_finite;
  std::vector<ThrottledRun> throttled; // a CPU quota held them back; nobody else was to blame for it
  ShortRuns too_short;                 // measured for less than least_measured_s; not simulated
  std::size_t measured_runs = 0;       // asked runs that have a result
  std::size_t modelled_runs = 0;       // of these, executed runs whose computation was modelled (train.modelled_rate)
  // The machines on which runs were simulated, each with the number of these runs.
  std::map<std::string, std::size_t> simulated_runs;
  std::map<std::string, CaveatedRuns> caveats; // by kind
  // Of runs of the user's own program that have a result.
  std::vector<BatchDoubt> batches;
  std::vector<MixedDependence> mixed;
  std::size_t not_as_submitted = 0; // ran with other packages than those of their key, or with another interpreter
  // The same, but their program imports none of these packages; and what differed in one of them.
  std::size_t unused_changes = 0;
  std::string unused_text;
};

// Reports on the runs with these keys. They must belong to the given study and are compared with all of its runs. With an empty
// id, they are compared with each other.
Doubts doubts_of(Database& database, const std::string& study_id, const std::vector<std::string>& keys);

} // namespace dt::store
