// What a replica makes of the recipe: micro-batches, loss scales, exemptions from decay, clipping, running statistics.
#include "engine/train/step/network_replica.hpp"

#include "engine/train/step/network_options.hpp"
#include "engine/train/step/plan.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

using namespace dt;
using namespace dt::train;

namespace {

const std::vector<std::string> with_batch_norm{"convolution channels=6 kernel=3 padding=1", "batch_norm", "relu",
                                               "max_pooling kernel=2 stride=2", "inner_product outputs=10"};

RunSpec spec_of(const std::string& model)
{
  RunSpec spec;
  spec.model.name = model;
  if (model == "custom") spec.model.layers = with_batch_norm;
  spec.data.name = "synthetic";
  spec.data.train_samples = 96;
  spec.train.batch_per_rank = 12;
  spec.train.steps = 4;
  spec.train.warmup_steps = 0;
  spec.train.winograd = false;
  spec.optimizer = {.name = "sgd", .learning_rate = 0.05};
  return spec;
}

// A replica on its own, as one rank has it.
struct Lone {
  explicit Lone(const RunSpec& run)
      : spec(run), sources(data::open_sources(spec.data, {}, 1)), plan(make_plan(spec, sources.train->size())),
        network(network_options(spec, *sources.train, plan.micro_batch, 0)),
        loader(*sources.train, {.batch_per_rank = plan.batch_per_rank}),
        optimizer(optim::make_optimizer(spec.optimizer, network.weights().size(), segments_of(network, spec.optimizer))),
        replica({network, loader, *optimizer, timer, spec.train.accumulation, spec.train.loss_scale})
  {
  }
  // The step's loss, with the gradients still there.
  double compute(std::int64_t number = 1, sync::GradientListener* listener = nullptr)
  {
    replica.begin_step({.number = number, .learning_rate = spec.optimizer.learning_rate});
    const auto loss = replica.compute(listener);
    CHECK(loss.samples == 12);
    return loss.mean;
  }
  void steps(int count)
  {
    for (int step = 1; step <= count; ++step) {
      compute(step);
      replica.update();
    }
  }
  // Of the first parameter of that kind, in plain order.
  std::vector<float> plain(nn::ParameterKind kind, std::span<const float> packed) const
  {
    auto all = network.plain_of(packed);
    auto begin = all.begin();
    for (const auto& parameter : network.parameters()) {
      const auto size = std::accumulate(parameter.dims.begin(), parameter.dims.end(), std::int64_t{1}, std::multiplies<>());
      if (parameter.kind == kind) return {begin, begin + size};
      begin += size;
    }
    FAIL("no such parameter");
    return {};
  }
  RunSpec spec;
  data::Sources sources;
  TrainingPlan plan;
  nn::Network network;
  data::BatchLoader loader;
  std::unique_ptr<optim::Optimizer> optimizer;
  StepTimer timer;
  NetworkReplica replica;
};

void check_close(const std::vector<float>& values, const std::vector<float>& expected, double tolerance)
{
  REQUIRE(values.size() == expected.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(values[i]) - static_cast<double>(expected[i])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  CHECK(largest > 0);
  CHECK(worst <= tolerance * largest);
}

} // namespace

TEST_CASE("a batch computed in micro-batches has the loss, the gradients and the steps of the whole")
{
  Lone whole(spec_of("lenet"));
  for (const std::int64_t parts : {2, 3, 12}) {
    CAPTURE(parts);
    auto spec = spec_of("lenet");
    spec.train.accumulation = parts;
    Lone pieces(spec), all(spec_of("lenet"));
    CHECK(pieces.network.options().batch == 12 / parts);
    CHECK(pieces.compute() == Approx(all.compute()).epsilon(1e-5));
    check_close(pieces.network.plain_gradients(), all.network.plain_gradients(), 1e-5);
    Lone first(spec), second(spec_of("lenet"));
    first.steps(4);
    second.steps(4);
    check_close(first.network.plain_weights(), second.network.plain_weights(), 1e-5);
  }
}

TEST_CASE("whoever listens hears of every tensor once a batch, when its sum over the micro-batches is in")
{
  struct Ear : sync::GradientListener {
    explicit Ear(Lone& lone) : replica(lone.replica) {}
    void gradients_ready(Range tensor) override
    {
      const auto values = values_at(replica.gradients(), tensor);
      offsets.push_back(tensor.begin);
      heard.emplace_back(values.begin(), values.end());
    }
    NetworkReplica& replica;
    std::vector<std::size_t> offsets;
    std::vector<std::vector<float>> heard;
  };
  auto spec = spec_of("lenet");
  spec.train.accumulation = 3;
  Lone lone(spec);
  Ear ear(lone);
  lone.compute(1, &ear);
  CHECK(ear.heard.size() == lone.replica.tensors().size());
  for (std::size_t i = 0; i < ear.heard.size(); ++i) {
    const auto values = lone.replica.gradients().subspan(ear.offsets[i], ear.heard[i].size());
    CHECK(std::equal(values.begin(), values.end(), ear.heard[i].begin()));
  }
}

TEST_CASE("running statistics move a tenth of the way to the batch's, the mean over its micro-batches, whatever the loss scale")
{
  for (const std::int64_t parts : {1, 3})
    for (const double scale : {1.0, 1024.0}) {
      CAPTURE(parts, scale);
      auto spec = spec_of("custom");
      spec.train.accumulation = parts;
      spec.train.loss_scale = scale;
      spec.optimizer.weight_decay = 0.5;
      Lone lone(spec);
      const auto before = lone.plain(nn::ParameterKind::statistic, lone.network.weights());
      lone.compute();
      const auto seen = lone.plain(nn::ParameterKind::statistic, lone.network.gradients());
      lone.replica.update();
      const auto after = lone.plain(nn::ParameterKind::statistic, lone.network.weights());
      for (std::size_t i = 0; i < after.size(); ++i) {
        const double value = static_cast<double>(seen[i]) / scale, old = static_cast<double>(before[i]);
        CHECK(after[i] == Approx(old + 0.1 * (value - old)).margin(1e-6));
      }
      CHECK(after != before);
    }
}

TEST_CASE("the mean of a batch's first statistic is that of its micro-batches")
{
  auto spec = spec_of("custom");
  Lone whole(spec);
  spec.train.accumulation = 4;
  Lone pieces(spec);
  whole.compute();
  pieces.compute();
  // The running mean is the first statistic: means of equal parts have the whole's mean.
  check_close(pieces.plain(nn::ParameterKind::statistic, pieces.network.gradients()),
              whole.plain(nn::ParameterKind::statistic, whole.network.gradients()), 1e-4);
}

TEST_CASE("a loss scale changes no step: it is divided out of the gradients")
{
  auto spec = spec_of("lenet");
  Lone plain(spec);
  spec.train.loss_scale = 1024;
  Lone scaled(spec);
  CHECK(scaled.compute() == plain.compute());
  auto expected = plain.network.plain_gradients();
  for (auto& value : expected) value *= 1024;
  check_close(scaled.network.plain_gradients(), expected, 1e-6);
  plain.replica.update();
  scaled.replica.update();
  check_close(scaled.network.plain_weights(), plain.network.plain_weights(), 1e-6);
}

TEST_CASE("gradients that a loss scale has made infinite end the run with its name")
{
  auto spec = spec_of("lenet");
  spec.train.loss_scale = 1e9;
  Lone lone(spec);
  lone.compute();
  lone.replica.gradients()[5] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(lone.replica.update(), "the loss is finite, but the gradients of 1000000000 times the loss are not: lower "
                                           "train.loss_scale.");
}

TEST_CASE("weights decay, biases, scales and shifts where the recipe says so, statistics never")
{
  Lone lone(spec_of("custom"));
  const auto decaying = [&](bool biases, bool norms) {
    OptimizerSpec spec{.decay_biases = biases, .decay_norms = norms};
    std::map<nn::ParameterKind, bool> decays;
    const auto segments = segments_of(lone.network, spec);
    for (std::size_t i = 0; i < segments.size(); ++i) decays[lone.network.parameters()[i].kind] = segments[i].decay;
    return std::vector{decays.at(nn::ParameterKind::weight), decays.at(nn::ParameterKind::bias),
                       decays.at(nn::ParameterKind::scale), decays.at(nn::ParameterKind::shift),
                       decays.at(nn::ParameterKind::statistic)};
  };
  CHECK(decaying(false, false) == std::vector{true, false, false, false, false});
  CHECK(decaying(true, false) == std::vector{true, true, false, false, false});
  CHECK(decaying(false, true) == std::vector{true, false, true, true, false});
  for (const auto& segment : segments_of(lone.network)) {
    CHECK(segment.own_rate == segment.decay);
    CHECK_FALSE((segment.statistic && segment.own_rate));
  }
}
