#include "engine/train/record/probe.hpp"

#include "core/machine/process.hpp"
#include "core/maths/statistics.hpp"
#include "core/units.hpp"
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/train/record/cpu_info.hpp"
#include "engine/train/step/step_timer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <oneapi/dnnl/dnnl.h>

namespace dt::train {
namespace {

// three matrices of 1 MiB: too large for first-level caches, small enough for the second or third level
constexpr std::int64_t side = 512;

struct Matrices {
  std::vector<float> a = std::vector<float>(side * side, 0.5F), b = a, c = a;
  // C <- A B
  void multiply() { dnnl_sgemm('N', 'N', side, side, side, 1, a.data(), side, b.data(), side, 0, c.data(), side); }
};

// Number of repetitions that take about `seconds`, as rank 0 computes it. The same on all ranks. Collective.
std::int64_t agreed_repeats(comm::Communicator& comm, double one_s, double seconds)
{
  std::array repeats{comm.is_root() ? std::clamp(std::floor(seconds / std::max(one_s, 1e-9)), 3.0, 101.0) : 0.0};
  comm.sum_record(repeats);
  return static_cast<std::int64_t>(repeats[0]);
}

double allreduce_s(comm::Communicator& comm, const std::string& name, std::int64_t bytes)
{
  if (comm.size() == 1) return not_measured;
  constexpr double allowed_s = 0.03;
  // `dynamic` would first time all other algorithms, which takes too long here.
  const auto allreduce =
      comm::make_allreduce({.algorithm = name == "dynamic" ? "mpi" : name, .topology = comm::topology_of_hosts(comm, 0)}, comm);
  std::vector<float> values(static_cast<std::size_t>(bytes) / sizeof(float), 0.0F);
  const auto timed = [&] {
    comm.barrier();
    const double begin_s = comm::monotonic_s();
    allreduce->sum(values);
    return comm::monotonic_s() - begin_s;
  };
  timed(); // warm-up: MPI opens connections at their first use
  std::vector<double> times(static_cast<std::size_t>(agreed_repeats(comm, timed(), allowed_s)));
  for (auto& time : times) time = timed();
  return median(times);
}

} // namespace

double matrix_gflops(int threads, double seconds)
{
  constexpr double flops = 2.0 * side * side * side;
  constexpr int repetitions = 5;
  nn::prepare_compute_thread(threads);
  Matrices matrices;
  matrices.multiply(); // warm-up: oneDNN generates the code at the first use
  const double until_s = comm::monotonic_s() + seconds;
  double best = 0;
  for (int i = 1; i <= repetitions; ++i) {
    const double begin_s = comm::monotonic_s();
    const double end_s = until_s - seconds * (repetitions - i) / repetitions;
    int products = 0;
    do {
      matrices.multiply();
      ++products;
    } while (comm::monotonic_s() < end_s);
    best = std::max(best, products * flops / (comm::monotonic_s() - begin_s));
  }
  return best / 1e9;
}

double matmul_flops(const ProbeRecord& probe)
{
  double sum = 0;
  for (const auto& rank : probe.ranks) sum += 1e9 * rank.gemm_gflops;
  return probe.ranks.empty() ? not_measured : sum / static_cast<double>(probe.ranks.size());
}

ProbeRecord probe_ranks(comm::Communicator& comm, int threads, const std::string& allreduce)
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

} // namespace dt::train
