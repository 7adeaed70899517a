// Evaluates the models of a training on the test set, and keeps the accuracy and the time to the target accuracy.
#pragma once

#include "core/record/measuring/divergence.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/run_spec.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/data/source.hpp"
#include "engine/nn/graph/network.hpp"
#include "engine/train/evaluation/consensus.hpp"
#include "engine/train/step/step_timer.hpp"
#include "engine/train/step/training_clock.hpp"
#include "engine/train/weights/checkpoint.hpp"

#include <cmath>
#include <vector>

namespace dt::train {

// Evaluator: loss and accuracy of the model on a data set; the samples are divided among the ranks.
class Evaluator {
 public:
  // Evaluates with the current weights of the trained network, in a separate network for evaluation. References must outlive the
  // Evaluator.
  Evaluator(const nn::Network& trained, const data::Source& source, comm::Communicator& comm);
  // Evaluates the whole set; the result is the same on every rank. Each sample counts once, for any batch size. Collective.
  nn::Evaluation evaluate();
  // Samples that this rank could not decode and replaced, over all evaluations.
  std::int64_t replaced_samples() const { return replaced_samples_; }

 private:
  // Loads samples [begin, end), at most one batch. The rest of the batch gets label -1 and is not counted.
  void load(std::int64_t begin, std::int64_t end);

  nn::Network network_;
  const data::Source& source_;
  comm::Communicator& comm_;
  SampleRange share_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::int64_t replaced_samples_ = 0;
};

// The results of a run's evaluations over all its attempts.
struct Scores {
  Reported loss;                  // in the last evaluation; may be NaN or infinite
  double accuracy = not_measured; // in the last evaluation
  double best_accuracy = not_measured;
  double time_to_accuracy_s = not_measured; // wall time at the end of the first evaluation that reached the target accuracy
  std::int64_t steps_to_accuracy = 0;       // steps before that evaluation; 0: none reached it

  // Adds an evaluation after `step` steps that ended at `wall_s` (TrainingClock::wall_s). target_accuracy: from 0 to 1; 0: there
  // is no target.
  void add(const nn::Evaluation& found, double target_accuracy, std::int64_t step, double wall_s);
};

class Evaluations {
 public:
  // References must outlive the Evaluations.
  struct Parts {
    const nn::Network& network; // the trained network; models.replica holds its weights
    const data::Source& source; // the test set
    Consensus::Parts models;
    StepTimer& timer;     // draws evaluations in the timeline
    TrainingClock& clock; // counts the time of evaluations
  };
  // Continues the scores of `resumed`, the progress from which this attempt resumes. Throws a recipe error if sync.evaluate names
  // the centre and the strategy has none.
  Evaluations(const Parts& parts, const RunSpec& spec, const TrainingProgress& resumed);

  // Evaluates the model that sync.evaluate chooses. `epoch` only goes into the record. Allowed only between two steps.
  // Loss and accuracy are equal on all ranks. Collective.
  EvalEvent evaluate(std::int64_t step, double epoch);
  // Throws Diverged if the loss of the last evaluation is NaN or infinite: such weights are no result.
  void require_finite() const;
  // Fills in the result's scores, among them the accuracy of each model that the strategy keeps. Call it after the last step,
  // which evaluate() has evaluated. Evaluates the other models without counting the time. Collective.
  void fill(RunResult& result);

  const Scores& scores() const { return scores_; }
  // Whether an evaluation has reached train.target_accuracy. Equal on all ranks.
  bool reached_target() const { return !std::isnan(scores_.time_to_accuracy_s); }
  Consensus& consensus() { return consensus_; }
  // Samples that this rank could not decode and replaced, over all evaluations.
  std::int64_t replaced_samples() const { return evaluator_.replaced_samples(); }

 private:
  nn::Evaluation evaluation_of(Model model);

  StepTimer& timer_;
  TrainingClock& clock_;
  double target_accuracy_;
  Consensus consensus_;
  Evaluator evaluator_;
  Scores scores_;
  Divergence divergence_; // of this attempt's evaluations; a training loss of NaN ends the run
};

} // namespace dt::train
