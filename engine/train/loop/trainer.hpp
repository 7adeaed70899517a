// Trainer: trains one run on all ranks, from the first weights to the result.
#pragma once

#include "core/error.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/loop/consensus.hpp"
#include "engine/train/loop/council.hpp"
#include "engine/train/loop/evaluator.hpp"
#include "engine/train/loop/lookout.hpp"
#include "engine/train/loop/network_replica.hpp"
#include "engine/train/loop/observer.hpp"
#include "engine/train/loop/overseer.hpp"
#include "engine/train/loop/plan.hpp"
#include "engine/train/record/measurement.hpp"
#include "engine/train/record/timeline.hpp"
#include "engine/train/weights/checkpoint.hpp"

#include <filesystem>
#include <memory>
#include <optional>

namespace dt::train {

// An error during training, with the step in which it happened.
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
    // Progress to resume from, equal on all ranks. Only rank 0 reads the checkpoint's tensors; the other ranks pass null.
    std::optional<TrainingProgress> resumed{};
    const CheckpointReader* checkpoint = nullptr; // read by run()
    std::filesystem::path cache{};                // folder for timings of this machine; empty: none
  };
  // Opens the data and builds the network. Throws the errors of data, model and optimizer. comm must outlive the trainer.
  // Collective.
  Trainer(const Options& options, comm::Communicator& comm);

  // Trains to the end. The result is complete only on rank 0. Empty if the overseers' wishes stopped the training earlier.
  // Collective.
  std::optional<RunResult> run(Observer& observer, Overseer& overseer);
  // The wishes of all ranks at the time when the training stopped early.
  const Overseer::Wish& stopped_by() const { return wish_; }

  // This rank's current weights, in plain order.
  std::vector<float> plain_weights() const { return network_.plain_weights(); }
  const TrainingPlan& plan() const { return plan_; }
  // Facts that are known before the first step: what the strategy selected, and the properties of the network. Example:
  // {"allreduce", "mpi, ring from 64 KiB"}.
  std::vector<std::pair<std::string, std::string>> facts() const;
  std::int64_t steps_done() const { return step_; }
  // Other load on the machines during the measured steps. Valid on rank 0 after run() returned a result; empty if this attempt
  // measured no step.
  const LoadRecord& load() const { return measurement_.load(); }
  // Writes this rank's timeline if the recipe asks for it (train.trace). Call it after run(), also after an early stop.
  void write_timeline(const AttemptFolder& attempt) const { timeline_.write(attempt, role()); }

 private:
  nn::NetworkOptions own_network_options();
  std::unique_ptr<optim::Optimizer> make_own_optimizer();
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
  nn::Evaluation evaluation_of(Model model);
  void evaluate_models();
  TrainingProgress with_measured(TrainingProgress progress) const;
  RunResult finish();

  const char* role() const { return parts_.roles.is_server ? "server" : "worker"; }
  bool is_done() const;
  bool reached_target() const;
  // Wall time since the first step of the first attempt; includes evaluations and checkpoints.
  double wall_s() const { return resumed_.wall_s + comm::monotonic_s() - begin_s_; }
  double training_s() const { return wall_s() - evaluation_s_ - checkpoint_s_; }

  RunSpec spec_;
  const CheckpointReader* checkpoint_;
  comm::Communicator& comm_;
  sync::StrategyParts parts_;
  data::Sources sources_;
  TrainingPlan plan_;
  Measurement measurement_;
  std::unique_ptr<comm::Allreduce> statistics_sum_; // for synchronized batch norm
  nn::Network network_;
  TrainingProgress resumed_; // state at the begin of this attempt
  data::BatchLoader loader_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  optim::LearningRate learning_rate_;
  StepTimer timer_;
  NetworkReplica replica_;
  std::unique_ptr<sync::Strategy> strategy_;
  Consensus consensus_;
  Snapshot snapshot_;
  Evaluator evaluator_;

  std::int64_t step_ = 0; // the current step, or the last completed one
  double begin_s_ = 0;    // clock at the begin of this attempt's first step
  double evaluation_s_ = 0, checkpoint_s_ = 0;
  Lookout lookout_;
  Council council_;
  Timeline timeline_;
  double looked_s_ = 0;              // training_s() at the last look
  Overseer::Wish wish_;              // combined wish of all ranks at the last look
  double isolated_s_ = not_measured; // seconds of one step's communication alone, on this rank
  RunResult result_;
};

} // namespace dt::train
