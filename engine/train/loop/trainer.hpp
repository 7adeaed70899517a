// Trainer: trains one run on all ranks, from the first weights to the result.
#pragma once

#include "core/error.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/timeline.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/agreement/overseer.hpp"
#include "engine/train/agreement/request_agreement.hpp"
#include "engine/train/agreement/snapshot.hpp"
#include "engine/train/evaluation/evaluations.hpp"
#include "engine/train/loop/chosen_algorithms.hpp"
#include "engine/train/loop/observer.hpp"
#include "engine/train/record/measurement.hpp"
#include "engine/train/record/start_times.hpp"
#include "engine/train/step/local_replica.hpp"
#include "engine/train/step/plan.hpp"
#include "engine/train/step/training_clock.hpp"
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
    // The algorithms that an earlier attempt of the run has recorded. Only rank 0 passes them.
    std::optional<RecordedAlgorithms> recorded_algorithms{};
    StartTimes* start = nullptr; // gets the phases up to the end of the first step; null: nobody asks
  };
  // Opens the data and builds the network. Throws the errors of data, model and optimizer. comm must outlive the trainer.
  // Collective.
  Trainer(const Options& options, comm::Communicator& comm);

  // Trains to the end. The result is complete only on rank 0. Empty if the overseers' requests stopped the training earlier.
  // Collective.
  std::optional<RunResult> run(Observer& observer, Overseer& overseer);
  // The requests of all ranks at the time when the training stopped early.
  const Overseer::Request& stopped_by() const { return agreement_.request(); }

  // This rank's current weights, in plain order.
  std::vector<float> plain_weights() const { return local_.network().plain_weights(); }
  const TrainingPlan& plan() const { return plan_; }
  // Facts that are known before the first step: what the strategy selected, and the properties of the network. Example:
  // {"allreduce", "mpi, ring from 64 KiB"}.
  std::vector<std::pair<std::string, std::string>> facts() const;
  std::int64_t steps_done() const { return step_; }
  // Of the network's convolutions; empty if it has none.
  Algorithms algorithms() const { return local_.network().algorithms(); }
  // Other load on the machines during the measured steps. Valid on rank 0 after run() returned a result; empty if this attempt
  // measured no step.
  const LoadRecord& load() const { return measurement_.load(); }
  // Writes this rank's timeline if the recipe asks for it (train.trace). Call it after run(), also after an early stop.
  void write_timeline(const AttemptFolder& attempt) const
  {
    timeline_.write(attempt, parts_.roles.is_server ? "server" : "worker");
  }

 private:
  // The parts that the constructor makes before it makes the network. Making each of them is a phase of the start's times.
  struct Preparation {
    sync::StrategyParts parts;
    data::Sources sources;
    TrainingPlan plan;
    ChosenAlgorithms algorithms;
  };
  static Preparation prepare(const Options& options, comm::Communicator& comm);
  Trainer(const Options& options, comm::Communicator& comm, Preparation prepared);
  void start(Observer& observer);
  void end_start_phase(const char* phase);
  void tell_start(Observer& observer);
  void begin_from_file(Observer& observer);
  void train(Observer& observer, Overseer& overseer);
  void step(Observer& observer);
  void evaluate(Observer& observer);
  void take_mean_loss();
  void write_checkpoint(Overseer& overseer);
  TrainingProgress progress();
  std::int64_t replaced_samples();
  sync::GradientNoise* noise();
  double noise_batch() const;
  RunResult finish();
  void measure_alone();
  std::vector<std::pair<std::string, std::string>> lasting_facts() const;
  bool is_done() const;

  Options options_;
  TrainingProgress resumed_; // state at the begin of this attempt
  comm::Communicator& comm_;
  sync::StrategyParts parts_;
  data::Sources sources_;
  TrainingPlan plan_;
  TrainingClock clock_;
  Measurement measurement_;
  StepTimer timer_;
  ChosenAlgorithms chosen_algorithms_;
  LocalReplica local_;
  optim::LearningRate learning_rate_;
  std::unique_ptr<sync::Strategy> strategy_; // this and the next two are always set
  std::optional<Evaluations> evaluations_;
  std::optional<Snapshot> snapshot_;
  RequestAgreement agreement_;
  comm::Timeline timeline_;
  std::int64_t step_; // the current step, or the last completed one
  RunResult result_;  // final_loss and facts grow during the training; finish() fills in the rest
};

} // namespace dt::train
