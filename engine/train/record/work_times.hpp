// WorkTimes: this rank's useful time and input wait in each measured step, and their sums and maxima over the workers, from
// which the loss of efficiency is attributed (WorkSums).
#pragma once

#include "core/record/measuring/fast_worker.hpp"
#include "core/record/run_record.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/roles.hpp"

#include <array>
#include <span>
#include <vector>

namespace dt::train {

class WorkTimes {
 public:
  // roles and comm must outlive it.
  WorkTimes(const sync::Roles& roles, comm::Communicator& comm) : roles_(roles), comm_(comm) {}

  // Adds a measured step. meets: whether all workers wait for each other in this step (Strategy::meets); equal on all ranks.
  void add_step(const std::array<double, phase_count>& phase_s, bool meets);
  // Adds the steps since the last call to the sums, and ends the interval that the last of these steps belongs to. Collective.
  void collect();

  // Of the collected steps; equal on all ranks.
  const WorkSums& sums() const { return sums_; }
  // Of the collected steps; RankRecord::late_s.
  double late_s() const { return late_s_; }

 private:
  // Of one value for each interval, over the workers; equal on all ranks.
  std::vector<double> maxima(const std::vector<double>& own) const;
  std::vector<double> means(const std::vector<double>& own) const;
  // On rank 0 a row for each worker, of as many values as each rank passes. Empty on the other ranks.
  std::vector<std::vector<double>> of_workers(std::span<const double> own) const;
  // Rank 0's value, on every rank.
  double of_root(double value) const;
  // fast_steps of the intervals since the last collection; equal on all ranks, as fast_sum_s of all collected steps.
  FastSteps fast_steps_s() const;
  double fast_worker_s() const;
  void add_lateness(const std::vector<double>& busy_max);

  const sync::Roles& roles_;
  comm::Communicator& comm_;
  // One value for each interval since the last collection: the steps from one meeting to the next.
  std::vector<double> useful_, busy_;
  bool interval_is_open_ = false;
  double own_useful_s_ = 0; // of the collected steps
  double late_s_ = 0;
  WorkSums sums_{.useful_fast_s = 0, .useful_step_fast_s = 0, .common_pauses_s = 0, .pauses_s = 0};
};

} // namespace dt::train
