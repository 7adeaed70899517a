// ProgramMeasurement: the figures of the result of a user's own program, from what its ranks have reported. They have the
// definitions of dtengine's (core/record/fields.cpp); what no rank has reported is not measured.
#pragma once

#include "core/record/measuring/divergence.hpp"
#include "core/record/run_record.hpp"
#include "jobs/program/reports/printed_rates.hpp"
#include "jobs/program/reports/rank_report.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

// Says that the launcher of the program has started the ranks again, and what that means for the figures of the run.
std::string words_of_restarts(int restarts);

// Whether the figures of a run count the step in this line of a rank's report. `attempt`: continued_attempt().
bool is_measured(const RunSpec& spec, int attempt, const RankReport& report, std::size_t line);

class ProgramMeasurement {
 public:
  // `attempt`: continued_attempt(). A later one than the first that does not report begin() may have begun anywhere.
  explicit ProgramMeasurement(const RunSpec& spec, int attempt = 1) : spec_(spec), attempt_(attempt) {}
  // Adds the next rank; rank 0 first. The report is not needed afterwards.
  void add(const RankReport& report);
  // The result of the run. Its time is now.
  RunResult result() const;
  // A caveat for each gap in the reports of the ranks. Figures that need the missing reports count as not measured.
  std::vector<CaveatLine> gaps() const;
  // How the throughput comes from those that rank 0 has printed.
  const RunRate& printed_rate() const { return printed_rate_; }

 private:
  // Figures of one reported step, over the ranks that reported it.
  struct StepSums {
    double samples = 0; // NaN if a rank did not report them
    bool is_measured = false;
  };
  // Figures of the measured steps from one meeting of all workers to the next, over the ranks that reported them.
  struct IntervalSums {
    double useful_max_s = 0, busy_max_s = 0; // NaN if a rank did not report a phase that they need
    double paused_max_s = 0, occupied_max_s = 0;
    double busy_sum_s = 0;
    int latest = -1; // index of the rank with the most time in work and input
  };
  // Time of one rank in an interval.
  struct OwnInterval {
    double useful_s = 0, busy_s = 0, paused_s = 0; // paused_s: busy_s and the time between epochs
    double occupied_s = 0;                         // all but communication
  };

  // A rank's report, in short.
  struct RankOutline {
    int rank = 0;
    std::int64_t last_step = 0; // 0: it reported no steps
    bool has_result = false;
    bool is_server = false; // a parameter server of dtctl_sync, which has no steps of its own
  };

  std::size_t ranks_with_steps() const;
  bool is_silent(const RankOutline& rank) const;
  bool has_stopped(const RankOutline& rank) const;
  bool is_complete() const;
  bool are_copies() const;
  bool counts_samples() const { return !are_copies() && is_complete(); }
  std::size_t workers() const;
  std::int64_t interval_of(const RankReport& report, const StepLine& step) const;
  void add_intervals(const std::map<std::int64_t, OwnInterval>& own);
  void look_for_slow_start(const std::vector<double>& step_s, const std::vector<std::int64_t>& numbers);
  void add_root(const RankReport& report);
  void set_clock_of_lines(const RankReport& report);
  void add_to_target(RunResult& result) const;
  void add_work(RunResult& result) const;
  void add_fast_worker(WorkSums& work) const;
  void add_throughput(RunResult& result) const;
  void add_scores(RunResult& result) const;
  void add_sync(RunResult& result) const;
  void add_between(RunResult& result) const;
  void add_caveats(RunResult& result) const;

  RunSpec spec_;
  int attempt_;
  RankReport root_; // rank 0, without its steps
  RunRate printed_rate_;
  std::vector<std::int64_t> root_steps_;   // the numbers of its steps
  std::optional<std::int64_t> first_step_; // steps that were done before this attempt; nothing: not known
  std::int64_t latest_step_ = 0;           // of any rank
  std::vector<RankOutline> reported_;      // of each rank
  double first_clock_s_ = not_measured;    // when the training began
  std::string clock_doubt_;                // why the times at which lines were read do not tell when they were printed
  double last_clock_s_ = not_measured;
  std::string slow_start_; // in words; empty: no rank has one
  Reported final_loss_;
  std::vector<Divergence> divergences_; // of each rank
  std::vector<CaveatLine> caveats_;     // that the ranks have reported
  BetweenEpochs between_{0, 0, 0};      // sums over the ranks that reported steps
  std::vector<StepSums> sums_;          // one per reported step, in order
  std::map<std::int64_t, IntervalSums> intervals_;
  std::map<std::int64_t, std::int64_t> updates_; // of dtctl_sync: staleness -> number of updates
  std::vector<RankRecord> ranks_;
  std::vector<double> step_samples_;                            // of each rank that reported measured steps: their mean
  std::vector<double> useful_s_, measured_s_, communication_s_; // of each rank that reported steps, over the measured steps
  std::vector<std::vector<double>> useful_steps_s_;             // of the same ranks, in each interval
};

} // namespace dt::jobs
