#include "engine/bench/bench.hpp"
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/train/step/step_timer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::bench {
namespace {

// Seconds of a sum, in one repetition of `calls` in a row: the slowest rank's time from a barrier. The same on every rank.
double repeat(comm::Allreduce& allreduce, std::span<float> values, comm::Communicator& comm, int calls)
{
  comm.barrier();
  const double begin = comm::monotonic_s();
  for (int call = 0; call < calls; ++call) allreduce.sum(values);
  double seconds = (comm::monotonic_s() - begin) / calls;
  comm::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.handle()), "MPI_Allreduce");
  return seconds;
}

// If the number of repetitions is not given, the warm-up determines how many fit into the time. All ranks see the same times, so
// they make the same number.
std::vector<double> measure(comm::Allreduce& allreduce, std::span<float> values, comm::Communicator& comm,
                            const AllreduceBench& options)
{
  std::vector<double> times(static_cast<std::size_t>(options.warmup_repeats));
  for (auto& time : times) time = repeat(allreduce, values, comm, options.calls);
  times.resize(options.repeats > 0 ? static_cast<std::size_t>(options.repeats)
                                   : static_cast<std::size_t>(
                                         std::clamp(options.seconds / (options.calls * summarize(times).median), 10.0, 1e6)));
  for (auto& time : times) time = repeat(allreduce, values, comm, options.calls);
  return times;
}

} // namespace

int bench_allreduce(const AllreduceBench& options, comm::Communicator& comm)
{
  const auto topology = comm::topology_of_hosts(comm, options.nodes_per_supernode);
  const auto allreduce = comm::make_allreduce(
      {.algorithm = options.algorithm, .topology = topology, .largest_bytes = static_cast<std::size_t>(options.bytes)}, comm);
  // zeros stay zeros, however often they are summed
  comm::Floats values(static_cast<std::size_t>(options.bytes) / sizeof(float));
  const auto times = measure(*allreduce, values, comm, options);
  if (!comm.is_root()) return 0;

  const auto [median, least] = summarize(times);
  const auto bytes = values.size() * sizeof(float);
  // The bytes that a bandwidth-optimal schedule sends from each rank, divided by the median time.
  const double bytes_per_s = 2.0 * static_cast<double>(bytes) * (comm.size() - 1) / comm.size() / median;
  if (options.json) {
    nlohmann::ordered_json result{{"algorithm", options.algorithm}, {"ranks", comm.size()},      {"bytes", bytes},
                                  {"repeats", times.size()},        {"us_median", 1e6 * median}, {"us_min", 1e6 * least},
                                  {"bytes_per_s", bytes_per_s}};
    if (options.simulated) result["simulated"] = true;
    if (!allreduce->choice().empty()) result["choice"] = allreduce->choice();
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("{}{}, {} ranks, {} bytes: {:.1f} us (median of {}), {:.1f} us (least), {:.2f} GB/s a rank\n",
               options.simulated ? "simulated: " : "", options.algorithm, comm.size(), bytes, 1e6 * median, times.size(),
               1e6 * least, 1e-9 * bytes_per_s);
  }
  return 0;
}

} // namespace dt::bench
