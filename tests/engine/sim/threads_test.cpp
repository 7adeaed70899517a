// Threads of simulated ranks: communication threads and a server's threads, against what they cost on paper.
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/modelled_replica.hpp"
#include "tests/engine/sim/dtsim.hpp"

#include <algorithm>

using namespace dt;
using namespace dt::test;

namespace {

struct Step {
  double step_s, isolated_s, update_s;
};

// A step of a strategy, without latency. compute_s: seconds of its computation.
Step step_of(const std::string& strategy, double compute_s, const std::string& more)
{
  const auto row =
      json_of("strategies --latency 0us --compute " + std::to_string(compute_s) + " --strategy " + strategy + more).at(0);
  return {row.at("step_s"), row.at("isolated_s").is_null() ? 0 : row.at("isolated_s").get<double>(), row.at("update_s")};
}

std::string links(const std::string& bandwidth, const std::string& memory)
{
  return " --bandwidth " + bandwidth + " --memory-bandwidth " + memory;
}

std::string on_ring(int ranks, const std::string& progress, const std::string& bandwidth, const std::string& memory)
{
  const auto count = std::to_string(ranks);
  return " --nodes " + count + " --workers " + count + " --allreduce ring --progress " + progress + links(bandwidth, memory);
}

constexpr const char* free_memory = "1000000GB/s";

// AlexNet's tensors in the packed gradients, and for each the seconds from its gradient to the end of the backward pass.
struct Tensors {
  std::vector<Range> ranges;
  std::vector<double> leads_s;
};

Tensors alexnet_tensors(double backward_s)
{
  Tensors tensors;
  double work = 0, work_below = 0;
  for (const auto& layer : sync::alexnet_layers()) work += layer.work;
  std::size_t begin = 0;
  for (const auto& layer : sync::alexnet_layers()) {
    for (const auto parameters : {layer.weights, layer.biases}) {
      tensors.ranges.push_back({begin, begin + static_cast<std::size_t>(parameters)});
      tensors.leads_s.push_back(backward_s * work_below / work);
      begin = (tensors.ranges.back().end + 15) / 16 * 16; // whole cache lines
    }
    work_below += layer.work;
  }
  return tensors;
}

// Seconds of a step whose sums, isolated_s together, run one after another beside the computation, each as soon as its bucket is
// complete.
double overlapped_s(double compute_s, double isolated_s)
{
  const auto tensors = alexnet_tensors(compute_s * 2 / 3);
  const auto floats = tensors.ranges.back().end;
  std::vector<double> sums_s, leads_s;
  for (const auto& bucket : sync::plan_buckets(tensors.ranges, floats, 4 << 20)) {
    sums_s.push_back(isolated_s * static_cast<double>(bucket.size()) / static_cast<double>(floats));
    const auto first = std::ranges::find(tensors.ranges, bucket.begin, &Range::begin);
    leads_s.push_back(tensors.leads_s[static_cast<std::size_t>(first - tensors.ranges.begin())]);
  }
  return compute_s + isolated_s - sync::hideable_s(sums_s, leads_s);
}

std::string with_server(int threads, const std::string& bandwidth, const std::string& memory)
{
  return " --workers 8 --nodes 9 --scale 0.1 --steps 20 --server-threads " + std::to_string(threads) + links(bandwidth, memory);
}

// Size of the weights of the model that --scale makes.
constexpr double megabytes = 24.95;

} // namespace

TEST_CASE("a step with a communication thread takes its computation, and what its sums cannot hide behind it")
{
  constexpr double compute_s = 1;
  for (const int ranks : {4, 16})
    for (const std::string bandwidth : {"1Gbit/s", "10Gbit/s"}) {
      INFO(ranks << " ranks at " << bandwidth);
      const auto threaded = step_of("sync-sgd", compute_s, on_ring(ranks, "thread", bandwidth, free_memory));
      const auto polled = step_of("sync-sgd", compute_s, on_ring(ranks, "poll", bandwidth, free_memory));
      CHECK(threaded.step_s >= std::max(compute_s, threaded.isolated_s));
      CHECK(threaded.step_s == Approx(overlapped_s(compute_s, threaded.isolated_s)).epsilon(1e-5));
      CHECK(threaded.step_s < polled.step_s);
    }
}

TEST_CASE("what a communication thread adds and copies does not delay the computation, nor does the update stop its sums")
{
  constexpr double compute_s = 2;
  for (const int ranks : {4, 16}) {
    INFO(ranks << " ranks");
    const auto threaded = step_of("sync-sgd", compute_s, on_ring(ranks, "thread", "100Gbit/s", "1GB/s"));
    const auto polled = step_of("sync-sgd", compute_s, on_ring(ranks, "poll", "100Gbit/s", "1GB/s"));
    CHECK(threaded.isolated_s > 0.3); // most of it memory traffic; the messages take 0.04 s
    CHECK(threaded.isolated_s < compute_s);
    // The last bucket is summed while the weights of the others are updated.
    CHECK(threaded.step_s == Approx(compute_s + threaded.update_s).epsilon(1e-6));
    CHECK(polled.step_s > compute_s + polled.update_s + 0.3);
  }
}

TEST_CASE("every strategy that a communication thread serves takes at least its computation and, but for its shorter messages, "
          "no longer than without one")
{
  const auto with_progress = [&](const std::string& allreduce, const std::string& progress) {
    return " --nodes 2 --ranks-per-node 2 --workers 4 --scale 0.02 --bandwidth 10Gbit/s --allreduce " + allreduce +
           " --progress " + progress;
  };
  for (const std::string strategy : {"sync-sgd", "sync-easgd:3", "sync-easgd:2", "local-sgd", "diloco", "hsgd"})
    for (const std::string allreduce : {"ring", "hierarchical"}) {
      INFO(strategy << " with " << allreduce);
      const auto threaded = step_of(strategy, 0.02, with_progress(allreduce, "thread"));
      CHECK(threaded.step_s >= 0.02);
      CHECK(threaded.step_s <= 1.01 * step_of(strategy, 0.02, with_progress(allreduce, "none")).step_s);
    }
  // All of its exchange fits beside the computation.
  const auto easgd = step_of("sync-easgd:3", 0.02, with_progress("hierarchical", "thread"));
  CHECK(easgd.step_s == Approx(0.02 + easgd.update_s).epsilon(1e-6));
}

TEST_CASE("equal simulations give equal output, with threads too")
{
  const std::string words =
      "strategies --strategy sync-sgd,sync-easgd:3,async-easgd,hogwild-sgd,hogwild-easgd --workers 4 --nodes 5 "
      "--allreduce ring --progress thread --period 2 --scale 0.1 --json";
  const auto first = dtsim(words);
  REQUIRE(first.ok());
  CHECK(first.out == dtsim(words).out);
}

TEST_CASE("four threads of a Hogwild server update four times as fast as one")
{
  constexpr double transfer_s = megabytes / 12500, pass_s = megabytes / 500; // reading or writing the weights once
  const auto step_s = [](const std::string& strategy, int threads) {
    return step_of(strategy, 0.001, with_server(threads, "100Gbit/s", "0.5GB/s")).step_s;
  };
  // An exchange reads weights and gradients and writes weights. Hogwild's threads also copy the weights for the answer.
  const double one_s = step_s("hogwild-sgd", 1), four_s = step_s("hogwild-sgd", 4);
  CHECK(step_s("async-sgd", 1) == Approx(8 * (3 * pass_s + 2 * transfer_s)).epsilon(0.03));
  CHECK(one_s == Approx(8 * (5 * pass_s + 2 * transfer_s)).epsilon(0.03));
  CHECK(one_s / four_s > 3.8);
  CHECK(one_s / four_s < 4.1);
  // While its workers change their own weights, the server waits for requests now and then.
  CHECK(step_s("hogwild-easgd", 1) / step_s("hogwild-easgd", 4) > 3.5);
}

TEST_CASE("more threads of a Hogwild server do not make its link faster")
{
  const auto step_s = [](int threads) {
    return step_of("hogwild-sgd", 0.001, with_server(threads, "1Gbit/s", free_memory)).step_s;
  };
  const double four_s = step_s(4);
  CHECK(four_s > 0.97 * 8 * megabytes / 125);
  CHECK(step_s(8) == Approx(four_s).epsilon(0.05));
}

TEST_CASE("Hogwild without servers is simulated on one node")
{
  const auto step = step_of("hogwild-sgd", 0.01, " --servers 0 --workers 4 --nodes 1 --ranks-per-node 4");
  CHECK(step.step_s == Approx(0.01 + step.update_s));
}
