// A stored prediction of one size of a study: <home>/predictions/ID.json. It is scored when the size has run.
#pragma once

#include "core/home/home.hpp"
#include "core/record/field.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace dt {

struct PredictionRecord {
  std::string id{};    // prediction_id
  std::string study{}; // id of the study that it was made from
  // A run scores this prediction if all of these are equal.
  std::string recipe{}; // the study's name
  std::string series{}; // label without the size
  std::string strategy{}, model{};
  std::int64_t nodes = 0, ranks = 0;
  double global_batch = 0;

  double predicted_unix_s = 0;
  std::int64_t largest_size = 0; // the largest measured size that it was made from
  std::int64_t backtests = 0;
  double level = 0; // of the intervals
  double throughput = not_measured, throughput_low = not_measured, throughput_high = not_measured;
  double efficiency = not_measured, efficiency_low = not_measured, efficiency_high = not_measured;
  double time_s = not_measured, node_hours = not_measured;
  bool extrapolation = false;
  std::string changes{}; // what changes since the largest measured size, or may: "server_saturates,distance"
  // Then throughput, efficiency, time and node-hours are not_measured, and only the intervals say something.
  bool unidentified = false;
  std::int64_t measure = 0; // the size whose measurement would narrow the interval; 0: none is needed
};

// A hash of study, series and size: a later prediction of the same from the same replaces the earlier one.
std::string prediction_id(const PredictionRecord& prediction);

std::string to_json(const PredictionRecord& prediction);
// Returns nothing if the file is missing, damaged or of another format.
std::optional<PredictionRecord> read_prediction(const std::filesystem::path& file);

// Writes <home>/predictions/ID.json, whole or not at all.
void write_prediction(const Home& home, const PredictionRecord& prediction);

} // namespace dt
