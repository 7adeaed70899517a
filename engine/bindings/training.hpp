// Training: one rank's training under a strategy, for a program that computes with a library of its own. What the C interface
// (dtctl_sync.h) does, in C++.
#pragma once

#include "engine/bindings/program_replica.hpp"
#include "engine/bindings/settings.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/timeline.hpp"
#include "engine/sync/strategy.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dt::bindings {

// The phases of a rank's last step that a strategy times; also spans of its timeline.
class SyncClock : public sync::PhaseClock {
 public:
  explicit SyncClock(comm::Communicator& comm) : comm_(comm) {}
  void begin_step() { times_ = {}; }
  void begin_compute() { in_compute_ = true; }
  void end_compute() { in_compute_ = false; }
  void begin_communication() override;
  void end_communication() override;
  void begin_update() override;
  void end_update() override;
  const dtctl_sync_times& times() const { return times_; }

 private:
  void draw(const char* name, double end_s) const;

  comm::Communicator& comm_;
  dtctl_sync_times times_{};
  double mark_s_ = 0;
  bool in_compute_ = false;
};

class Training {
 public:
  // world: all ranks; must stay valid. Throws the errors of the settings and of the strategy. Collective.
  Training(Settings settings, MPI_Comm world);

  const RunSpec& spec() const { return settings_.spec; }
  std::size_t floats() const { return layout_.floats; }
  dtctl_sync_place place() const;
  // The layout of tensors with these lengths. Throws an internal error if it is asked for twice.
  const Layout& lay_out_tensors(std::span<const std::size_t> lengths);
  // See dtctl_sync_start. Throws a run error that names the rank and what differs. Collective.
  void start(const std::string& model, float* weights, float* gradients, const dtctl_sync_callbacks& callbacks);
  // Makes a step; returns its loss. Throws what a callback causes; then the training is over. Collective.
  double step(double learning_rate, double epoch);
  void announce(std::size_t tensor) { replica().announce(tensor); }
  void note_absent(std::size_t tensor) { replica().note_absent(tensor); }
  std::vector<std::size_t> absent() { return replica().absent(); }
  const dtctl_sync_times& times() const { return clock_.times(); }

  // See dtctl_sync_average. Throws a recipe error for another strategy.
  void average(std::span<float> values);
  void broadcast(std::span<float> values) { comm_.broadcast_record(values); }
  // Every rank's values, in rank order. Collective.
  std::vector<double> gather(std::span<const double> values) { return comm_.all_numbers(values); }
  // Whether all ranks have the same weights between two steps.
  bool keeps_equal() const;
  void take_mean_of_workers(std::span<float> values);
  void copy_evaluated(std::span<float> weights);
  std::vector<sync::StrategyState> state() { return strategy_->state(); }
  void resume(std::int64_t step);
  // See dtctl_sync_span.
  void add_span(std::string_view name, std::int64_t step, double begin_s, double end_s);
  void finish();

 private:
  ProgramReplica& replica();
  void require_equal_models(const std::string& model);
  void set_default_alpha();
  std::unique_ptr<optim::Optimizer> server_rule() const;
  void begin_measuring();
  void keep_timeline() const;

  Settings settings_;
  comm::Communicator comm_;
  sync::StrategyParts parts_;
  Layout layout_;
  std::optional<ProgramReplica> replica_;
  std::unique_ptr<sync::Strategy> strategy_;
  std::unique_ptr<comm::Allreduce> average_; // of average()
  SyncClock clock_;
  comm::Timeline timeline_;
  std::set<std::string, std::less<>> span_names_; // that the program has given; the timeline points to them
  std::int64_t step_ = 0, first_step_ = 0;        // made so far, and before this process
  comm::Traffic before_;                          // of the steps that are not measured
  bool is_broken_ = false;                        // a step has failed
};

} // namespace dt::bindings
