#include "engine/train/loop/trainer.hpp"

#include "core/hash.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/units.hpp"
#include "engine/train/loop/network_options.hpp"
#include "engine/train/record/rank_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::train {
namespace {

data::BatchLoader::Options loader_options(const RunSpec& spec, const TrainingPlan& plan, const sync::Roles& roles,
                                          std::int64_t first_step)
{
  // A server has no batches: it never requests one, so nothing is read ahead.
  const bool serves = roles.is_server;
  return {.batch_per_rank = plan.batch_per_rank,
          .rank = serves ? 0 : roles.index,
          .ranks = static_cast<int>(roles.workers.size()),
          .shuffle = spec.data.shuffle,
          .seed = spec.train.seed,
          .prefetch = serves ? 0 : spec.data.prefetch_batches,
          .first_step = first_step};
}

// Approximate time between looks. Asynchronous ranks can drift apart by this time, and act on a wish up to twice this time later.
constexpr double look_s = 0.25, asynchronous_look_s = 1.5;

std::string hash_of(std::span<const float> weights)
{
  const auto bytes = std::as_bytes(weights);
  return hash_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

double share_of(std::int64_t part, std::int64_t whole)
{
  return whole == 0 ? not_measured : static_cast<double>(part) / static_cast<double>(whole);
}

sync::StrategyParts parts_of_size(sync::StrategyParts parts, std::size_t packed_bytes)
{
  parts.packed_bytes = packed_bytes;
  return parts;
}

Error with_advice(const Diverged& error, const std::string& checkpoint)
{
  return {error.kind(),
          fmt::format("{} Last good checkpoint: {}. Lower optimizer.learning_rate, set optimizer.clip_norm or lengthen "
                      "optimizer.warmup_epochs.",
                      error.what(), checkpoint.empty() ? "none was written; set train.checkpoint_every" : checkpoint)};
}

bool is_asynchronous(const RunSpec& spec) { return strategy_row(spec.sync.strategy).is_asynchronous; }

} // namespace

TrainingError::TrainingError(const Error& cause, std::int64_t step)
    : Error(cause.within(fmt::format("step {}", step))), step_(step)
{
}

Trainer::Trainer(const Options& options, comm::Communicator& comm)
    : spec_(options.spec), checkpoint_(options.checkpoint), comm_(comm), parts_(sync::make_parts(spec_, comm, options.cache)),
      sources_(data::open_sources(spec_.data, options.data_folder, spec_.train.seed)),
      plan_(make_plan(spec_, sources_.train->size())),
      measurement_({.warmup_steps = plan_.warmup_steps, .cores_per_rank = spec_.cores_per_rank()}, parts_.roles, comm),
      network_(own_network_options()), resumed_(options.resumed.value_or(TrainingProgress{.seed = spec_.train.seed})),
      loader_(*sources_.train, loader_options(spec_, plan_, parts_.roles, resumed_.step)), optimizer_(make_own_optimizer()),
      learning_rate_(spec_.optimizer, plan_.epochs, spec_.workers()), timer_(&comm),
      replica_({network_, loader_, *optimizer_, timer_, spec_.train.accumulation, spec_.train.loss_scale}),
      strategy_(sync::make_strategy(parts_of_size(parts_, network_.weights().size_bytes()))),
      consensus_({replica_, *strategy_, parts_.roles, comm}, spec_.sync.evaluate),
      snapshot_({network_, *optimizer_, *strategy_, comm, &consensus_}), evaluator_(network_, *sources_.test, comm),
      lookout_(resumed_.step, is_asynchronous(spec_) ? asynchronous_look_s : look_s), council_(comm), timeline_(comm)
{
}

nn::NetworkOptions Trainer::own_network_options()
{
  auto options = network_options(spec_, *sources_.train, plan_.micro_batch, comm_.rank());
  options.memory_limit_bytes = memory_share(comm_, parts_.topology);
  if (spec_.model.batch_norm == BatchNormSamples::synchronized && comm_.size() > 1) {
    statistics_sum_ = comm::make_allreduce({.topology = parts_.topology}, comm_);
    options.synchronize = [this](std::span<float> values) { take_mean(values); };
  }
  return options;
}

std::unique_ptr<optim::Optimizer> Trainer::make_own_optimizer()
{
  if (const auto misfit = optimizer_misfit(spec_.sync.strategy, spec_.optimizer.name))
    throw Error(ErrorKind::recipe, *misfit + ".");
  require_memory_beside(spec_, network_);
  const auto size = static_cast<std::int64_t>(network_.weights().size());
  return optim::make_optimizer(spec_.optimizer, size, segments_of(network_, spec_.optimizer),
                               optim::velocity_of(spec_.sync.strategy));
}

// Averages batch norm's sums over the ranks, in the middle of a pass. Collective.
void Trainer::take_mean(std::span<float> values)
{
  timer_.begin_communication();
  statistics_sum_->sum(values);
  for (auto& value : values) value /= static_cast<float>(comm_.size());
  timer_.end_communication();
}

std::vector<std::pair<std::string, std::string>> Trainer::strategy_facts() const
{
  auto facts = strategy_->facts();
  if (!parts_.progress_words.empty()) facts.emplace_back("progress", parts_.progress_words);
  return facts;
}

std::vector<std::pair<std::string, std::string>> Trainer::facts() const
{
  auto facts = strategy_facts();
  facts.emplace_back("network", describe(network_));
  return facts;
}

std::optional<RunResult> Trainer::run(Observer& observer, Overseer& overseer)
{
  start(observer);
  try {
    train(observer, overseer);
  } catch (const Diverged& error) {
    throw TrainingError(with_advice(error, overseer.last_checkpoint()), step_);
  } catch (const Error& error) {
    throw TrainingError(error, step_);
  }
  timeline_.end();
  if (!is_done()) return std::nullopt;
  return finish();
}

void Trainer::start(Observer& observer)
{
  // Packed gradients with different layouts cannot be summed.
  if (!comm_.all_equal(network_.layout()))
    throw Error(ErrorKind::environment,
                "The ranks hold their weights in different layouts, because their processors differ. Run on nodes "
                "of one kind (resources.constraint).");
  if (resumed_.step == 0 && !spec_.train.start_from.empty()) begin_from_file(observer);
  strategy_->start(replica_);
  if (resumed_.step > 0) take_up();
  isolated_s_ = strategy_->isolated_communication_s(replica_);
  if (spec_.train.trace) timeline_.begin();
  observer.planned(plan_.steps);
  comm_.barrier();
  begin_s_ = comm::monotonic_s();
  looked_s_ = training_s();
  measurement_.begin(looked_s_);
}

// Called before the strategy starts, so that its centre starts from the file too. The update rule's buffers are used only if they
// fit: they come from a run whose ranks shared them, so a velocity is a sum of gradients. A strategy whose velocity is a sum of
// steps starts without.
void Trainer::begin_from_file(Observer& observer)
{
  std::optional<Start> start;
  const bool takes_buffers = optim::velocity_of(spec_.sync.strategy) == optim::Velocity::of_gradients;
  if (comm_.is_root())
    start = read_start(spec_.train.start_from, network_.parameters(), takes_buffers ? spec_.optimizer.name : "");
  snapshot_.begin(start ? &*start : nullptr);
  if (!start) return;
  result_.facts["started_from"] = start->origin;
  observer.started_from(start->origin);
}

// Restores the state, as if this process had made the earlier steps.
void Trainer::take_up()
{
  snapshot_.load(checkpoint_);
  step_ = resumed_.step;
  evaluation_s_ = resumed_.evaluation_s;
  checkpoint_s_ = resumed_.checkpoint_s;
  result_.final_loss = resumed_.loss;
  result_.eval_loss = resumed_.eval_loss;
  result_.accuracy = resumed_.accuracy;
  result_.best_accuracy = resumed_.best_accuracy;
  result_.time_to_accuracy_s = resumed_.time_to_accuracy_s;
}

void Trainer::train(Observer& observer, Overseer& overseer)
{
  while (!is_done() && !wish_.stops()) {
    step(observer);
    if (plan_.evaluates_after(step_)) evaluate(observer);
    if (!is_done() && lookout_.is_due(step_)) look_up(overseer);
  }
  council_.read(); // completes the last exchange of wishes
  if (is_done() && spec_.train.final_checkpoint) write_checkpoint(overseer);
}

// Every rank calls this after the same steps. Rank 0 alone determines the number of steps to the next look. Synchronous ranks
// agree at once. Asynchronous ranks act on the wishes handed in at the previous look, so that no rank waits for a slower one's
// step.
void Trainer::look_up(Overseer& overseer)
{
  const auto proposal = lookout_.proposal(training_s() - looked_s_);
  if (!is_asynchronous(spec_)) council_.hand_in(overseer.wish(), proposal);
  const auto agreed = council_.read();
  wish_ = agreed.wish;
  if (wish_.stops() && !wish_.cancel) wish_.cancel = is_cancelled(overseer);
  lookout_.agree(step_, agreed.interval);
  if (!wish_.cancel && (wish_.checkpoint || wish_.stops())) write_checkpoint(overseer);
  if (is_asynchronous(spec_)) council_.hand_in(overseer.wish(), proposal);
  looked_s_ = training_s();
}

// After all ranks have agreed to stop: agrees whether the reason is a cancellation. Collective.
bool Trainer::is_cancelled(Overseer& overseer)
{
  council_.hand_in({.cancel = overseer.is_cancelled()}, 1);
  return council_.read().wish.cancel;
}

// All ranks wait here for rank 0's disk, so the time counts as checkpoint time and not as part of a step.
void Trainer::write_checkpoint(Overseer& overseer)
{
  const double begin_s = comm::monotonic_s();
  if (comm_.is_root())
    timer_.enter(comm::Doing::works, "writes a checkpoint");
  else
    timer_.enter(comm::Doing::waits, "waits for rank 0 to write a checkpoint");
  overseer.checkpoint(with_measured(progress()), snapshot_, wish_);
  comm_.barrier();
  const double end_s = comm::monotonic_s();
  checkpoint_s_ += end_s - begin_s;
  timer_.draw("checkpoint", begin_s, end_s);
}

TrainingProgress Trainer::progress() const
{
  return {.step = step_,
          .seed = spec_.train.seed,
          .epoch = plan_.epoch_after(step_),
          .learning_rate = learning_rate_.at(plan_.epoch_after(step_ - 1)),
          .wall_s = wall_s(),
          .evaluation_s = evaluation_s_,
          .checkpoint_s = checkpoint_s_,
          .loss = result_.final_loss,
          .eval_loss = result_.eval_loss,
          .accuracy = result_.accuracy,
          .best_accuracy = result_.best_accuracy,
          .time_to_accuracy_s = result_.time_to_accuracy_s};
}

void Trainer::step(Observer& observer)
{
  const double rate = learning_rate_.at(plan_.epoch_after(step_));
  ++step_;
  replica_.begin_step({.number = step_, .learning_rate = rate, .epoch = plan_.epoch_after(step_ - 1)});

  comm_.activity().set_step(step_);
  if (auto* trace = comm_.trace()) trace->begin_step(step_);

  timer_.begin_step();
  result_.final_loss = strategy_->step(replica_, timer_);
  const double step_s = timer_.end_step();

  const double elapsed_s = training_s();
  measurement_.add_step(timer_.phases(), step_s, elapsed_s);
  observer.step({.step = step_,
                 .epoch = plan_.epoch_after(step_),
                 .elapsed_s = elapsed_s,
                 .loss = result_.final_loss,
                 .learning_rate = rate,
                 .step_s = step_s,
                 .phase_s = timer_.phases()});
}

void Trainer::evaluate(Observer& observer)
{
  const double elapsed_s = training_s();
  const double begin_s = comm::monotonic_s();
  const nn::Evaluation found = evaluation_of(consensus_.chosen());
  const double end_s = comm::monotonic_s(), eval_s = end_s - begin_s;
  timer_.draw("evaluation", begin_s, end_s);
  evaluation_s_ += eval_s;
  measurement_.add_evaluation(eval_s);

  result_.eval_loss = found.samples == 0 ? not_measured : found.loss_sum / static_cast<double>(found.samples);
  result_.accuracy = share_of(found.correct, found.samples);
  result_.best_accuracy = std::fmax(result_.best_accuracy, result_.accuracy); // fmax ignores NaN (not measured)
  const bool reached = spec_.train.target_accuracy > 0 && result_.accuracy >= spec_.train.target_accuracy;
  if (reached && std::isnan(result_.time_to_accuracy_s)) result_.time_to_accuracy_s = wall_s();
  observer.evaluation({.step = step_,
                       .epoch = plan_.epoch_after(step_),
                       .elapsed_s = elapsed_s,
                       .loss = result_.eval_loss,
                       .accuracy = result_.accuracy,
                       .samples = found.samples,
                       .eval_s = eval_s});
}

nn::Evaluation Trainer::evaluation_of(Model model)
{
  const Consensus::Loan loan(consensus_, model);
  return evaluator_.evaluate();
}

// Called after the last step, which already evaluated the chosen model.
void Trainer::evaluate_models()
{
  const auto models = consensus_.models();
  if (models == std::vector{Model::common}) return;
  for (const Model model : models) {
    auto& accuracy = model == Model::centre    ? result_.accuracy_centre
                     : model == Model::average ? result_.accuracy_average
                                               : result_.accuracy_worker;
    if (model == consensus_.chosen()) {
      accuracy = result_.accuracy;
    } else {
      const auto found = evaluation_of(model);
      accuracy = share_of(found.correct, found.samples);
    }
  }
}

bool Trainer::is_done() const { return step_ >= plan_.steps || reached_target(); }

// The accuracy is summed over the ranks, so all ranks stop at the same step.
bool Trainer::reached_target() const { return spec_.train.stop_at_target && !std::isnan(result_.time_to_accuracy_s); }

// Adds the measured steps of this attempt to those of the attempts before it. Correct on rank 0 only. Collective.
TrainingProgress Trainer::with_measured(TrainingProgress progress) const
{
  const auto own = measurement_.totals();
  progress.measured_samples = resumed_.measured_samples + measurement_.measured_steps() * plan_.global_batch;
  progress.measured_s = resumed_.measured_s + own.measured_s;
  progress.communication_s = resumed_.communication_s + own.communication_s;
  return progress;
}

RunResult Trainer::finish()
{
  result_.wall_s = wall_s();
  measurement_.end();
  evaluate_models();
  result_.steps = step_;
  result_.resumed_step = resumed_.step;
  result_.warmup_steps = measurement_.warmup_steps();
  result_.parameters = network_.parameter_count();
  result_.weights_hash = hash_of(network_.plain_weights());

  result_.ranks = gather_records(measurement_.record(), comm_);
  result_.isolated_communication_s = mean_of_workers(isolated_s_, parts_.roles, comm_);
  result_.staleness = gather_staleness(strategy_->staleness(), comm_);
  for (const auto& [name, fact] : strategy_facts()) result_.facts[name] = fact;
  if (consensus_.models().size() > 1) result_.facts["evaluated"] = name_of(consensus_.chosen());

  const auto measured = with_measured({});
  result_.measured_samples = measured.measured_samples;
  result_.measured_s = measured.measured_s;
  result_.throughput = result_.measured_s > 0 ? static_cast<double>(result_.measured_samples) / result_.measured_s : not_measured;
  result_.communication_share = result_.measured_s > 0 ? measured.communication_s / result_.measured_s : not_measured;
  result_.unix_s = now_unix_s();
  return result_;
}

} // namespace dt::train
