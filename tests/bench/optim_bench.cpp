// How fast the update rules go over the packed buffer: floats of one tensor, threads of the calling thread's team. Bytes are
// those that a rule must read and write (weights twice, gradients once, each buffer of its own twice), to be held against the
// memory's bandwidth.
//
//   bench_optim --benchmark_filter=momentum
#include "engine/optim/optimizer.hpp"

#include <algorithm>

#include <benchmark/benchmark.h>
#include <omp.h>

namespace {

using namespace dt;
using namespace dt::optim;

constexpr std::int64_t lenet = 61'706, alexnet = 62'378'344;

void step(benchmark::State& state, const char* rule)
{
  const auto floats = static_cast<std::size_t>(state.range(0));
  omp_set_num_threads(static_cast<int>(state.range(1)));
  std::vector<float> weights(floats, 0.5F);
  const std::vector<float> gradients(weights.size(), 0.001F);
  dt::OptimizerSpec spec;
  spec.name = rule;
  spec.weight_decay = 1e-4;
  const auto optimizer = make_optimizer(spec, floats, {{{0, floats}, true, true}});
  for (auto _ : state) optimizer->step(weights, gradients, 1e-6);
  const auto own = optimizer->state();
  const auto buffers = std::count_if(own.begin(), own.end(), [](const auto& buffer) { return !buffer.per_segment; });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(floats * sizeof(float)) * (3 + 2 * buffers));
}

} // namespace

int main(int argc, char** argv)
{
  for (const auto* rule : {"sgd", "momentum", "nesterov", "adam", "adamw", "lars"})
    benchmark::RegisterBenchmark(rule, step, rule)
        ->ArgNames({"floats", "threads"})
        ->ArgsProduct({{lenet, alexnet}, {1, 2}})
        ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
