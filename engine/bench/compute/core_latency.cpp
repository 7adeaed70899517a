#include "engine/bench/compute/core_latency.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/nn/kernels/compute_thread.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <omp.h>

namespace dt::bench {
namespace {

constexpr int ended = -1;
constexpr double most_s = 0.02, least_pair_s = 0.001; // for all pairs together, and for each one

// Gives its core away now and then: two threads with real-time priority on one core would otherwise wait for ever.
void wait_for(const std::atomic<int>& line, int number)
{
  constexpr int most_polls = 10'000;
  for (int polls = 1, seen = line.load(); seen != number && seen != ended; ++polls, seen = line.load())
    if (polls % most_polls == 0) std::this_thread::yield();
}

// Sends numbers to the answering thread and back, in batches; the fastest batch counts, because others only show other load.
double asked_s(std::atomic<int>& line, double seconds)
{
  constexpr int most_in_batch = 1000;
  double least_s = seconds;
  int number = 0;
  for (const double end_s = comm::monotonic_s() + seconds; comm::monotonic_s() < end_s;) {
    const double begin_s = comm::monotonic_s();
    double now_s = begin_s;
    int sent = 0;
    do {
      line = number + 1;
      wait_for(line, number += 2);
      if (sent % 16 == 0) now_s = comm::monotonic_s();
    } while (++sent < most_in_batch && now_s < end_s);
    least_s = std::min(least_s, (comm::monotonic_s() - begin_s) / (2 * sent));
  }
  line = ended;
  return least_s;
}

void answer(std::atomic<int>& line)
{
  for (int number = 1; line.load() != ended; number += 2) {
    wait_for(line, number);
    int expected = number;
    line.compare_exchange_strong(expected, number + 1);
  }
}

// Between the first thread of the team and this one.
double pair_latency_s(int threads, int other, double seconds)
{
  alignas(64) std::atomic<int> line = 0;
  double found_s = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == other) answer(line);
    if (omp_get_thread_num() == 0 && omp_get_num_threads() > other) found_s = asked_s(line, seconds);
  }
  return found_s;
}

} // namespace

double core_latency_ns(int threads)
{
  nn::prepare_compute_thread(threads);
  double most = 0;
  const double seconds = std::max(least_pair_s, most_s / std::max(1, threads - 1));
  for (int other = 1; other < threads; ++other) most = std::max(most, pair_latency_s(threads, other, seconds));
  return 1e9 * most;
}

} // namespace dt::bench
