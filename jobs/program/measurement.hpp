// ProgramMeasurement: the figures of the result of a user's own program, from what its ranks have reported. They have the
// definitions of dtengine's (core/record/fields.cpp); what no rank has reported is not measured.
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/program/report_lines.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dt::jobs {

// What one rank has reported.
struct RankReport {
  RankLine start;
  std::optional<BeginLine> begin;
  std::vector<StepLine> steps;
  std::vector<EvaluationLine> evaluations;
  double memory_bytes = not_measured;
  double throughput = not_measured; // as the program prints it (program.metrics)
  std::optional<ErrorLine> error;
  std::optional<ResultLine> result;
  std::int64_t damaged_lines = 0;

  // Takes one line of the rank's report.
  void take(const ReportLine& line);
};

class ProgramMeasurement {
 public:
  explicit ProgramMeasurement(const RunSpec& spec) : spec_(spec) {}
  // Adds the next rank; rank 0 first. The report is not needed afterwards.
  void add(const RankReport& report);
  // The result of the run. Its time is now.
  RunResult result() const;

 private:
  // Figures of one reported step, over the ranks that reported it.
  struct StepSums {
    double samples = 0;                      // NaN if a rank did not report them
    double useful_max_s = 0, busy_max_s = 0; // NaN if a rank did not report a phase that they need
    double busy_sum_s = 0;
    int latest = -1; // index of the rank with the most time in work and input
    bool is_measured = false;
  };

  bool is_measured(const RankReport& report, std::size_t line) const;
  void add_root(const RankReport& report);
  void add_to_target(RunResult& result) const;
  void add_work(RunResult& result) const;
  void add_throughput(RunResult& result) const;

  RunSpec spec_;
  RankReport root_;                      // rank 0, without its steps
  std::vector<std::int64_t> root_steps_; // the numbers of its steps
  std::int64_t first_step_ = 0;          // steps that were done before this attempt
  double last_clock_s_ = not_measured, final_loss_ = not_measured;
  std::vector<StepSums> sums_; // one per reported step, in order
  std::vector<RankRecord> ranks_;
  std::vector<double> useful_s_, measured_s_, communication_s_; // of each rank that reported steps, over the measured steps
};

} // namespace dt::jobs
