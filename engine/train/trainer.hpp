// Trainer: one run's training on all ranks, from the first weights to the result.
#pragma once

#include "core/error.hpp"
#include "core/process.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/checkpoint.hpp"
#include "engine/train/consensus.hpp"
#include "engine/train/council.hpp"
#include "engine/train/evaluator.hpp"
#include "engine/train/lookout.hpp"
#include "engine/train/network_replica.hpp"
#include "engine/train/node_load.hpp"
#include "engine/train/observer.hpp"
#include "engine/train/overseer.hpp"
#include "engine/train/plan.hpp"
#include "engine/train/statistics.hpp"
#include "engine/train/timeline.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace dt::engine {

// An error of training, with the step in which it happened.
class TrainingError : public Error {
public:
  TrainingError(const Error& cause, std::int64_t step);
  std::int64_t step() const { return step_; }

private:
  std::int64_t step_;
};

class Trainer {
public:
  struct Options {
    RunSpec spec;
    std::filesystem::path data_folder; // unused for synthetic data
    // Where a training that stopped goes on, equal on all ranks; its tensors are read by rank 0, the others give null.
    std::optional<TrainingProgress> resumed{};
    const CheckpointReader* checkpoint = nullptr; // read by run()
    std::filesystem::path cache{};                // of this machine's timings; empty: none
  };
  // Opens the data, builds and places the network. Throws what data, model and optimizer find wrong. comm must outlive it.
  Trainer(const Options& options, Communicator& comm);

  // Trains to the end. The result is whole on rank 0; elsewhere it lacks what only all ranks together know. Nothing when the
  // overseers' wishes have stopped it before. Collective.
  std::optional<RunResult> run(Observer& observer, Overseer& overseer);
  // What all ranks wished when the training stopped before its end.
  const Overseer::Wish& stopped_by() const { return wish_; }

  // This rank's weights now, in plain order.
  std::vector<float> plain_weights() const { return network_.plain_weights(); }
  const TrainingPlan& plan() const { return plan_; }
  // What is known before the first step: what the strategy has found out by itself, and what the network is made of:
  // {"allreduce", "ring from 64 KiB"}.
  std::vector<std::pair<std::string, std::string>> facts() const;
  std::int64_t steps_done() const { return step_; }
  // Who else used the machines during the measured steps: on rank 0 after run() with a result, when this attempt measured any.
  const LoadRecord& load() const { return load_; }
  // What this rank did all the time, when the recipe asks for it (train.trace): after run(), however it ended.
  void write_timeline(const AttemptFolder& attempt) const { timeline_.write(attempt, role()); }

private:
  NetworkOptions own_network_options();
  std::unique_ptr<Optimizer> make_own_optimizer();
  void take_mean(std::span<float> values);
  void start(Observer& observer);
  void begin_from_file(Observer& observer);
  std::vector<std::pair<std::string, std::string>> strategy_facts() const;
  void take_up();
  void train(Observer& observer, Overseer& overseer);
  void look_up(Overseer& overseer);
  bool is_cancelled(Overseer& overseer);
  void write_checkpoint(Overseer& overseer);
  TrainingProgress progress() const;
  void step(Observer& observer);
  void evaluate(Observer& observer);
  Evaluation evaluation_of(Model model);
  void evaluate_models();
  RankRecord own_record();
  TrainingProgress with_measured(TrainingProgress progress);
  std::int64_t own_steps() const { return step_ - resumed_.step; }
  std::int64_t own_warmup_steps() const { return std::min(own_steps(), plan_.warmup_steps); }
  void begin_measuring();
  void measure_load();
  RunResult finish();

  const char* role() const { return parts_.roles.is_server ? "server" : "worker"; }
  bool is_measured() const { return own_steps() > plan_.warmup_steps; }
  bool is_done() const;
  bool reached_target() const;
  // Since the first step of the first attempt began, evaluations and checkpoints included or not.
  double wall_s() const { return resumed_.wall_s + monotonic_s() - begin_s_; }
  double training_s() const { return wall_s() - evaluation_s_ - checkpoint_s_; }

  RunSpec spec_;
  const CheckpointReader* checkpoint_;
  Communicator& comm_;
  std::vector<int> mask_ = cores_in_mask(); // of the whole process: a strategy may keep this thread off some of them later
  StrategyParts parts_;
  Sources sources_;
  TrainingPlan plan_;
  std::unique_ptr<Allreduce> statistics_sum_; // of synchronized batch norm
  Network network_;
  TrainingProgress resumed_; // where this attempt began
  BatchLoader loader_;
  std::unique_ptr<Optimizer> optimizer_;
  LearningRate learning_rate_;
  StepTimer timer_;
  NetworkReplica replica_;
  std::unique_ptr<Strategy> strategy_;
  Consensus consensus_;
  Snapshot snapshot_;
  Evaluator evaluator_;

  std::int64_t step_ = 0; // in progress, or the last one done
  double begin_s_ = 0;    // clock when this attempt's first step began
  double evaluation_s_ = 0, checkpoint_s_ = 0;
  Lookout lookout_;
  Council council_;
  Timeline timeline_;
  double looked_s_ = 0; // training_s() at the last look
  Overseer::Wish wish_; // of all ranks, at the last look
  double isolated_s_ = not_measured; // one step's communication, on this rank
  double measured_from_s_ = 0; // training_s() when the first measured step began
  double measured_until_s_ = 0;
  std::optional<LoadLook> load_begin_; // when the first measured step began
  LoadRecord load_;
  Traffic warmup_traffic_;
  StepStatistics statistics_;
  RunResult result_;
};

} // namespace dt::engine
