#include "store/analysis/prediction/server_queue.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace dt::store {
namespace {

constexpr std::size_t exchanges_a_worker = 64;
constexpr std::uint64_t seed = 0x7365727665727300;
constexpr int bisections = 30;

// A worker's exchange that arrives at the servers: time and worker.
using Arrival = std::pair<double, std::size_t>;
template<class Value> using Earliest = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

class Replay {
 public:
  explicit Replay(const ServedStep& step)
      : step_(step), own_(worker_factors(step.spread, static_cast<std::size_t>(step.workers))),
        factors_(step_factors(step.spread, 256)), random_(seed)
  {
    for (std::int64_t thread = 0; thread < std::max<std::int64_t>(1, step.threads); ++thread) free_.push(0);
  }

  ReplayedService run()
  {
    step_.in_turn ? serve_in_turn() : serve_as_they_come();
    const auto workers = static_cast<double>(own_.size());
    const double steps = workers * static_cast<double>(exchanges_a_worker) * static_cast<double>(step_.period);
    const double end_s = ended_s_ / workers; // mean over workers
    return {.step_s = end_s * workers / steps,
            .waiting_s = waited_s_ / steps,
            .busy = std::min(1.0, workers * static_cast<double>(exchanges_a_worker) * step_.service_s /
                                      (static_cast<double>(free_.size()) * std::max(end_s, 1e-300)))};
  }

 private:
  // Seconds that the worker computes until its next exchange.
  double round_s(std::size_t worker)
  {
    double seconds = 0;
    for (std::int64_t i = 0; i < step_.period; ++i)
      seconds += step_.input_s + step_.compute_s * own_[worker] * factors_[random_.below(factors_.size())] + step_.update_s;
    return seconds;
  }

  // Serves an exchange and returns when its answer is there.
  double serve(double arrival_s)
  {
    const double begin_s = std::max(arrival_s, free_.top()), end_s = begin_s + step_.service_s;
    free_.pop();
    free_.push(end_s);
    waited_s_ += end_s - arrival_s;
    return end_s;
  }

  void serve_as_they_come()
  {
    Earliest<Arrival> arrivals;
    std::vector<std::size_t> left(own_.size(), exchanges_a_worker);
    for (std::size_t w = 0; w < own_.size(); ++w) arrivals.emplace(round_s(w), w);
    while (!arrivals.empty()) {
      const auto [arrival_s, worker] = arrivals.top();
      arrivals.pop();
      const double answer_s = serve(arrival_s);
      if (--left[worker] > 0)
        arrivals.emplace(answer_s + round_s(worker), worker);
      else
        ended_s_ += answer_s;
    }
  }

  void serve_in_turn()
  {
    std::vector<double> now_s(own_.size(), 0);
    for (std::size_t e = 0; e < exchanges_a_worker; ++e)
      for (std::size_t w = 0; w < own_.size(); ++w) now_s[w] = serve(now_s[w] + round_s(w));
    for (const double end_s : now_s) ended_s_ += end_s;
  }

  const ServedStep& step_;
  std::vector<double> own_, factors_;
  Random random_;
  Earliest<double> free_{}; // when each of the servers' threads is free again
  double ended_s_ = 0;      // sum over workers
  double waited_s_ = 0;     // sum over exchanges
};

} // namespace

ReplayedService replay(const ServedStep& step) { return Replay(step).run(); }

double service_that_gives(ServedStep step, double step_s)
{
  double low = 0, high = step_s * static_cast<double>(step.period * std::max<std::int64_t>(1, step.threads));
  for (int i = 0; i < bisections; ++i) {
    step.service_s = (low + high) / 2;
    (replay(step).step_s < step_s ? low : high) = step.service_s;
  }
  return low;
}

} // namespace dt::store
