// The measurements of a study that predictions are made from.
#pragma once

#include "core/record/prediction_record.hpp"
#include "store/analysis/prediction/measured_study.hpp"
#include "store/database/database.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::store {

// What a study's sizes count.
enum class SizeUnit { nodes, ranks };

// The series of a study with their succeeded runs, in the study's order, without A/A controls and without runs that recorded no
// times of their ranks. `unit`: what sizes count; without it nodes if they vary within the study, else ranks. Throws Error
// (usage) if the study cannot be counted in nodes because the number of ranks on a node varies. `labels`: only the series with
// these; empty: all.
std::vector<SeriesMeasurements> measurements_of_study(Database& database, const std::string& study_id,
                                                      std::optional<SizeUnit> unit, const std::vector<std::string>& labels = {});

// A stored prediction and the measurement of the same recipe, series, strategy, model, size and global batch.
struct ScoredPrediction {
  PredictionRecord prediction;
  std::int64_t runs = 0;          // succeeded runs of the size, in any study of this name; 0: it has not run yet
  double measured = not_measured; // geometric mean of their throughputs, in samples/s
  double error = not_measured;    // predicted / measured - 1
  bool is_inside() const { return prediction.throughput_low <= measured && measured <= prediction.throughput_high; }
};

// Those of studies with this name; of all studies if it is empty. By recipe, series and size.
std::vector<ScoredPrediction> scored_predictions(Database& database, const std::string& recipe);

} // namespace dt::store
