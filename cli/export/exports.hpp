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

} // namespace dt::cli
