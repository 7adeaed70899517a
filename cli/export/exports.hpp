// The formats of `dtctl export`, a function for each.
#pragma once

#include "cli/command/context.hpp"
#include "cli/export/flat_rows.hpp"
#include "cli/runs/selectors.hpp"
#include "store/database/database.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

// One JSON document in which `runs` holds an object for each row. `beside`: tables that have members of their own
// (store::rows_beside_runs).
std::string json_document(const store::Table& rows, const std::vector<std::pair<std::string, store::Table>>& beside);

// JSON Lines: an object for each row, in a line of its own, with the members of json_document's `runs`.
std::string json_lines(const store::Table& rows);

// The JSON input of Extra-P: mean times of a step and of its phases over the number of ranks, a value for each succeeded run but
// the A/A controls. With several labels each has a call path of its own. Throws a usage error if no run has times.
std::string extra_p_of(ResultsStore& results, const FlatRows& rows);

// Writes gauges of the studies that the selected runs belong to, for the textfile collector of Prometheus' node_exporter.
void export_prometheus(Context& context, ResultsStore& results, const Selection& selection, const std::filesystem::path& file);

// The options of --format trace.
struct TimelineChoice {
  std::string steps; // "100-110", both included; empty: all
  int attempt = 0;   // 0: the latest attempt that has timelines
};
// Writes what every rank of the newest selected run that has timelines did over time, as Chrome trace events; to standard output
// for
// `-` and without a file. Throws a usage error that says what to do if the run has none.
void export_timelines(Context& context, const Selector& selector, const std::string& file, const TimelineChoice& choice);

// The options of --format weights.
struct WeightsChoice {
  std::string what = "weights"; // or "optimizer", "strategy": their buffers
  bool list = false;            // print names and shapes, and write nothing
  bool force = false;           // replace an existing file
};
// Writes tensors of the last checkpoint of the selected run, or of the checkpoint FILE.safetensors that the selector names, into
// a .safetensors or .npz file; for `-` as safetensors to standard output. Throws a usage error without a file, unless they are
// listed.
void export_weights(Context& context, const Selector& selector, const std::string& file, const WeightsChoice& choice);

} // namespace dt::cli
