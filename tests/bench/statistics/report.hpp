// What the cases of the statistics benchmark share: random numbers, and a report in rows.
#pragma once

#include "tests/support/simulated_machine.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace dt::bench {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  int trials = 4000; // simulated studies of a case; the standard error of a share of 5 % is then 0.34 points
  std::uint64_t seed = 1;
  // Of the simulated studies, only those of this machine, and of so many candidates, sizes and repeats; empty and 0: of all.
  std::string machine;
  std::size_t candidates = 0, sizes = 0, repeats = 0;
};

// Prints a row for each case: as a table, and as a line of JSON into a file.
class Report {
 public:
  // `json`: where the lines of JSON go; null: nowhere. It stays the caller's.
  explicit Report(std::FILE* json) : json_(json) {}
  // A row whose member `case` differs from that of the row before begins a table. Whole numbers and texts are printed as they
  // are, fractions as percentages; of members that begin with "runs", as numbers.
  void row(const Json& row);

 private:
  std::FILE* json_;
  Json last_case_;
};

// Computes the rows of all cases on all cores and prints them in their order. `row_of` gets the number of a case, and random
// numbers that no other case has.
void report_cases(Report& report, const BenchOptions& options, std::size_t count,
                  const std::function<Json(std::size_t, test::Draws&)>& row_of);

void report_comparisons(Report& report, const BenchOptions& options); // two samples, one property at a time
void report_gains(Report& report, const BenchOptions& options);       // studies with their rounds and without
void report_studies(Report& report, const BenchOptions& options);     // comparisons and rankings on all machines
void report_races(Report& report, const BenchOptions& options);       // sweep --until-decided
void report_tunings(Report& report, const BenchOptions& options);     // study.tune

} // namespace dt::bench
