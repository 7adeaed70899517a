// Trainer: one run's training on all ranks, from the first weights to the result.
#pragma once

#include "core/error.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/evaluator.hpp"
#include "engine/train/network_replica.hpp"
#include "engine/train/observer.hpp"
#include "engine/train/plan.hpp"
#include "engine/train/statistics.hpp"

#include <filesystem>
#include <memory>

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
  };
  // Opens the data, builds and places the network. Throws what data, model and optimizer find wrong. comm must outlive it.
  Trainer(const Options& options, Communicator& comm);

  // Trains to the end. The result is whole on rank 0; elsewhere it lacks what only all ranks together know. Collective.
  RunResult run(Observer& observer);

  // This rank's weights now, in plain order.
  std::vector<float> plain_weights() const { return network_.plain_weights(); }
  const TrainingPlan& plan() const { return plan_; }

private:
  void start(Observer& observer);
  void train(Observer& observer);
  void step(Observer& observer);
  void evaluate(Observer& observer);
  RunResult finish();

  bool is_measured() const { return step_ > plan_.warmup_steps; }
  bool stops_here() const;
  // Since the first step began, evaluations included or not.
  double wall_s() const { return monotonic_s() - begin_s_; }
  double training_s() const { return wall_s() - evaluation_s_; }

  RunSpec spec_;
  Communicator& comm_;
  Sources sources_;
  TrainingPlan plan_;
  Network network_;
  BatchLoader loader_;
  std::unique_ptr<Optimizer> optimizer_;
  LearningRate learning_rate_;
  StepTimer timer_;
  NetworkReplica replica_;
  std::unique_ptr<Strategy> strategy_;
  Evaluator evaluator_;

  std::int64_t step_ = 0; // in progress, or the last one done
  double begin_s_ = 0;    // clock when the first step began
  double evaluation_s_ = 0;
  double measured_from_s_ = 0; // training_s() when the first measured step began
  double measured_until_s_ = 0;
  Traffic warmup_traffic_;
  StepStatistics statistics_;
  RunResult result_;
};

} // namespace dt::engine
