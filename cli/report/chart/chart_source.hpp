// A study as it is read from the results database to make its charts.
#pragma once

#include "store/analysis/statistics/scaling.hpp"
#include "store/analysis/verdict/compared_points.hpp"
#include "store/query/queries.hpp"

#include "core/home/home.hpp"

#include <set>
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
  // Chosen by choose_labels:
  std::vector<std::string> labels{}; // the labels that charts draw; their indices are the colours of their series in all charts
  std::size_t all_labels = 0;        // the number of labels that the study has
  std::set<std::string> simulated{}; // the labels whose runs were simulated
  store::PointLabels shown{};        // how labels are shown
};

// Reads the study's points from the database.
ChartSource chart_source(store::Database& database, const Home& home, const store::StudyRow& study,
                         std::vector<store::RunRow> runs);

// Largest number of labels in one chart: readers cannot tell more colours and marks apart.
inline constexpr std::size_t most_labels = 8;

// Chooses what charts draw from the points in `source`: all labels in the study's order, or the `most_labels` of the highest
// throughput at any size. To be called again by whoever changes the points.
void choose_labels(ChartSource& source);

// Whether the runs of this label were simulated. A label's runs are either all simulated or all measured.
inline bool is_simulated(const ChartSource& source, const std::string& label) { return source.simulated.contains(label); }

// Whether charts draw this label.
bool is_drawn(const ChartSource& source, const std::string& label);

// Returns " Drawn: the 8 labels of the highest throughput, of 20." Empty if all labels are drawn.
std::string drawn_note(const ChartSource& source);

// The name of a label in a legend: how it is shown, and the study's name where that is empty.
std::string legend_name(const ChartSource& source, const std::string& label);

// Returns "5 runs" or "1 run"; "of 6" is added where some did not succeed.
std::string runs_text(std::int64_t succeeded, std::int64_t runs);

// Whether the study divides the same cores into parts. Its sizes are the ranks of a node.
bool is_partition(const ChartSource& source);

// The unit of an axis of sizes: "nodes", "workers" or "ranks per node".
std::string size_title(const ChartSource& source);

// The place of a point on the axis of sizes, in the unit of size_title(). A study with parameter servers counts some labels in
// nodes and others in workers; all are then drawn at their number of workers.
double drawn_size(const ChartSource& source, const store::ScalingRow& row);

} // namespace dt::cli
