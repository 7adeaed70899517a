// What charts are made from: one study in the results database.
#pragma once

#include "store/analysis/scaling.hpp"
#include "store/analysis/verdict/compared_points.hpp"
#include "store/query/queries.hpp"

#include "core/paths.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct ChartSource {
  store::Database& database;
  const Home& home;
  store::StudyRow study;
  std::vector<store::RunRow> runs;            // of the study, in its order, with their current state
  std::vector<store::ScalingRow> scaling;     // store::scaling_of_study
  std::vector<store::ComparedPoint> compared; // store::points_of its runs
};

// Reads the study's points from the database.
ChartSource chart_source(store::Database& database, const Home& home, const store::StudyRow& study,
                         std::vector<store::RunRow> runs);

// Whether the runs of this label were simulated. A label's runs are either all simulated or all measured.
bool is_simulated(const ChartSource& source, const std::string& label);

// At most this many labels are drawn in one chart: more cannot be told apart.
inline constexpr std::size_t most_labels = 8;

// The labels that charts draw, in the study's order: all, or the `most_labels` of the highest throughput at any size. Their
// indices are the colours of their series in all charts.
std::vector<std::string> drawn_labels(const ChartSource& source);
// Returns " Drawn: the 8 labels of the highest throughput, of 20." Empty if all labels are drawn.
std::string drawn_note(const ChartSource& source);

// The name of a label in a legend: the study's name where the label is empty.
std::string legend_name(const ChartSource& source, const std::string& label);

// Returns "5 runs" or "1 run"; "of 6" is added where some did not succeed.
std::string runs_text(std::int64_t succeeded, std::int64_t runs);

// What sizes of the study count: "nodes", "workers" or "ranks per node".
std::string size_title(const ChartSource& source);

} // namespace dt::cli
