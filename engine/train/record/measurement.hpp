// Measurement: the measured steps of one attempt on one rank, that is, those after its warm-up steps. It keeps their times and
// what was sent and computed beside them, and derives the figures of the result from those of all ranks and attempts.
#pragma once

#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/roles.hpp"
#include "engine/train/record/node_load.hpp"
#include "engine/train/record/statistics.hpp"
#include "engine/train/record/work_times.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace dt::train {

class Measurement {
 public:
  // Sums over the measured steps, as in TrainingProgress.
  struct Totals {
    std::int64_t samples = 0;   // of all ranks
    double measured_s = 0;      // time of the slowest rank in the measured steps, without evaluations
    double communication_s = 0; // exposed communication in that time: the mean share of the workers times measured_s
    WorkSums work{};
  };
  struct Options {
    std::int64_t warmup_steps = 0;   // steps of this attempt that are not measured
    std::int64_t cores_per_rank = 1; // that a rank keeps busy
    std::int64_t global_batch = 0;   // samples of all ranks in one step
    Totals earlier{};                // of the attempts before this one
  };
  // Make it before a strategy keeps this thread off some cores. comm and roles must outlive it.
  Measurement(const Options& options, const sync::Roles& roles, comm::Communicator& comm)
      : options_(options), roles_(roles), comm_(comm), work_(roles, comm)
  {
  }

  // Before the first step. Here and below, training_s is the training time of all attempts so far, in seconds.
  void begin(double training_s);
  // After each step of this attempt. meets: Strategy::meets.
  void add_step(const std::array<double, phase_count>& phase_s, double step_s, double training_s, bool meets);
  // After an evaluation.
  void add_evaluation(double seconds);
  // After the last step: compares the load of the machines with that at the begin of the measured steps. Does nothing if a
  // resumed attempt ended before its warm-up did. Collective.
  void end();

  // Other load on the machines during the measured steps. Valid on rank 0 after end(); empty if this attempt measured no step.
  const LoadRecord& load() const { return load_; }
  // The totals of this attempt so far and of the attempts before it. Correct on rank 0 only. Collective.
  Totals totals();
  // Fills in the result's figures of the measured steps: ranks, times, throughput, communication, staleness. Call it after end().
  // staleness: from Strategy::staleness, on this rank. Complete on rank 0 only. Collective.
  void fill(RunResult& result, const std::vector<std::int32_t>& staleness);

 private:
  std::int64_t warmup_steps() const { return std::min(steps_, options_.warmup_steps); }
  std::int64_t measured_steps() const { return steps_ - warmup_steps(); }
  bool is_measured() const { return steps_ > options_.warmup_steps; }
  void begin_measuring(double training_s);
  RankRecord record() const;

  Options options_;
  const sync::Roles& roles_;
  comm::Communicator& comm_;
  std::vector<int> mask_ = cores_in_mask();
  std::int64_t steps_ = 0;             // of this attempt
  double measured_from_s_ = 0;         // training time at the begin of the first measured step
  double measured_until_s_ = 0;        // and at the end of the last one
  std::optional<LoadLook> load_begin_; // at the begin of the first measured step
  comm::Traffic warmup_traffic_;       // before the first measured step
  StepStatistics statistics_;
  WorkTimes work_;
  LoadRecord load_;
};

} // namespace dt::train
