// How the time for a choice of algorithms is shared out, and the smaller convolutions that fit into it.
#include "engine/nn/choice/network_algorithms.hpp"
#include "engine/nn/choice/timing_budget.hpp"

#include <chrono>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

const ConvolutionCase large{.input = {64, 56, 56},
                            .output = {64, 56, 56},
                            .spec = {.channels = 64, .kernel = 3, .padding = 1},
                            .batch = 32,
                            .threads = 2};

} // namespace

TEST_CASE("the cost of a convolution is that of its three directions, without the data's in the first layer")
{
  const double direction = 2.0 * 32 * 64 * 64 * 9 * 56 * 56;
  CHECK(flops_of(large) == 3 * direction);
  auto first = large;
  first.needs_gradient = false;
  CHECK(flops_of(first) == 2 * direction);
}

TEST_CASE("a convolution that fits is not shrunk")
{
  CHECK(shrunk(large, flops_of(large)).batch == 32);
  CHECK(shrunk(large, flops_of(large)).output == large.output);
}

TEST_CASE("a convolution is shrunk by images first, with a share for every thread, then by rows")
{
  const auto half = shrunk(large, 0.55 * flops_of(large));
  CHECK(half.batch == 16);
  CHECK(half.output == large.output);
  const auto least = shrunk(large, flops_of(large) / 32);
  CHECK(least.batch == 2);
  CHECK(least.output == Shape{64, 28, 56});
  CHECK(least.input == Shape{64, 28, 56});
  CHECK(shrunk(large, 1).output == Shape{64, 16, 56});
}

TEST_CASE("a convolution of few pixels keeps the images for which what is done once for all of them does not weigh too much")
{
  const ConvolutionCase deep{.input = {512, 7, 7},
                             .output = {512, 7, 7},
                             .spec = {.channels = 512, .kernel = 3, .padding = 1},
                             .batch = 64,
                             .threads = 1};
  CHECK(shrunk(deep, 1).batch == 16);
  CHECK(shrunk(deep, 1).output == deep.output);
  auto few = deep;
  few.batch = 8;
  CHECK(shrunk(few, 1).batch == 8);
}

TEST_CASE("a shrunk convolution with strides has the rows that its windows need")
{
  const ConvolutionCase of{.input = {3, 224, 224},
                           .output = {64, 112, 112},
                           .spec = {.channels = 64, .kernel = 7, .stride = 2, .padding = 3},
                           .batch = 1};
  const auto small = shrunk(of, flops_of(of) / 4);
  CHECK(small.output.height == 28);
  CHECK((small.input.height + 2 * 3 - 7) / 2 + 1 == 28);
}

TEST_CASE("what a convolution leaves of its time goes to the others, and nothing is left at the end")
{
  TimingBudget budget(4, 10, 1);
  CHECK(budget.share(5).seconds == Approx(2));
  budget.spend(5, 5, 1);
  CHECK(budget.share(5).seconds == Approx(3));
  CHECK(budget.fits(5, 0));
  budget.spend(5, 5, 3);
  CHECK_FALSE(budget.fits(5, 0));
}

TEST_CASE("a convolution that took longer than expected makes the next ones smaller")
{
  TimingBudget budget(100, 2e12, 1);
  const auto share = budget.share(1e12);
  budget.spend(1e12, share.flops_per_run, 1.5 * share.seconds);
  // two thirds of the speed, half of the time
  CHECK(budget.share(1e12).flops_per_run == Approx(share.flops_per_run / 1.5 * 0.5));
}

TEST_CASE("a convolution that left time makes the next ones larger, but not without limit")
{
  TimingBudget budget(100, 2e12, 1);
  const auto share = budget.share(1e12);
  budget.spend(1e12, share.flops_per_run, 0.5 * share.seconds);
  CHECK(budget.share(1e12).flops_per_run > 4 * share.flops_per_run);
  TimingBudget instant(100, 2e12, 1);
  instant.spend(1e12, share.flops_per_run, 1e-9);
  CHECK(instant.share(1e12).flops_per_run == Approx(10 * 2 * share.flops_per_run));
}

TEST_CASE("a convolution that cannot be made small enough for its share is not timed, and leaves its time to the others")
{
  TimingBudget budget(4, 4e12, 1);
  const auto most = budget.share(2e12).flops_per_run;
  CHECK(budget.fits(2e12, 2 * most));
  CHECK_FALSE(budget.fits(2e12, 2.1 * most));
  budget.skip(2e12);
  CHECK(budget.share(2e12).seconds == Approx(4));
}

TEST_CASE("small networks are timed for a short time, large ones for the most that is allowed")
{
  CHECK(seconds_for(0.12e9, 1, 4) < 0.2);
  CHECK(seconds_for(1e12, 2, 4) == 4);
}

TEST_CASE("convolutions for which no time is left keep the rules, the cheap ones first")
{
  std::vector<double> timed;
  const Timers slow{.convolution =
                        [&](const ConvolutionCase& of, double seconds) {
                          timed.push_back(seconds);
                          const auto begin = std::chrono::steady_clock::now();
                          while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(60)) {
                          }
                          return of.needs_gradient
                                     ? LayerAlgorithms{Algorithm::direct, Algorithm::channels_last, Algorithm::direct}
                                     : LayerAlgorithms{};
                        },
                    .lanes_are_faster = [](const NetworkOptions&) { return false; }};
  const NetworkOptions options{.model = "resnet20", .image = {3, 32, 32}, .batch = 2};
  const auto chosen = choose_network_algorithms(options, {.seconds = 0.05}, slow);
  CHECK(timed.size() == 1);
  CHECK(chosen.timed == 1);
  CHECK(chosen.algorithms.size() > 18);
  const auto rules = Network(options).algorithms();
  int others = 0;
  for (const auto& [name, algorithms] : chosen.algorithms) others += algorithms == rules.at(name) ? 0 : 1;
  CHECK(others > 0);
  CHECK(others < static_cast<int>(rules.size()));
}
