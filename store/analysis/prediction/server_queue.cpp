#include "store/analysis/prediction/server_queue.hpp"

#include "core/maths/random.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace dt::store {
namespace {

constexpr std::size_t exchanges_a_worker = 64; // that count
constexpr std::size_t warm_up = 8;             // before them: at the start all workers come at the same time
constexpr std::uint64_t queue_seed = 0x7365727665727300;
constexpr int bisections = 30;

// A worker's exchange that arrives at the servers: time and worker.
using Arrival = std::pair<double, std::size_t>;
template<class Value> using Earliest = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

class Replay {
 public:
  explicit Replay(const ServedStep& step)
      : step_(step), own_(worker_factors(step.spread, static_cast<std::size_t>(step.workers))),
        factors_(step_factors(step.spread, 256)), random_(queue_seed)
  {
    for (std::int64_t thread = 0; thread < std::max<std::int64_t>(1, step.threads); ++thread) free_.push(0);
  }

  ReplayedService run()
  {
    step_.in_turn ? serve_in_turn() : serve_as_they_come();
    const auto workers = static_cast<double>(own_.size());
    const double exchanges = workers * static_cast<double>(exchanges_a_worker);
    const double steps = exchanges * static_cast<double>(step_.period);
    const double mean_s = (ended_s_ - began_s_) / workers;
    return {.step_s = mean_s * workers / steps,
            .waiting_s = waited_s_ / steps,
            .busy = std::min(1.0, exchanges * step_.service_s / (static_cast<double>(free_.size()) * std::max(mean_s, 1e-300)))};
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

  // Serves a worker's exchange number `exchange`, from 0, and returns when its answer is there.
  double serve(double arrival_s, std::size_t exchange)
  {
    const double begin_s = std::max(arrival_s, free_.top());
    free_.pop();
    free_.push(begin_s + step_.service_s);
    const double answer_s = begin_s + std::max(0.0, step_.service_s - step_.after_answer_s);
    if (exchange >= warm_up) waited_s_ += answer_s - arrival_s;
    if (exchange + 1 == warm_up) began_s_ += answer_s;
    if (exchange + 1 == warm_up + exchanges_a_worker) ended_s_ += answer_s;
    return answer_s;
  }

  void serve_as_they_come()
  {
    Earliest<Arrival> arrivals;
    std::vector<std::size_t> served(own_.size(), 0);
    for (std::size_t w = 0; w < own_.size(); ++w) arrivals.emplace(round_s(w), w);
    while (!arrivals.empty()) {
      const auto [arrival_s, worker] = arrivals.top();
      arrivals.pop();
      const double answer_s = serve(arrival_s, served[worker]);
      if (++served[worker] < warm_up + exchanges_a_worker) arrivals.emplace(answer_s + round_s(worker), worker);
    }
  }

  void serve_in_turn()
  {
    std::vector<double> now_s(own_.size(), 0);
    for (std::size_t e = 0; e < warm_up + exchanges_a_worker; ++e)
      for (std::size_t w = 0; w < own_.size(); ++w) now_s[w] = serve(now_s[w] + round_s(w), e);
  }

  const ServedStep& step_;
  std::vector<double> own_, factors_;
  Random random_;
  Earliest<double> free_{};          // when each of the servers' threads is free again
  double began_s_ = 0, ended_s_ = 0; // of the exchanges that count: sums over workers
  double waited_s_ = 0;              // sum over exchanges
};

} // namespace

ReplayedService replay(const ServedStep& step) { return Replay(step).run(); }

double service_that_gives(ServedStep step, double step_s)
{
  double low = std::max(0.0, step.after_answer_s);
  double high = low + step_s * static_cast<double>(step.period * std::max<std::int64_t>(1, step.threads));
  for (int i = 0; i < bisections; ++i) {
    step.service_s = (low + high) / 2;
    (replay(step).step_s < step_s ? low : high) = step.service_s;
  }
  return low;
}

} // namespace dt::store
