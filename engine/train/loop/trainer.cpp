#include "engine/train/loop/trainer.hpp"

#include "core/hash.hpp"
#include "core/spec/choices.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/units.hpp"
#include "engine/sync/exchange/gradient_noise.hpp"
#include "engine/sync/exchange/node_step.hpp"
#include "engine/train/record/rank_report.hpp"
#include "engine/train/step/network_options.hpp"

#include <array>

#include <fmt/format.h>

namespace dt::train {
namespace {

sync::StrategyParts parts_for(LocalReplica& local, const RunSpec& spec, sync::StrategyParts parts)
{
  parts.packed_bytes = local.network().weights().size_bytes();
  parts.updates_whole = spec.optimizer.clip_norm > 0;
  parts.node_slices = local.replica().node_slices();
  return parts;
}

Measurement::Options measurement_options(const RunSpec& spec, const TrainingPlan& plan, const TrainingProgress& resumed)
{
  return {.warmup_steps = plan.warmup_steps,
          .cores_per_rank = spec.cores_per_rank(),
          .global_batch = plan.global_batch,
          .earlier = {resumed.measured_samples, resumed.measured_s, resumed.communication_s, resumed.work}};
}

Error with_advice(const Diverged& error, const std::string& checkpoint)
{
  return {error.kind(),
          fmt::format("{} Last good checkpoint: {}. Lower optimizer.learning_rate, set optimizer.clip_norm or lengthen "
                      "optimizer.warmup_epochs.",
                      error.what(), checkpoint.empty() ? "none was written; set train.checkpoint_every" : checkpoint)};
}

} // namespace

TrainingError::TrainingError(const Error& cause, std::int64_t step)
    : Error(cause.within(fmt::format("step {}", step))), step_(step)
{
}

Trainer::Preparation Trainer::prepare(const Options& options, comm::Communicator& comm)
{
  const auto& spec = options.spec;
  const auto end_phase = [start = options.start](const char* phase) {
    if (start != nullptr) start->end(phase);
  };
  auto parts = sync::make_parts(spec, comm, options.cache);
  end_phase("topology");
  auto sources = data::open_sources(spec.data, options.data_folder, spec.train.seed);
  end_phase("data set");
  const auto plan = make_plan(spec, sources.train->size());
  auto algorithms = choose_algorithms(spec.train, network_options(spec, *sources.train, plan.micro_batch, comm.rank()),
                                      {options.recorded_algorithms, options.cache}, comm);
  end_phase("algorithms");
  return {std::move(parts), std::move(sources), plan, std::move(algorithms)};
}

Trainer::Trainer(const Options& options, comm::Communicator& comm) : Trainer(options, comm, prepare(options, comm)) {}

Trainer::Trainer(const Options& options, comm::Communicator& comm, Preparation prepared)
    : options_(options), resumed_(options.resumed.value_or(TrainingProgress{})), comm_(comm), parts_(std::move(prepared.parts)),
      sources_(std::move(prepared.sources)), plan_(prepared.plan), clock_(resumed_),
      measurement_(measurement_options(options.spec, plan_, resumed_), parts_.roles, comm), timer_(&comm),
      chosen_algorithms_(std::move(prepared.algorithms)),
      local_({options.spec, plan_, *sources_.train, parts_, chosen_algorithms_.algorithms, timer_}, resumed_.step),
      learning_rate_(options.spec.optimizer, plan_.epochs, options.spec.workers()),
      agreement_({strategy_row(options.spec.sync.strategy).is_asynchronous, resumed_.step}, clock_, comm), timeline_(comm),
      step_(resumed_.step)
{
  end_start_phase("network");
  strategy_ = sync::make_strategy(parts_for(local_, options.spec, parts_));
  end_start_phase("strategy");
  evaluations_.emplace(
      Evaluations::Parts{local_.network(), *sources_.test, {local_.replica(), *strategy_, parts_.roles, comm}, timer_, clock_},
      options.spec, resumed_);
  snapshot_.emplace(Snapshot::Parts{local_.network(), local_.optimizer(), *strategy_, comm, &evaluations_->consensus()});
  require_fixed_algorithms(options.spec.train, algorithms());
  result_.final_loss = if_measured(resumed_.loss);
  result_.choice_s = chosen_algorithms_.seconds;
  end_start_phase("evaluation");
}

void Trainer::end_start_phase(const char* phase)
{
  if (options_.start != nullptr) options_.start->end(phase);
}

void Trainer::tell_start(Observer& observer)
{
  if (options_.start == nullptr) return;
  options_.start->end("first step");
  result_.facts["start"] = options_.start->words();
  observer.started(*options_.start);
}

// What the result keeps.
std::vector<std::pair<std::string, std::string>> Trainer::lasting_facts() const
{
  auto facts = strategy_->facts();
  if (!parts_.progress_words.empty()) facts.emplace_back("progress", parts_.progress_words);
  if (const auto words = in_words(chosen_algorithms_, algorithms()); !words.empty()) facts.emplace_back("algorithms", words);
  if (const auto* memory = local_.node_memory()) facts.emplace_back("weights", sync::describe(*memory));
  return facts;
}

std::vector<std::pair<std::string, std::string>> Trainer::facts() const
{
  auto facts = lasting_facts();
  facts.emplace_back("network", describe(local_.network()));
  if (chosen_algorithms_.seconds > 0) facts.emplace_back("choice of algorithms", format_seconds(chosen_algorithms_.seconds));
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

// Gives every rank its first weights: those of the seed, of train.start_from or of the checkpoint.
void Trainer::start(Observer& observer)
{
  local_.require_equal_layouts();
  if (resumed_.step == 0 && !options_.spec.train.start_from.empty()) begin_from_file(observer);
  strategy_->start(local_.replica());
  if (resumed_.step > 0) snapshot_->load(options_.checkpoint);
  end_start_phase("first weights");
  if (options_.spec.train.trace) timeline_.begin();
  observer.planned(plan_.steps);
  comm_.barrier();
  clock_.start();
  agreement_.begin();
  measurement_.begin(clock_.training_s());
}

// Called before the strategy starts, so that its centre starts from the file too. The update rule's buffers are used only if they
// fit: they come from a run whose ranks shared them, so a velocity is a sum of gradients. A strategy whose velocity is a sum of
// steps starts without.
void Trainer::begin_from_file(Observer& observer)
{
  std::optional<Start> start;
  const auto& spec = options_.spec;
  const bool takes_buffers = optim::velocity_of(spec.sync.strategy) == optim::Velocity::of_gradients;
  if (comm_.is_root())
    start = read_start(spec.train.start_from, local_.network().parameters(), takes_buffers ? spec.optimizer.name : "");
  snapshot_->begin(start ? &*start : nullptr);
  if (!start) return;
  result_.facts["started_from"] = start->origin;
  observer.started_from(start->origin);
}

void Trainer::train(Observer& observer, Overseer& overseer)
{
  while (!is_done() && !agreement_.request().stops()) {
    step(observer);
    if (plan_.evaluates_after(step_)) evaluate(observer);
    if (!is_done() && agreement_.is_due(step_)) agreement_.check(step_, overseer, [&] { write_checkpoint(overseer); });
  }
  agreement_.end();
  if (is_done()) evaluations_->require_finite();
  if (is_done() && options_.spec.train.final_checkpoint) write_checkpoint(overseer);
}

// All ranks stop at the same step, because they all reach the target accuracy at the same evaluation.
bool Trainer::is_done() const
{
  return step_ >= plan_.steps || (options_.spec.train.stop_at_target && evaluations_->reached_target());
}

void Trainer::step(Observer& observer)
{
  const double begin_epoch = plan_.epoch_after(step_);
  const double rate = learning_rate_.at(begin_epoch);
  ++step_;
  local_.replica().begin_step({.number = step_, .learning_rate = rate, .epoch = begin_epoch});
  comm_.activity().set_step(step_);
  if (auto* trace = comm_.trace()) trace->begin_step(step_);

  timer_.begin_step();
  result_.final_loss = strategy_->step(local_.replica(), timer_);
  const double step_s = timer_.end_step();

  const double elapsed_s = clock_.training_s();
  measurement_.add_step(timer_.phases(), step_s, elapsed_s, strategy_->meets(local_.replica()));
  if (step_ - resumed_.step == options_.spec.train.warmup_steps) {
    strategy_->begin_measuring();
    local_.replica().begin_measuring();
  }
  if (plan_.evaluates_after(step_)) take_mean_loss();
  observer.step({.step = step_,
                 .epoch = plan_.epoch_after(step_),
                 .elapsed_s = elapsed_s,
                 .loss = result_.final_loss,
                 .learning_rate = rate,
                 .step_s = step_s,
                 .phase_s = timer_.phases()});
  if (step_ == resumed_.step + 1) tell_start(observer);
}

void Trainer::evaluate(Observer& observer)
{
  auto found = evaluations_->evaluate(step_, plan_.epoch_after(step_));
  if (auto* noise = this->noise()) found.noise_scale = noise->recent_noise_scale() * noise_batch();
  measurement_.add_evaluation(found.eval_s);
  observer.evaluation(found);
}

// Under strategies whose ranks make steps of their own, rank 0 knows the loss of its own batch alone. Where an evaluation
// follows, so that ranks wait for each other anyway, the step's loss becomes the mean over all workers; the time counts as
// evaluation. Rank 0 alone has the mean. Collective.
void Trainer::take_mean_loss()
{
  const double begin_s = comm::monotonic_s();
  const double mean = mean_of_workers(or_not_measured(result_.final_loss), parts_.roles, comm_);
  if (comm_.is_root()) result_.final_loss = if_measured(mean);
  const double seconds = comm::monotonic_s() - begin_s;
  clock_.add_evaluation(seconds);
  measurement_.add_evaluation(seconds);
}

// All ranks wait here for rank 0's disk, so the time counts as checkpoint time and not as part of a step. Collective.
void Trainer::write_checkpoint(Overseer& overseer)
{
  const double begin_s = comm::monotonic_s();
  if (comm_.is_root())
    timer_.enter(comm::Doing::works, "writes a checkpoint");
  else
    timer_.enter(comm::Doing::waits, "waits for rank 0 to write a checkpoint");
  overseer.checkpoint(progress(), *snapshot_, agreement_.request());
  comm_.barrier();
  const double end_s = comm::monotonic_s();
  clock_.add_checkpoint(end_s - begin_s);
  timer_.draw("checkpoint", begin_s, end_s);
}

// The totals of the measured steps are correct on rank 0 only. Collective.
TrainingProgress Trainer::progress()
{
  const double wall_s = clock_.wall_s(); // before this rank waits for the others in totals()
  const auto measured = measurement_.totals();
  const auto& scores = evaluations_->scores();
  return {.step = step_,
          .seed = options_.spec.train.seed,
          .epoch = plan_.epoch_after(step_),
          .learning_rate = learning_rate_.at(plan_.epoch_after(step_ - 1)),
          .wall_s = wall_s,
          .evaluation_s = clock_.evaluation_s(),
          .checkpoint_s = clock_.checkpoint_s(),
          .measured_samples = measured.samples,
          .measured_s = measured.measured_s,
          .communication_s = measured.communication_s,
          .work = measured.work,
          .loss = or_not_measured(result_.final_loss),
          .eval_loss = or_not_measured(scores.loss),
          .accuracy = scores.accuracy,
          .best_accuracy = scores.best_accuracy,
          .time_to_accuracy_s = scores.time_to_accuracy_s,
          .steps_to_accuracy = scores.steps_to_accuracy};
}

// Samples of all ranks that another sample replaced, on every rank. Collective.
std::int64_t Trainer::replaced_samples()
{
  std::array sum{static_cast<double>(local_.replaced_samples() + evaluations_->replaced_samples())};
  comm_.sum_record(sum);
  return static_cast<std::int64_t>(sum[0]);
}

// Who measures the gradient noise: the replica, which compares micro-batches, if there is one worker; else the strategy, which
// compares the workers' batches. Null: the strategy sums no gradients.
sync::GradientNoise* Trainer::noise()
{
  return parts_.roles.workers.size() == 1 ? &local_.replica().noise() : strategy_->noise();
}

// Samples of the batches that noise() compares.
double Trainer::noise_batch() const
{
  return static_cast<double>(parts_.roles.workers.size() == 1 ? plan_.micro_batch : plan_.batch_per_rank);
}

// Completes the result after the last step. Collective.
RunResult Trainer::finish()
{
  result_.wall_s = clock_.wall_s();
  measurement_.end();
  evaluations_->fill(result_);
  result_.steps = step_;
  result_.resumed_step = resumed_.step;
  const auto& network = local_.network();
  result_.parameters = network.parameter_count();
  result_.flops.per_sample = network.flops() / static_cast<double>(network.options().batch);
  result_.flops.precision = name_of(options_.spec.train.precision);
  result_.replaced_samples = replaced_samples();
  result_.weights_hash = hash_hex(plain_weights());
  measurement_.fill(result_, strategy_->staleness());
  result_.samples_to_accuracy = evaluations_->scores().steps_to_accuracy * plan_.global_batch;
  result_.buckets = strategy_->buckets();
  if (const auto* noise = this->noise()) result_.noise = noise->noise_scale().times(noise_batch());
  for (const auto& [name, fact] : lasting_facts()) result_.facts[name] = fact;
  measure_alone();
  result_.unix_s = now_unix_s();
  return result_;
}

// Measures communication and computation that have the machine for themselves. It is done last, so that the first step need not
// wait for it and no other figure contains it; only runs that reach their end need the answers. Collective.
void Trainer::measure_alone()
{
  comm_.activity().enter(comm::Doing::works, "measures one step's communication alone");
  comm_.activity().advance();
  const double isolated_s = strategy_->isolated_communication_s(local_.replica());
  result_.isolated_communication_s = mean_of_workers(isolated_s, parts_.roles, comm_);
  comm_.activity().enter(comm::Doing::works, "measures one rank's computation alone");
  comm_.activity().advance();
  result_.lone_compute_s = local_.lone_compute_s();
}

} // namespace dt::train
