// A training that stops after any step and goes on from its checkpoint is, bit for bit, the one that never stopped.
// Started by mpirun with several counts of ranks.
#include "core/error.hpp"
#include "engine/train/loop/trainer.hpp"
#include "tests/engine/comm/shared_folder.hpp"
#include "tests/support/engine_run.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <map>
#include <numeric>

using namespace dt;
using namespace dt::train;
using dt::test::SharedFolder;

namespace {

struct Diary : Observer {
  void step(const dt::StepEvent& event) override
  {
    losses[event.step] = std::bit_cast<std::uint64_t>(event.loss.value());
    rates[event.step] = event.learning_rate.value();
    elapsed[event.step] = event.elapsed_s;
  }
  void evaluation(const dt::EvalEvent& event) override { accuracies[event.step] = event.accuracy.value(); }
  std::map<std::int64_t, std::uint64_t> losses;
  std::map<std::int64_t, double> rates, accuracies, elapsed;
};

// Stops at the first look after so many steps, with a checkpoint, because its last rank wants it.
class Stopper : public Overseer {
 public:
  Stopper(const std::filesystem::path& folder, std::int64_t after, comm::Communicator& comm)
      : folder_(folder), after_(after), comm_(comm)
  {
  }
  Request request() override { return {.time_limit = comm_.rank() == comm_.size() - 1 && ++looks_ >= after_}; }
  void checkpoint(const TrainingProgress& progress, const Snapshot& snapshot, const Request&) override
  {
    std::optional<CheckpointWriter> writer;
    if (comm_.is_root()) writer.emplace(folder_, CheckpointOwner{}, progress, snapshot.tensors());
    snapshot.save(writer ? &*writer : nullptr);
    if (writer) writer->commit();
    saved = progress;
  }
  std::optional<TrainingProgress> saved;

 private:
  std::filesystem::path folder_;
  std::int64_t after_, looks_ = 0;
  comm::Communicator& comm_;
};

// Momentum, shuffled data, a schedule that moves every step, short evaluation periods: 10 steps an epoch, evaluations after
// every third of an epoch.
dt::RunSpec demanding_spec(std::int64_t ranks)
{
  auto spec = dt::test::small_lenet(ranks, 250);
  spec.train.global_batch = 24;
  spec.train.steps = 26;
  spec.train.warmup_steps = 4;
  spec.train.eval_every_epochs = 1.0 / 3;
  spec.optimizer = {.name = "momentum", .learning_rate = 0.02, .weight_decay = 0.001, .schedule = "cosine"};
  spec.optimizer.warmup_epochs = 1;
  return spec;
}

struct Outcome {
  Diary diary;
  dt::RunResult result;
};

Outcome uninterrupted(const dt::RunSpec& spec, comm::Communicator& comm)
{
  Outcome outcome;
  Overseer nobody;
  outcome.result = Trainer({spec, {}}, comm).run(outcome.diary, nobody).value();
  return outcome;
}

// Stops at the n-th look, goes on in another trainer, which stops at its n-th look, and so on to the end.
Outcome interrupted(const dt::RunSpec& spec, std::int64_t looks, comm::Communicator& comm)
{
  const SharedFolder folder(comm);
  Outcome outcome;
  std::optional<TrainingProgress> from;
  while (true) {
    std::optional<CheckpointReader> reader;
    if (from && comm.is_root()) reader.emplace(list_checkpoints(folder.path()).front());
    Stopper stopper(folder.path(), looks, comm);
    Trainer trainer({spec, {}, from, reader ? &*reader : nullptr}, comm);
    const auto result = trainer.run(outcome.diary, stopper);
    if (result) {
      outcome.result = *result;
      return outcome;
    }
    REQUIRE(trainer.stopped_by().time_limit);
    REQUIRE(stopper.saved->step == trainer.steps_done());
    from = stopper.saved;
  }
}

void check_same(const Outcome& one, const Outcome& other)
{
  CHECK(one.diary.losses == other.diary.losses);
  CHECK(one.diary.rates == other.diary.rates);
  CHECK(one.diary.accuracies == other.diary.accuracies);
  CHECK(one.result.weights_hash == other.result.weights_hash);
  CHECK(one.result.final_loss == other.result.final_loss);
  CHECK(one.result.eval_loss == other.result.eval_loss);
  CHECK(one.result.best_accuracy == other.result.best_accuracy);
  CHECK(one.result.steps == other.result.steps);
}

} // namespace

TEST_CASE("stopped and taken up again after any number of steps, a training ends in the same bits")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto whole = uninterrupted(demanding_spec(comm.size()), comm);
  REQUIRE(whole.diary.losses.size() == 26);
  for (const std::int64_t looks : {1, 2, 3, 4}) { // at steps 1, 2, 3 …; 3, 6, 9 …; up to doubling intervals
    CAPTURE(looks);
    const auto pieces = interrupted(demanding_spec(comm.size()), looks, comm);
    check_same(pieces, whole);
    CHECK(pieces.result.resumed_step > 0);
  }
}

TEST_CASE("every rule goes on in the same bits, with other schedules, without reading ahead and in weights that ranks share")
{
  struct Row {
    std::string rule, strategy, schedule;
    std::int64_t prefetch;
  };
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [rule, strategy, schedule, prefetch] : std::vector<Row>{{"sgd", "sync-sgd", "polynomial", 0},
                                                                           {"nesterov", "sync-sgd", "cosine", 2},
                                                                           {"adam", "sync-sgd", "cosine", 2},
                                                                           {"adamw", "sync-sgd", "cosine", 2},
                                                                           {"momentum", "hsgd", "cosine", 2},
                                                                           {"adam", "hsgd", "cosine", 2}}) {
    CAPTURE(rule, strategy);
    auto spec = demanding_spec(comm.size());
    spec.optimizer.name = rule;
    spec.optimizer.learning_rate = 0.001;
    spec.optimizer.schedule = schedule;
    spec.data.prefetch_batches = prefetch;
    spec.sync.strategy = strategy;
    const auto whole = uninterrupted(spec, comm);
    check_same(interrupted(spec, 3, comm), whole);
    if (strategy == "hsgd") CHECK((whole.result.facts.count("weights") == 1) == (comm.size() > 1));
  }
}

TEST_CASE("diloco goes on in the same bits, between two exchanges and while a sum is under way")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto spec = demanding_spec(comm.size());
  spec.sync.strategy = "diloco";
  spec.sync.allreduce = "ring";
  spec.sync.period = 5;
  spec.optimizer.name = "adamw";
  spec.optimizer.learning_rate = 0.001;
  for (const auto rule : {OuterRule::nesterov, OuterRule::adam})
    for (const std::int64_t delay : {0, 3}) {
      spec.sync.outer = {.rule = rule, .fragments = 1 + delay, .delay = delay, .mix = 0.25};
      CAPTURE(name_of(rule), delay);
      check_same(interrupted(spec, 1, comm), uninterrupted(spec, comm));
    }
}

TEST_CASE("a target stops the training taken up again at the same step")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto spec = demanding_spec(comm.size());
  spec.train.stop_at_target = true;
  const auto all = uninterrupted(spec, comm);
  // The first accuracy that no earlier evaluation had, from the second on: reached on the way, not at once.
  const auto first = all.diary.accuracies.begin()->second;
  double target = 2;
  for (const auto& [step, accuracy] : all.diary.accuracies)
    if (target > 1 && accuracy > first) target = accuracy;
  REQUIRE(target <= 1);
  spec.train.target_accuracy = target;
  const auto whole = uninterrupted(spec, comm);
  const auto pieces = interrupted(spec, 2, comm);
  check_same(pieces, whole);
  CHECK(pieces.result.steps < 26);
  CHECK(pieces.result.time_to_accuracy_s > 0);
  CHECK(pieces.result.time_to_accuracy_s <= pieces.result.wall_s);
}

TEST_CASE("times go on from the checkpoint, and throughput is of the measured steps of all attempts, each after its own warm-up")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto spec = demanding_spec(comm.size());
  const SharedFolder folder(comm);
  Diary diary;
  Stopper stopper(folder.path(), 3, comm); // after step 1, 3, and 7 at the latest
  Overseer nobody;
  REQUIRE_FALSE(Trainer({spec, {}}, comm).run(diary, stopper));
  auto from = *stopper.saved;
  from.wall_s = 1000;
  from.evaluation_s = 100;
  from.checkpoint_s = 10;
  const auto measured_before = std::max<std::int64_t>(0, from.step - 4);
  CHECK(from.measured_samples == measured_before * 24);
  if (comm.is_root()) CHECK((from.measured_s > 0) == (measured_before > 0));
  from.measured_samples = 2400;
  from.measured_s = 500;
  from.communication_s = 400;
  from.work = {450, 150, 160, 170, 110, 115};
  std::optional<CheckpointReader> reader;
  if (comm.is_root()) reader.emplace(list_checkpoints(folder.path()).front());
  const auto result = Trainer({spec, {}, from, reader ? &*reader : nullptr}, comm).run(diary, nobody).value();
  CHECK(diary.elapsed.at(from.step + 1) >= 890);
  CHECK(diary.elapsed.at(from.step + 1) < 990);
  CHECK(result.wall_s > 1000);
  CHECK(result.resumed_step == from.step);
  CHECK(result.warmup_steps == 4);
  CHECK(result.measured_samples == 2400 + (26 - from.step - 4) * 24);
  if (!comm.is_root()) return;
  CHECK(result.measured_s > 500);
  CHECK(result.measured_s < 600);
  CHECK(result.work.busy_step_max_s > 170);
  CHECK(result.work.useful_fast_s > 110);
  CHECK(result.work.useful_step_fast_s > 115);
  CHECK(result.throughput == Approx(static_cast<double>(result.measured_samples) / result.measured_s));
  CHECK(result.communication_share >= 400 / result.measured_s);
  CHECK(result.communication_share < 1);
}

TEST_CASE("taken up again with no more steps left than warm up, a run has no throughput rather than a wrong one")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto spec = demanding_spec(comm.size());
  spec.train.warmup_steps = 25;
  const auto pieces = interrupted(spec, 1, comm);
  CHECK(pieces.result.steps == 26);
  CHECK(pieces.result.measured_samples == 0);
  CHECK(pieces.result.warmup_steps == 26 - pieces.result.resumed_step);
  CHECK(std::isnan(pieces.result.throughput));
}

TEST_CASE("cancelled, a training stops without a checkpoint")
{
  struct Canceller : Overseer {
    Request request() override { return {.preemption = true, .cancel = true}; }
    void checkpoint(const TrainingProgress&, const Snapshot&, const Request&) override { FAIL("a checkpoint"); }
  } canceller;
  comm::Communicator comm(MPI_COMM_WORLD);
  Trainer trainer({demanding_spec(comm.size()), {}}, comm);
  Observer silent;
  CHECK_FALSE(trainer.run(silent, canceller));
  CHECK(trainer.steps_done() == 1);
  CHECK(trainer.stopped_by().cancel);
}

TEST_CASE("a request for a checkpoint alone is met and the training goes on, its time left out of training time")
{
  struct Slow : Overseer {
    Request request() override { return {.checkpoint = true}; }
    void checkpoint(const TrainingProgress& now, const Snapshot&, const Request&) override
    {
      const double until = comm::monotonic_s() + 0.2;
      while (comm::monotonic_s() < until) {
      }
      ++written;
      last = now;
    }
    int written = 0;
    TrainingProgress last;
  } slow;
  comm::Communicator comm(MPI_COMM_WORLD);
  Diary diary;
  const auto result = Trainer({demanding_spec(comm.size()), {}}, comm).run(diary, slow).value();
  REQUIRE(slow.written >= 2);
  CHECK(result.steps == 26);
  CHECK(result.wall_s - diary.elapsed.at(26) >= 0.2 * slow.written);
  CHECK(slow.last.checkpoint_s >= 0.2 * (slow.written - 1));
}

namespace {

// A strategy whose ranks differ, with a centre that they share and a velocity of their own.
class Differing : public sync::Strategy {
 public:
  explicit Differing(std::size_t floats) : centre_(floats), velocity_(floats) {}
  void start(sync::Replica&) override {}
  double step(sync::Replica&, sync::PhaseClock&) override { return 0; }
  std::vector<sync::StrategyState> state() override { return {{"centre", centre_, false}, {"velocity", velocity_, true}}; }
  bool replicated() const override { return false; }

 private:
  std::vector<float> centre_, velocity_;
};

// Plain values no two of which are equal, whatever tensor and rank.
std::vector<float> distinct(std::size_t count, int rank, float kind)
{
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1e6F * kind + 1e5F * static_cast<float>(rank));
  return values;
}

struct Parts {
  explicit Parts(comm::Communicator& communicator)
      : network({.model = "lenet", .image = {1, 28, 28}, .batch = 4}),
        optimizer(optim::make_optimizer({}, network.weights().size(), {})), strategy(network.weights().size()), comm(communicator)
  {
  }
  void fill(int rank)
  {
    const auto count = static_cast<std::size_t>(network.plain_size());
    network.pack(distinct(count, rank, 1), network.weights());
    network.pack(distinct(count, rank, 2), optimizer->state()[0].values);
    network.pack(distinct(count, 0, 3), strategy.state()[0].values);
    network.pack(distinct(count, rank, 4), strategy.state()[1].values);
  }
  std::vector<std::vector<float>> plain()
  {
    return {network.plain_weights(), network.plain_of(optimizer->state()[0].values), network.plain_of(strategy.state()[0].values),
            network.plain_of(strategy.state()[1].values)};
  }
  Snapshot snapshot() { return Snapshot({network, *optimizer, strategy, comm}); }
  nn::Network network;
  std::unique_ptr<optim::Optimizer> optimizer;
  Differing strategy;
  comm::Communicator& comm;
};

} // namespace

TEST_CASE("where ranks differ, every rank's weights and buffers are kept and come back to their rank")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  Parts before(comm), after(comm);
  before.fill(comm.rank());
  std::optional<CheckpointWriter> writer;
  if (comm.is_root()) writer.emplace(folder.path(), CheckpointOwner{}, TrainingProgress{.step = 5}, before.snapshot().tensors());
  before.snapshot().save(writer ? &*writer : nullptr);
  if (writer) writer->commit();
  std::optional<CheckpointReader> reader;
  if (comm.is_root()) reader.emplace(folder.path() / "step-5.safetensors");
  after.snapshot().load(reader ? &*reader : nullptr);
  CHECK(after.plain() == before.plain());
  if (!reader) return;
  std::vector<float> bias(6);
  const std::vector<std::int64_t> dims{6};
  CHECK_NOTHROW(reader->read("strategy/centre/conv1.bias", dims, bias));
  CHECK_NOTHROW(reader->read("ranks/" + std::to_string(comm.size() - 1) + "/optimizer/velocity/conv1.bias", dims, bias));
  CHECK_THROWS(reader->read("weights/conv1.bias", dims, bias));
}

TEST_CASE("a writer that fails on rank 0 keeps no other rank waiting")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  Parts parts(comm);
  parts.fill(comm.rank());
  if (comm.is_root()) {
    CheckpointWriter writer(folder.path(), {}, {.step = 5}, {{"another", {1}}});
    CHECK_THROWS_AS(parts.snapshot().save(&writer), dt::Error);
  } else {
    parts.snapshot().save(nullptr);
  }
  comm.barrier();
}
