// The choice of the convolutions' algorithms: from given times, its cache, and for whole networks.
#include "core/files/file.hpp"
#include "engine/nn/choice/network_algorithms.hpp"
#include "engine/nn/choice/time_convolution.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
using dt::test::TemporaryFolder;
using enum Algorithm;

namespace {

constexpr LayerAlgorithms all_direct{direct, direct, direct};
constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Timers that measure nothing: every convolution gets `answer`, and they count the questions.
struct CountedTimers {
  LayerAlgorithms answer = all_direct;
  bool lanes = false;
  int convolutions = 0, networks = 0;
  Timers timers()
  {
    return {.convolution = [this](const ConvolutionCase&, double) { return ++convolutions, answer; },
            .lanes_are_faster = [this](const NetworkOptions&) { return ++networks, lanes; }};
  }
};

NetworkOptions cifar(std::int64_t batch = 2) { return {.model = "resnet20", .image = {3, 32, 32}, .batch = batch}; }

std::vector<float> gradients_of(const NetworkOptions& options)
{
  Network network(options);
  const std::vector<float> images(static_cast<std::size_t>(options.batch * options.image.size()), 0.25F);
  network.forward_backward(images, std::vector<std::int32_t>(static_cast<std::size_t>(options.batch), 1));
  return network.plain_gradients();
}

} // namespace

TEST_CASE("an algorithm must be clearly faster than that of the rule to take its place")
{
  const auto chosen = [](double other) {
    return choose_algorithms(
        all_direct, {{direct, direct, {1, 1, 1}}, {winograd, winograd, {other, 2, 2}}, {winograd, direct, {other, 1, 1}}});
  };
  CHECK(chosen(0.98) == all_direct);
  CHECK(chosen(0.96) == LayerAlgorithms{winograd, direct, direct});
}

TEST_CASE("each direction gets its own algorithm")
{
  CHECK(choose_algorithms(all_direct,
                          {{direct, direct, {1, 1, 1}}, {direct, winograd, {1, 0.5, 2}}, {direct, channels_last, {1, 2, 0.5}}}) ==
        LayerAlgorithms{direct, winograd, channels_last});
}

TEST_CASE("a fast forward pass is not chosen where its weights make the backward pass slower by more")
{
  CHECK(choose_algorithms(
            all_direct, {{direct, direct, {1, 1, 1}}, {winograd, direct, {0.5, 1.5, 1.5}}, {winograd, winograd, {0.5, 3, 3}}}) ==
        all_direct);
}

TEST_CASE("algorithms without a time are not chosen, and a direction without times keeps the rule")
{
  CHECK(choose_algorithms(all_direct, {{direct, direct, {1, none, 1}},
                                       {winograd, winograd, {none, none, none}},
                                       {direct, winograd, {1, none, none}}}) == all_direct);
  CHECK(choose_algorithms({direct, winograd, direct}, {{direct, direct, {1, none, 1}}}) ==
        LayerAlgorithms{direct, winograd, direct});
}

TEST_CASE("equal convolutions of a network are timed once, and all get the choice")
{
  CountedTimers counted{.answer = {direct, direct, channels_last}};
  const auto chosen = choose_network_algorithms(cifar(), {}, counted.timers());
  CHECK(chosen.timed == counted.convolutions);
  CHECK(chosen.timed < 10);
  CHECK(chosen.algorithms.size() > 18);
  for (const auto& [name, algorithms] : chosen.algorithms) CHECK(algorithms == counted.answer);
}

TEST_CASE("a second call with a cache times nothing and has the same choice")
{
  const TemporaryFolder folder;
  CountedTimers counted{.answer = {direct, channels_last, direct}};
  const TimingOptions timing{.cache = folder.path() / "cache"};
  const auto first = choose_network_algorithms(cifar(), timing, counted.timers());
  const auto asked = counted.convolutions;
  counted.answer = all_direct;
  const auto second = choose_network_algorithms(cifar(), timing, counted.timers());
  CHECK(counted.convolutions == asked);
  CHECK(second.timed == 0);
  CHECK(second.algorithms == first.algorithms);
}

TEST_CASE("the cache is not used for another batch, threads or without winograd, nor where it cannot be read")
{
  const TemporaryFolder folder;
  CountedTimers counted;
  const TimingOptions timing{.cache = folder.path()};
  const auto asked_for = [&](const NetworkOptions& options) {
    counted.convolutions = 0;
    choose_network_algorithms(options, timing, counted.timers());
    return counted.convolutions;
  };
  const int all = asked_for(cifar());
  REQUIRE(all > 0);
  CHECK(asked_for(cifar()) == 0);
  CHECK(asked_for(cifar(3)) == all);
  auto two_threads = cifar(), no_winograd = cifar();
  two_threads.threads = 2;
  no_winograd.winograd = false;
  CHECK(asked_for(two_threads) == all);
  CHECK(asked_for(no_winograd) == all);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) write_file_atomic(file.path(), "nonsense");
  CHECK(asked_for(cifar()) == all);
  CHECK(asked_for(cifar()) == 0);
}

TEST_CASE("without timing, image lanes are the rule for small layers and batches that fill most of the lanes")
{
  const auto in_lanes = [](const NetworkOptions& options) { return uses_image_lanes(Network(options).algorithms()); };
  for (const std::int64_t batch : {11, 16, 21, 64}) {
    INFO("batch " << batch);
    CHECK(in_lanes({.model = "lenet", .batch = batch}));
  }
  for (const std::int64_t batch : {1, 8, 10, 17, 20}) {
    INFO("batch " << batch);
    CHECK_FALSE(in_lanes({.model = "lenet", .batch = batch}));
  }
  CHECK_FALSE(in_lanes({.model = "lenet", .batch = 16, .image_lanes = false}));
  CHECK_FALSE(in_lanes({.model = "lenet", .batch = 16, .reference = true}));
  CHECK_FALSE(in_lanes({.model = "resnet20", .image = {3, 32, 32}, .batch = 16}));
}

TEST_CASE("image lanes are timed for networks of small layers only, and then hold for the whole network")
{
  CountedTimers counted{.lanes = true};
  const NetworkOptions lenet{.model = "lenet", .batch = 32};
  const auto chosen = choose_network_algorithms(lenet, {}, counted.timers());
  CHECK(counted.networks == 1);
  CHECK(uses_image_lanes(chosen.algorithms));
  auto in_lanes = lenet, named = lenet;
  in_lanes.image_lanes = true;
  named.algorithms = chosen.algorithms;
  CHECK(Network(named).layout() == Network(in_lanes).layout());
  CHECK(gradients_of(named) == gradients_of(in_lanes));
  choose_network_algorithms({.model = "alexnet", .image = {3, 227, 227}, .classes = 1000, .batch = 1}, {}, counted.timers());
  choose_network_algorithms({.model = "vgg11-cifar", .image = {3, 32, 32}, .batch = 1}, {}, counted.timers());
  CHECK(counted.networks == 1);
}

TEST_CASE("plain loops have no algorithms to choose")
{
  CountedTimers counted;
  CHECK(choose_network_algorithms({.model = "lenet", .reference = true}, {}, counted.timers()).algorithms.empty());
  CHECK(counted.convolutions == 0);
}

TEST_CASE("a network with the rules' algorithms named has the bits of a network with the rules")
{
  auto options = cifar();
  const auto by_rules = gradients_of(options);
  options.algorithms = Network(options).algorithms();
  REQUIRE(options.algorithms.size() > 18);
  CHECK(gradients_of(options) == by_rules);
}

TEST_CASE("a timed choice can be planned as it is, and gives the same bits each time")
{
  for (const auto& base : {cifar(), NetworkOptions{.model = "lenet", .batch = 16}}) {
    auto options = base;
    const auto chosen = choose_network_algorithms(options, {.seconds = 0.01});
    CHECK(chosen.timed > 0);
    options.algorithms = chosen.algorithms;
    CHECK(Network(options).algorithms() == chosen.algorithms);
    CHECK(gradients_of(options) == gradients_of(options));
  }
}

TEST_CASE("a trial runs the algorithms that it is given, and measures the directions that exist")
{
  const ConvolutionCase inner{
      .input = {32, 14, 14}, .output = {64, 14, 14}, .spec = {.channels = 64, .kernel = 3, .padding = 1}, .batch = 2};
  ConvolutionTrial trial(inner, rule_layouts(inner), direct, channels_last);
  const auto times = trial.run();
  CHECK(times.forward > 0);
  CHECK(times.backward_data > 0);
  CHECK(times.backward_weights > 0);
  CHECK(trial.planned().forward == direct);
  auto first = inner;
  first.input = {3, 14, 14};
  first.needs_gradient = false;
  CHECK(std::isnan(ConvolutionTrial(first, rule_layouts(first)).run().backward_data));
}

TEST_CASE("a timing tries the algorithms that exist for the convolution, and only those")
{
  const auto has_winograd = [](const ConvolutionCase& of) {
    const auto tried = candidates_of(of);
    CHECK(std::count(tried.begin(), tried.end(), direct) == 1);
    return std::count(tried.begin(), tried.end(), winograd) == 1;
  };
  const ConvolutionCase of{
      .input = {32, 8, 8}, .output = {32, 8, 8}, .spec = {.channels = 32, .kernel = 3, .padding = 1}, .batch = 4};
  CHECK(has_winograd(of));
  auto excluded = of, narrow = of, strided = of, wide = of;
  excluded.winograd = false;
  CHECK_FALSE(has_winograd(excluded));
  narrow.spec.kernel = 1, narrow.spec.padding = 0;
  CHECK_FALSE(has_winograd(narrow));
  strided.spec.stride = 2, strided.output = {32, 4, 4};
  CHECK_FALSE(has_winograd(strided));
  wide.spec.kernel = 5, wide.spec.padding = 2;
  CHECK(has_winograd(wide));
  if (!is_supported(Precision::bf16)) return;
  for (auto half : {of, wide}) {
    half.precision = Precision::bf16;
    CHECK(has_winograd(half));
  }
}
