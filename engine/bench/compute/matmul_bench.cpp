#include "engine/bench/bench.hpp"
#include "engine/train/record/probe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::bench {

int bench_matmul(const MatmulBench& options)
{
  const double gflops = train::matrix_gflops(options.threads, options.seconds);
  if (options.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"gflops", gflops}, {"threads", options.threads}}.dump());
  else
    fmt::print("threads {}: {:.1f} GFLOP/s\n", options.threads, gflops);
  return 0;
}

} // namespace dt::bench
