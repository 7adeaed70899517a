#include "engine/train/probe.hpp"

#include "core/process.hpp"
#include "core/units.hpp"
#include "engine/comm/allreduce.hpp"
#include "engine/nn/compute_thread.hpp"
#include "engine/train/cpu_info.hpp"
#include "engine/train/step_timer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <oneapi/dnnl/dnnl.h>

namespace dt::engine {
namespace {

constexpr std::int64_t side = 512; // three matrices of 1 MiB: out of the first-level caches, in the second or third

struct Matrices {
  std::vector<float> a = std::vector<float>(side * side, 0.5F), b = a, c = a;
  // C <- A B
  void multiply() { dnnl_sgemm('N', 'N', side, side, side, 1, a.data(), side, b.data(), side, 0, c.data(), side); }
};

double median(std::vector<double> values)
{
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Rank 0's choice of how often, so that it takes about `seconds`.
std::int64_t agreed_repeats(Communicator& comm, double one_s, double seconds)
{
  std::array repeats{comm.is_root() ? std::clamp(std::floor(seconds / std::max(one_s, 1e-9)), 3.0, 101.0) : 0.0};
  comm.sum_record(repeats);
  return static_cast<std::int64_t>(repeats[0]);
}

double allreduce_s(Communicator& comm, const std::string& name, std::int64_t bytes)
{
  if (comm.size() == 1) return not_measured;
  constexpr double allowed_s = 0.03;
  // `dynamic` would time all the others first: this must be short.
  const auto allreduce = make_allreduce({.algorithm = name == "dynamic" ? "mpi" : name, .topology = topology_of_hosts(comm, 0)}, comm);
  std::vector<float> values(static_cast<std::size_t>(bytes) / sizeof(float), 0.0F);
  const auto timed = [&] {
    comm.barrier();
    const double begin_s = monotonic_s();
    allreduce->sum(values);
    return monotonic_s() - begin_s;
  };
  timed(); // connections are made at their first use
  std::vector<double> times(static_cast<std::size_t>(agreed_repeats(comm, timed(), allowed_s)));
  for (auto& time : times) time = timed();
  return median(times);
}

} // namespace

double matrix_gflops(int threads, double seconds)
{
  constexpr double flops = 2.0 * side * side * side;
  constexpr int repetitions = 5;
  prepare_compute_thread(threads);
  Matrices matrices;
  matrices.multiply(); // its code is made at the first use
  const double until_s = monotonic_s() + seconds;
  double best = 0;
  for (int i = 1; i <= repetitions; ++i) {
    const double begin_s = monotonic_s();
    const double end_s = until_s - seconds * (repetitions - i) / repetitions;
    int products = 0;
    do {
      matrices.multiply();
      ++products;
    } while (monotonic_s() < end_s);
    best = std::max(best, products * flops / (monotonic_s() - begin_s));
  }
  return best / 1e9;
}

ProbeRecord probe_ranks(Communicator& comm, int threads, const std::string& allreduce)
{
  constexpr double matrices_s = 0.08;
  comm.barrier();
  const double gflops = matrix_gflops(threads, matrices_s);
  const double clock_mhz = current_clock_mhz();

  ProbeRecord probe;
  probe.allreduce_bytes = std::int64_t{1} << 20;
  probe.allreduce_s = allreduce_s(comm, allreduce, probe.allreduce_bytes);
  const auto numbers = comm.gather_numbers(std::array{clock_mhz, gflops});
  const auto hosts = comm.gather_texts(host_name());
  for (std::size_t r = 0; 2 * r < numbers.size(); ++r)
    probe.ranks.push_back({static_cast<int>(r), hosts[r], numbers[2 * r], numbers[2 * r + 1]});
  probe.unix_s = now_unix_s();
  return probe;
}

} // namespace dt::engine
