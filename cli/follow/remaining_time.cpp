#include "cli/follow/remaining_time.hpp"

#include "core/maths/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using Stage = TimedRun::Stage;

struct Size {
  std::int64_t ranks, nodes;
  friend auto operator<=>(const Size&, const Size&) = default;
};

Size size_of(const TimedRun& run) { return {run.ranks, run.nodes}; }

// By how many factors of e two sizes differ.
double distance(const Size& a, const Size& b)
{
  const auto ratio = [](std::int64_t one, std::int64_t other) {
    return std::abs(std::log(static_cast<double>(one) / static_cast<double>(other)));
  };
  return ratio(a.ranks, b.ranks) + ratio(a.nodes, b.nodes);
}

// The median wall times of the finished runs.
class WallTimes {
 public:
  explicit WallTimes(std::span<const TimedRun> runs)
  {
    std::map<std::string, std::map<Size, std::vector<double>>> measured;
    std::vector<double> all;
    for (const auto& run : runs) {
      if (run.stage != Stage::finished || !std::isfinite(run.wall_s)) continue;
      measured[run.label][size_of(run)].push_back(run.wall_s);
      all.push_back(run.wall_s);
    }
    for (auto& [label, sizes] : measured)
      for (auto& [size, times] : sizes) medians_[label][size] = median(std::move(times));
    of_all_ = median(std::move(all));
  }

  bool empty() const { return medians_.empty(); }

  double expected(const TimedRun& run) const
  {
    const auto sizes = medians_.find(run.label);
    if (sizes == medians_.end()) return of_all_;
    // Of two sizes that are equally near, the smaller one.
    const auto nearest = std::min_element(sizes->second.begin(), sizes->second.end(), [&](const auto& a, const auto& b) {
      return distance(a.first, size_of(run)) < distance(b.first, size_of(run));
    });
    return nearest->second;
  }

  double left_s(const TimedRun& run) const
  {
    const double wall_s = expected(run);
    if (std::isfinite(run.done)) return wall_s * (1 - std::clamp(run.done, 0.0, 1.0));
    return std::max(0.0, wall_s - std::max(0.0, run.elapsed_s));
  }

 private:
  std::map<std::string, std::map<Size, double>> medians_; // by label
  double of_all_ = not_measured;
};

// A queue with places, in the time of the estimate.
class Queue {
 public:
  explicit Queue(const QueueRoom& room) : room_(room) {}

  // A run that runs from the beginning. There may be more of them than places.
  void add_running(double left_s, std::int64_t places) { begin(left_s, places_of(places)); }

  // Starts a run as soon as there is room.
  void add_waiting(double wall_s, std::int64_t wanted)
  {
    const auto places = places_of(wanted);
    while (!running_.empty() && (taken_ + places > room_.places || count() >= room_.most_runs)) end_first();
    begin(now_s_ + wall_s, places);
  }

  double end_s() const { return end_s_; }

 private:
  struct Running {
    double end_s;
    std::int64_t places;
    friend bool operator>(const Running& a, const Running& b) { return a.end_s > b.end_s; }
  };

  // A run that needs more than there is takes all.
  std::int64_t places_of(std::int64_t wanted) const
  {
    return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, room_.places));
  }
  std::int64_t count() const { return static_cast<std::int64_t>(running_.size()); }

  void begin(double end_s, std::int64_t places)
  {
    running_.push({end_s, places});
    taken_ += places;
    end_s_ = std::max(end_s_, end_s);
  }

  void end_first()
  {
    now_s_ = std::max(now_s_, running_.top().end_s);
    taken_ -= running_.top().places;
    running_.pop();
  }

  QueueRoom room_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::int64_t taken_ = 0;
  double now_s_ = 0, end_s_ = 0;
};

} // namespace

double study_remaining_s(std::span<const TimedRun> runs, const QueueRoom& room)
{
  const WallTimes times(runs);
  if (times.empty()) return not_measured;
  Queue queue(room);
  for (const auto& run : runs)
    if (run.stage == Stage::running) queue.add_running(times.left_s(run), run.places);
  for (const auto& run : runs)
    if (run.stage == Stage::waiting) queue.add_waiting(times.expected(run), run.places);
  return queue.end_s();
}

} // namespace dt::cli
