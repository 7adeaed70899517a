// The trainer over several ranks against one rank (on MPI_COMM_SELF, in the same program) that does the whole work.
#include "core/files/file.hpp"
#include "engine/train/loop/trainer.hpp"
#include "tests/support/engine_run.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

using namespace dt;
using namespace dt::train;
using dt::Phase;

namespace {

class Collector : public Observer {
 public:
  void planned(std::int64_t count) override { planned_steps = count; }
  void step(const dt::StepEvent& event) override { steps.push_back(event); }
  void evaluation(const dt::EvalEvent& event) override { evals.push_back(event); }
  std::int64_t planned_steps = 0;
  std::vector<dt::StepEvent> steps;
  std::vector<dt::EvalEvent> evals;
};

constexpr std::int64_t global_batch = 24; // divides among 1, 2 and 3 ranks

// LeNet on random images; the training set is small enough to be learnt by heart.
dt::RunSpec small_run(std::int64_t ranks)
{
  auto spec = dt::test::small_lenet(ranks, 240);
  spec.data.test_samples = 100;
  spec.train.global_batch = global_batch;
  spec.train.steps = 30;
  spec.train.warmup_steps = 4;
  spec.optimizer.learning_rate = 0.02;
  return spec;
}

struct Outcome {
  Collector seen;
  dt::RunResult result;
  std::vector<float> weights;
};

Outcome trained(const dt::RunSpec& spec, MPI_Comm handle)
{
  comm::Communicator comm(handle);
  Trainer trainer({spec, {}}, comm);
  Outcome outcome;
  Overseer nobody;
  outcome.result = trainer.run(outcome.seen, nobody).value();
  outcome.weights = trainer.plain_weights();
  return outcome;
}

int world_size() { return comm::Communicator(MPI_COMM_WORLD).size(); }
bool is_root() { return comm::Communicator(MPI_COMM_WORLD).is_root(); }

} // namespace

TEST_CASE("several ranks give the loss curve of one rank with the whole batch: plain, clipped in micro-batches, and under LARS")
{
  struct Row {
    const char* what;
    void (*change)(dt::RunSpec&);
    double tolerance; // sums in another order differ by rounding, and the steps carry that on
  };
  const auto clipped = [](dt::RunSpec& spec) {
    spec.optimizer.clip_norm = 0.5;
    spec.train.accumulation = 4;
  };
  const auto lars = [](dt::RunSpec& spec) {
    spec.train.steps = 10;
    spec.optimizer.name = "lars";
    spec.optimizer.weight_decay = 1e-3;
    spec.optimizer.trust = 0.05;
    spec.optimizer.learning_rate = 0.5;
  };
  comm::Communicator comm(MPI_COMM_WORLD);
  std::set<double> ends;
  for (const auto& [what, change, tolerance] :
       {Row{"plain", [](dt::RunSpec&) {}, 1e-4}, Row{"clipped", clipped, 1e-4}, Row{"LARS", lars, 1e-3}}) {
    auto spec = small_run(world_size()), alone = small_run(1);
    change(spec), change(alone);
    alone.train.accumulation = 1; // the whole batch at once
    const auto many = trained(spec, MPI_COMM_WORLD), one = trained(alone, MPI_COMM_SELF);
    REQUIRE(many.seen.steps.size() == static_cast<std::size_t>(spec.train.steps));
    for (std::size_t i = 0; i < many.seen.steps.size(); ++i) {
      CAPTURE(what, i);
      CHECK(many.seen.steps[i].loss == Approx(one.seen.steps[i].loss.value()).epsilon(tolerance));
      CHECK(many.seen.steps[i].epoch == one.seen.steps[i].epoch);
      CHECK(many.seen.steps[i].learning_rate == one.seen.steps[i].learning_rate);
    }
    CHECK(one.seen.steps.back().loss < one.seen.steps.front().loss);
    CHECK(comm.all_equal(many.result.weights_hash));
    CHECK(many.result.weights_hash.size() == 32);
    ends.insert(one.seen.steps.back().loss.value());
    if (std::string(what) != "plain") continue;
    for (std::size_t i = 0; i < one.weights.size(); ++i)
      REQUIRE(std::abs(static_cast<double>(many.weights.at(i) - one.weights[i])) < 1e-4);
  }
  CHECK(ends.size() == 3);
}

TEST_CASE("with synchronized statistics several ranks give the loss curve of one rank with the whole batch, without them another")
{
  const auto normalised = [](std::int64_t ranks, BatchNormSamples over) {
    auto spec = small_run(ranks);
    spec.model.name = "custom";
    spec.model.layers = {"convolution channels=6 kernel=3 padding=1", "batch_norm", "relu", "max_pooling kernel=2 stride=2",
                         "inner_product outputs=10"};
    spec.model.batch_norm = over;
    return spec;
  };
  const auto many = trained(normalised(world_size(), BatchNormSamples::synchronized), MPI_COMM_WORLD);
  const auto local = trained(normalised(world_size(), BatchNormSamples::local), MPI_COMM_WORLD);
  const auto one = trained(normalised(1, BatchNormSamples::local), MPI_COMM_SELF);
  for (std::size_t i = 0; i < 30; ++i) CHECK(many.seen.steps[i].loss == Approx(one.seen.steps[i].loss.value()).epsilon(1e-3));
  CHECK(many.result.eval_loss ==
        Approx(one.result.eval_loss.value()).epsilon(1e-3)); // so the running statistics are those of one rank too
  CHECK(comm::Communicator(MPI_COMM_WORLD).all_equal(many.result.weights_hash));
  if (world_size() > 1) CHECK(std::abs(*local.seen.steps[0].loss - *one.seen.steps[0].loss) > 1e-4);
}

TEST_CASE("where ranks make steps of their own, the loss before an evaluation is the mean over all of them")
{
  for (const auto* strategy : {"local-sgd", "sync-easgd", "sync-sgd"}) {
    INFO(strategy);
    auto spec = small_run(world_size());
    spec.sync.strategy = strategy;
    spec.sync.period = 4;
    spec.optimizer.name = "sgd";
    spec.train.warmup_steps = 0;
    spec.train.steps = 7;
    const auto longer = trained(spec, MPI_COMM_WORLD); // no evaluation follows its step 6
    spec.train.steps = 6;
    const auto run = trained(spec, MPI_COMM_WORLD);
    comm::Communicator comm(MPI_COMM_WORLD);
    std::array sum{longer.seen.steps.at(5).loss.value()};
    comm.sum_record(sum);
    if (!is_root()) continue;
    CHECK(run.seen.steps.at(5).loss == Approx(sum[0] / world_size()));
    CHECK(run.result.final_loss == run.seen.steps.at(5).loss);
    CHECK(run.seen.steps.at(4).loss == longer.seen.steps.at(4).loss);
  }
}

TEST_CASE("a seed decides every bit of the weights")
{
  auto spec = small_run(world_size());
  const auto first = trained(spec, MPI_COMM_WORLD);
  const auto again = trained(spec, MPI_COMM_WORLD);
  CHECK(first.result.weights_hash == again.result.weights_hash);
  CHECK(first.result.final_loss == again.result.final_loss);
  spec.train.seed = 2;
  CHECK(trained(spec, MPI_COMM_WORLD).result.weights_hash != first.result.weights_hash);
}

TEST_CASE("evaluation shared by several ranks counts what one rank counts, short batches included")
{
  auto spec = small_run(world_size());
  spec.train.steps = 5;
  spec.train.global_batch = 0;
  spec.train.batch_per_rank = 7; // 100 samples: the last batch of every rank is short
  const auto many = trained(spec, MPI_COMM_WORLD);

  comm::Communicator alone(MPI_COMM_SELF);
  const auto sources = data::open_sources(spec.data, {}, spec.train.seed);
  nn::Network network({.model = "lenet", .image = {1, 28, 28}, .batch = 7, .seed = 1});
  network.set_plain_weights(many.weights);
  const auto one = Evaluator(network, *sources.test, alone).evaluate();
  REQUIRE(many.seen.evals.size() == 1);
  CHECK(one.samples == 100);
  CHECK(many.seen.evals[0].samples == 100);
  CHECK(many.seen.evals[0].accuracy == static_cast<double>(one.correct) / 100);
  CHECK(many.seen.evals[0].loss == Approx(one.loss_sum / 100).epsilon(1e-6));
}

TEST_CASE("memory has to hold the evaluation's activations beside the training's")
{
  const nn::NetworkOptions options{.model = "lenet", .image = {1, 28, 28}, .batch = 7, .seed = 1};
  const auto need = nn::Network(options).memory();
  auto limited = options;
  limited.memory_limit_bytes = need.total();
  const nn::Network tight(limited);
  limited.memory_limit_bytes = need.total() + need.activations; // an evaluation keeps no more than a training
  const nn::Network wide(limited);

  comm::Communicator alone(MPI_COMM_SELF);
  const auto sources = data::open_sources(small_run(1).data, {}, 1);
  CHECK_THROWS_WITH(Evaluator(tight, *sources.test, alone), Catch::Contains("are free for it"));
  CHECK(Evaluator(wide, *sources.test, alone).evaluate().samples == 100);
}

TEST_CASE("phases are never negative and sum to no more than their step")
{
  const auto outcome = trained(small_run(world_size()), MPI_COMM_WORLD);
  for (const auto& step : outcome.seen.steps) {
    for (const double phase : step.phase_s) CHECK(phase >= 0);
    CHECK(std::accumulate(step.phase_s.begin(), step.phase_s.end(), 0.0) <= step.step_s);
    CHECK(step.phase_s[static_cast<std::size_t>(Phase::forward)] > 0);
    CHECK(step.phase_s[static_cast<std::size_t>(Phase::backward)] > 0);
    CHECK(step.phase_s[static_cast<std::size_t>(Phase::evaluation)] == 0);
  }
}

TEST_CASE("elapsed time grows with every step and leaves evaluations out")
{
  auto spec = small_run(world_size());
  spec.train.eval_every_epochs = 0.1; // after every step
  const auto outcome = trained(spec, MPI_COMM_WORLD);
  double last = 0, evaluations = 0;
  for (const auto& step : outcome.seen.steps) {
    CHECK(step.elapsed_s >= last + step.step_s - 1e-9);
    last = step.elapsed_s;
  }
  for (const auto& eval : outcome.seen.evals) evaluations += eval.eval_s;
  CHECK(outcome.seen.evals.size() == 30);
  CHECK(outcome.result.wall_s >= last + evaluations);
}

TEST_CASE("the result counts measured steps, samples and traffic without the warm-up")
{
  const int ranks = world_size();
  const auto outcome = trained(small_run(ranks), MPI_COMM_WORLD);
  const auto& result = outcome.result;
  CHECK(outcome.seen.planned_steps == 30);
  CHECK(result.steps == 30);
  CHECK(result.warmup_steps == 4);
  CHECK(result.measured_samples == 26 * global_batch);
  CHECK(result.parameters > 0);
  CHECK(result.final_loss == outcome.seen.steps.back().loss);
  CHECK(result.accuracy == outcome.seen.evals.back().accuracy);
  if (!is_root()) return;
  REQUIRE(result.ranks.size() == static_cast<std::size_t>(ranks));
  CHECK(result.throughput == Approx(static_cast<double>(result.measured_samples) / result.measured_s));
  CHECK((ranks == 1 || result.communication_share > 0));
  CHECK(result.communication_share < 1);
  nn::Network network({.model = "lenet", .image = {1, 28, 28}, .batch = global_batch / ranks});
  const auto gradient_bytes = static_cast<std::int64_t>(network.gradients().size_bytes());
  for (const auto& rank : result.ranks) {
    CHECK(rank.bytes_sent == 26 * (2 * gradient_bytes * (ranks - 1) / ranks));
    CHECK(rank.messages_sent == (ranks > 1 ? 26 : 0));
    CHECK(rank.memory_peak_bytes > 0);
    CHECK(rank.step.total_s <= result.measured_s + 1e-6);
    CHECK(rank.late_s >= 0);
  }
}

TEST_CASE("the gradient noise scale is measured without a trace in the weights, over workers or over the micro-batches of one")
{
  const int ranks = world_size();
  for (const auto progress : {ProgressMode::none, ProgressMode::poll}) {
    auto spec = small_run(ranks);
    spec.sync.progress = progress;
    if (ranks == 1) spec.train.accumulation = 3;
    const auto plain = trained(spec, MPI_COMM_WORLD);
    spec.train.noise_scale = 1;
    const auto measured = trained(spec, MPI_COMM_WORLD);
    CHECK(measured.result.weights_hash == plain.result.weights_hash);
    CHECK(std::isnan(plain.result.noise.value));
    CHECK(measured.result.noise.value > 0);
    CHECK(measured.result.noise.low < measured.result.noise.value);
    spec.train.noise_scale = 2; // 13 looks at 26 measured steps
    CHECK(std::isnan(trained(spec, MPI_COMM_WORLD).result.noise.low));
    if (ranks == 1) continue;
    auto alone = small_run(1);
    alone.train.accumulation = ranks;
    alone.train.noise_scale = 1;
    CHECK(trained(alone, MPI_COMM_SELF).result.noise.value == Approx(measured.result.noise.value).epsilon(0.01));
  }
}

TEST_CASE("communication and computation alone are measured after the last step, not before the first")
{
  const int ranks = world_size();
  comm::Communicator comm(MPI_COMM_WORLD);
  StartTimes start(0, [] { return 0.0; });
  Trainer trainer({.spec = small_run(ranks), .data_folder = {}, .start = &start}, comm);
  Collector seen;
  Overseer nobody;
  const auto result = trainer.run(seen, nobody).value();
  CHECK_THAT(start.words(), Catch::StartsWith("0.000 s: topology 0.000, data set 0.000, ") &&
                                Catch::EndsWith(", first weights 0.000, first step 0.000"));
  CHECK(std::string(comm.activity().what()) == "measures one rank's computation alone"); // the last thing that the ranks did
  CHECK(result.facts.at("start") == start.words());
  if (!is_root()) return;
  CHECK(result.lone_compute_s > 0);
  CHECK((ranks == 1 || result.isolated_communication_s > 0));
}

TEST_CASE("the sums of useful time agree with the ranks' phases and with the time that was measured")
{
  const int ranks = world_size();
  const auto result = trained(small_run(ranks), MPI_COMM_WORLD).result;
  if (!is_root()) return;
  double useful_s = 0, most_s = 0;
  for (const auto& rank : result.ranks) {
    double own_s = 0;
    for (const auto phase : {Phase::forward, Phase::backward, Phase::optimizer})
      own_s += rank.phases[static_cast<std::size_t>(phase)].total_s;
    useful_s += own_s;
    most_s = std::max(most_s, own_s);
  }
  CHECK(result.work.useful_s == Approx(useful_s));
  CHECK(result.work.useful_max_s == Approx(most_s));
  CHECK(result.work.useful_step_max_s >= result.work.useful_max_s - 1e-9);
  CHECK(result.work.useful_fast_s <= result.work.useful_s / static_cast<double>(ranks) + 1e-9);
  CHECK(result.work.useful_step_fast_s > 0);
  CHECK(result.work.useful_step_fast_s <= result.work.useful_step_max_s + 1e-9);
  CHECK(result.work.busy_step_max_s >= result.work.useful_step_max_s - 1e-9);
  CHECK(result.work.busy_step_max_s <= result.measured_s);
}

TEST_CASE("training stops at the target, on all ranks, and notes when it was reached")
{
  auto spec = small_run(world_size());
  spec.train.eval_every_epochs = 0.1; // after every step
  spec.train.target_accuracy = 0.001;
  spec.train.stop_at_target = true;
  const auto outcome = trained(spec, MPI_COMM_WORLD);
  const auto last = outcome.seen.evals.back();
  REQUIRE(last.accuracy >= 0.001);
  CHECK(outcome.result.steps == last.step);
  CHECK(outcome.result.steps < 30);
  CHECK(outcome.result.time_to_accuracy_s > 0);
  CHECK(outcome.result.time_to_accuracy_s <= outcome.result.wall_s);
}

TEST_CASE("a target without stopping is timed at its first reaching, and one never reached has no time")
{
  auto spec = small_run(world_size());
  spec.train.target_accuracy = 0.001;
  const auto reached = trained(spec, MPI_COMM_WORLD);
  CHECK(reached.result.steps == 30);
  CHECK(reached.result.time_to_accuracy_s < reached.result.wall_s);
  spec.train.target_accuracy = 1;
  CHECK(std::isnan(trained(spec, MPI_COMM_WORLD).result.time_to_accuracy_s));
}

TEST_CASE("a loss that is no number stops the training with its step, learning rate, layer, last checkpoint and what to do")
{
  auto spec = small_run(1);
  spec.optimizer.learning_rate = 1e6;
  try {
    trained(spec, MPI_COMM_SELF);
    FAIL("no error");
  } catch (const TrainingError& error) {
    CHECK(error.kind() == dt::ErrorKind::run);
    CHECK(error.step() >= 2);
    CHECK_THAT(error.what(),
               Catch::StartsWith("step " + std::to_string(error.step()) + ": the loss is ") && !Catch::Contains("nan"));
    CHECK_THAT(
        error.what(),
        Catch::Contains(" at a learning rate of 1000000; the first values that are not finite are in the output of layer "));
    CHECK_THAT(error.what(),
               Catch::EndsWith(". Last good checkpoint: none was written; set train.checkpoint_every. Lower "
                               "optimizer.learning_rate, set optimizer.clip_norm or lengthen optimizer.warmup_epochs."));
  }
}

TEST_CASE("a parameter server and its workers train, and centre, worker and average are told apart")
{
  const int ranks = world_size();
  if (ranks < 2) return;
  auto spec = small_run(ranks);
  spec.sync.strategy = "async-easgd";
  spec.sync.alpha = 0.3;
  spec.optimizer.name = "sgd";
  spec.optimizer.learning_rate = 0.05;
  spec.train.steps = 120;
  spec.train.eval_every_epochs = 4;
  const auto outcome = trained(spec, MPI_COMM_WORLD);
  const auto& result = outcome.result;
  CHECK(outcome.seen.evals.size() == 3);
  CHECK(result.accuracy == outcome.seen.evals.back().accuracy);
  CHECK(result.accuracy_centre == result.accuracy); // what `auto` evaluates
  CHECK(result.accuracy_worker >= 0);
  CHECK(result.accuracy_average >= 0);
  CHECK(result.staleness.updates == 120 * (ranks - 1));
  CHECK(result.staleness.max <= 120 * (ranks - 1));
  if (!is_root()) return;
  CHECK(result.final_loss < outcome.seen.steps.front().loss);
  CHECK(result.facts.at("evaluated") == "centre");
  REQUIRE(result.ranks.size() == static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    CHECK(result.ranks[static_cast<std::size_t>(rank)].role == (rank == ranks - 1 ? "server" : "worker"));
  CHECK(result.ranks.back().memory_peak_bytes > 0);
  CHECK(result.ranks.back().phases[static_cast<std::size_t>(Phase::forward)].total_s == 0);
}

// Two steps, the second at half the learning rate.
dt::RunSpec falling_rate(std::int64_t ranks, const std::string& optimizer)
{
  auto spec = small_run(ranks);
  spec.train.steps = 2;
  spec.train.warmup_steps = 0;
  spec.optimizer.name = optimizer;
  spec.optimizer.schedule = "step";
  spec.optimizer.step_epochs = 0.1; // ten steps an epoch
  spec.optimizer.step_factor = 0.5;
  return spec;
}

TEST_CASE("the first worker's momentum is its paper's when the learning rate falls: V <- mu V - eta g, W <- W + V")
{
  if (world_size() != 2) return;
  // W2 = W1 + mu (W1 - W0) - eta2 g2, from the two steps of plain SGD: W1, and W2' = W1 - eta2 g2.
  auto plain = falling_rate(1, "sgd");
  comm::Communicator alone(MPI_COMM_SELF);
  const auto w0 = Trainer({plain, {}}, alone).plain_weights();
  const auto w2_plain = trained(plain, MPI_COMM_SELF).weights;
  plain.train.steps = 1;
  const auto w1 = trained(plain, MPI_COMM_SELF).weights;
  for (const std::string strategy : {"async-msgd", "async-measgd"}) {
    auto spec = falling_rate(2, "momentum"); // one worker and a server
    spec.sync.strategy = strategy;
    const auto w2 = trained(spec, MPI_COMM_WORLD).weights; // alpha 0: nothing pulls the worker of async-measgd
    if (!is_root()) continue;
    float worst = 0, longest = 0;
    for (std::size_t i = 0; i < w2.size(); ++i) {
      worst = std::max(worst, std::abs(w2[i] - (w2_plain[i] + 0.9F * (w1[i] - w0[i]))));
      longest = std::max(longest, std::abs(w1[i] - w0[i]));
    }
    CAPTURE(strategy, longest);
    CHECK(worst < 0.01F * longest);
  }
}

TEST_CASE("an optimizer that the strategy is not defined with is refused by the trainer too")
{
  auto spec = small_run(world_size());
  spec.sync.strategy = "sync-easgd"; // with the default optimizer
  comm::Communicator comm(MPI_COMM_WORLD);
  CHECK_THROWS_WITH(Trainer({spec, {}}, comm), Catch::Contains("sync-easgd") && Catch::Contains("momentum"));
}

TEST_CASE("the record says which progress was taken where the recipe leaves it to the engine")
{
  auto spec = small_run(world_size());
  spec.sync.strategy = "sync-easgd";
  spec.sync.allreduce = "ring";
  spec.optimizer.name = "sgd";
  spec.train.steps = 5;
  const auto named = trained(spec, MPI_COMM_WORLD).result;
  CHECK(named.facts.count("progress") == 0);
  spec.sync.progress = ProgressMode::automatic;
  spec.model.batch_norm = BatchNormSamples::synchronized; // LeNet has none; and no thread, whatever cores there are
  const auto chosen = trained(spec, MPI_COMM_WORLD).result;
  CHECK(chosen.facts.at("progress") == (world_size() == 1 ? "none: there is one rank" : "poll: batch norm is synchronized"));
  CHECK(chosen.weights_hash == named.weights_hash);
}

TEST_CASE("what is evaluated changes nothing in what is trained")
{
  if (world_size() < 2) return;
  auto spec = small_run(world_size());
  spec.sync.strategy = "sync-easgd"; // deterministic, and its workers differ
  spec.optimizer.name = "sgd";
  spec.train.eval_every_epochs = 0.2;
  std::map<EvaluatedModel, std::string> hashes;
  for (const auto model : {EvaluatedModel::centre, EvaluatedModel::worker, EvaluatedModel::average}) {
    spec.sync.evaluate = model;
    hashes[model] = trained(spec, MPI_COMM_WORLD).result.weights_hash;
  }
  spec.train.eval_every_epochs = 0;
  spec.sync.evaluate = EvaluatedModel::automatic;
  const auto rarely = trained(spec, MPI_COMM_WORLD).result.weights_hash;
  for (const auto& [model, hash] : hashes) CHECK(hash == rarely);
}

TEST_CASE("a traced training keeps the phases of every step within it, and trains in the same bits")
{
  auto spec = small_run(world_size());
  const auto plain = trained(spec, MPI_COMM_WORLD);
  spec.train.trace = true;
  comm::Communicator comm(MPI_COMM_WORLD);
  Trainer trainer({spec, {}}, comm);
  Observer nobody_looks;
  Overseer nobody;
  CHECK(trainer.run(nobody_looks, nobody).value().weights_hash == plain.result.weights_hash);

  const dt::test::TemporaryFolder folder;
  const dt::AttemptFolder attempt(folder.path(), 1);
  dt::make_folders(attempt.path());
  trainer.write_timeline(attempt);
  const auto record = dt::parse_trace(dt::read_file(dt::trace_path(attempt, comm.rank())));
  REQUIRE(record);
  std::map<std::int64_t, dt::TraceSpan> steps;
  for (const auto& span : record->spans)
    if (record->names[static_cast<std::size_t>(span.name)] == "step") steps[span.step] = span;
  CHECK(steps.size() == 30);
  std::map<std::string, int> phases;
  for (const auto& span : record->spans) {
    const auto& name = record->names[static_cast<std::size_t>(span.name)];
    if (record->names[static_cast<std::size_t>(span.track)] != "training" || name == "step" || name == "evaluation") continue;
    ++phases[name];
    const auto& step = steps.at(span.step);
    CHECK(span.begin_ns >= step.begin_ns);
    CHECK(span.begin_ns + span.length_ns <= step.begin_ns + step.length_ns);
  }
  for (const auto* phase : {"input", "forward", "backward", "communication", "optimizer"}) CHECK(phases[phase] == 30);
}
