#include "engine/train/evaluation/evaluations.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/data/reading/read_range.hpp"
#include "engine/train/step/network_replica.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt::train {
namespace {

double accuracy_of(const nn::Evaluation& found)
{
  return found.samples == 0 ? not_measured : static_cast<double>(found.correct) / static_cast<double>(found.samples);
}

double& accuracy_field(RunResult& result, Model model)
{
  if (model == Model::centre) return result.accuracy_centre;
  if (model == Model::average) return result.accuracy_average;
  return result.accuracy_worker; // rank 0's model, or the model that all workers share
}

// The evaluation network exists beside the trained one and shares its weights, so only the remaining memory is its limit.
nn::NetworkOptions beside(const nn::Network& trained)
{
  auto options = trained.options();
  if (options.memory_limit_bytes > 0)
    options.memory_limit_bytes = std::max<std::int64_t>(1, options.memory_limit_bytes - trained.memory().activations);
  return options;
}

} // namespace

Evaluator::Evaluator(const nn::Network& trained, const data::Source& source, comm::Communicator& comm)
    : network_(beside(trained), trained), source_(source), comm_(comm),
      share_(data::shard(source.size(), comm.rank(), comm.size())),
      images_(static_cast<std::size_t>(network_.options().batch * network_.options().image.size())),
      labels_(static_cast<std::size_t>(network_.options().batch))
{
}

nn::Evaluation Evaluator::evaluate()
{
  comm_.activity().enter(comm::Doing::works, "evaluates");
  nn::Evaluation mine;
  const auto batch = network_.options().batch;
  for (auto begin = share_.begin; begin < share_.end; begin += batch) {
    load(begin, std::min(begin + batch, share_.end));
    const auto part = network_.evaluate(images_, labels_);
    comm_.activity().advance();
    mine.loss_sum += part.loss_sum;
    mine.correct += part.correct;
    mine.samples += part.samples;
  }
  comm_.activity().enter(comm::Doing::waits, "waits for the other ranks' evaluations");
  std::array sums{mine.loss_sum, static_cast<double>(mine.correct), static_cast<double>(mine.samples)};
  comm_.sum_record(sums);
  return {sums[0], static_cast<std::int64_t>(sums[1]), static_cast<std::int64_t>(sums[2])};
}

void Evaluator::load(std::int64_t begin, std::int64_t end)
{
  std::fill(labels_.begin(), labels_.end(), -1);
  replaced_samples_ += data::read_range(source_, {begin, end}, network_.options().threads, images_.data(), labels_.data());
}

void Scores::add(const nn::Evaluation& found, double target_accuracy, std::int64_t step, double wall_s)
{
  loss = found.samples == 0 ? Reported() : found.loss_sum / static_cast<double>(found.samples);
  accuracy = accuracy_of(found);
  best_accuracy = std::fmax(best_accuracy, accuracy); // fmax ignores NaN (not measured)
  const bool reached = target_accuracy > 0 && accuracy >= target_accuracy;
  if (!reached || !std::isnan(time_to_accuracy_s)) return;
  time_to_accuracy_s = wall_s;
  steps_to_accuracy = step;
}

Evaluations::Evaluations(const Parts& parts, const RunSpec& spec, const TrainingProgress& resumed)
    : timer_(parts.timer), clock_(parts.clock), target_accuracy_(spec.train.target_accuracy),
      consensus_(parts.models, spec.sync.evaluate),
      evaluator_(parts.network, parts.source, parts.models.comm), scores_{.loss = if_measured(resumed.eval_loss),
                                                                          .accuracy = resumed.accuracy,
                                                                          .best_accuracy = resumed.best_accuracy,
                                                                          .time_to_accuracy_s = resumed.time_to_accuracy_s,
                                                                          .steps_to_accuracy = resumed.steps_to_accuracy}
{
}

EvalEvent Evaluations::evaluate(std::int64_t step, double epoch)
{
  const double elapsed_s = clock_.training_s();
  const double begin_s = comm::monotonic_s();
  const auto found = evaluation_of(consensus_.chosen());
  const double end_s = comm::monotonic_s(), eval_s = end_s - begin_s;
  timer_.draw("evaluation", begin_s, end_s);
  clock_.add_evaluation(eval_s);
  scores_.add(found, target_accuracy_, step, clock_.wall_s());
  divergence_.add_evaluation(step, scores_.loss);
  return {.step = step,
          .epoch = epoch,
          .elapsed_s = elapsed_s,
          .loss = scores_.loss,
          .accuracy = if_measured(scores_.accuracy),
          .samples = found.samples,
          .eval_s = eval_s};
}

void Evaluations::require_finite() const
{
  if (!scores_.loss || std::isfinite(*scores_.loss)) return;
  throw Diverged(ErrorKind::run, fmt::format("{} on the held-out set in the last evaluation, though the training's was finite.",
                                             std::isnan(*scores_.loss) ? loss_is_nan : loss_is_infinite));
}

nn::Evaluation Evaluations::evaluation_of(Model model)
{
  const Consensus::Loan loan(consensus_, model);
  return evaluator_.evaluate();
}

void Evaluations::fill(RunResult& result)
{
  result.eval_loss = scores_.loss;
  result.accuracy = if_measured(scores_.accuracy);
  divergence_.fill(result);
  result.best_accuracy = scores_.best_accuracy;
  result.time_to_accuracy_s = scores_.time_to_accuracy_s;
  const auto models = consensus_.models();
  if (models.size() > 1) result.facts["evaluated"] = name_of(consensus_.chosen());
  if (models == std::vector{Model::common}) return; // its accuracy is result.accuracy
  for (const Model model : models)
    accuracy_field(result, model) = model == consensus_.chosen() ? scores_.accuracy : accuracy_of(evaluation_of(model));
}

} // namespace dt::train
