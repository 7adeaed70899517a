// The rows of the view runs_flat that a selection names: every parameter, state and measurement of each run.
#pragma once

#include "cli/runs/selectors.hpp"
#include "store/database/database.hpp"

#include <map>
#include <string>

namespace dt::cli {

class FlatRows {
 public:
  explicit FlatRows(store::Table table);
  const store::Table& table() const { return table_; }
  std::size_t size() const { return table_.rows.size(); }
  // A column that runs_flat does not have is an internal error.
  const store::Cell& cell(std::size_t row, const std::string& column) const;
  // The value as text; empty for NULL.
  std::string text(std::size_t row, const std::string& column) const;
  // NaN for NULL and for text.
  double number(std::size_t row, const std::string& column) const;
  bool has_column(const std::string& column) const { return columns_.contains(column); }

 private:
  store::Table table_;
  std::map<std::string, std::size_t> columns_;
};

// RunRow::samples_of_step.
double samples_of_step(const FlatRows& rows, std::size_t row);

// One row for each selected run: as part of the selected study, else of the run's newest study.
FlatRows flat_rows(ResultsStore& results, const Selection& selection);

} // namespace dt::cli
