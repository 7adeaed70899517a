// When a run is warned of its time limit, asked to end and killed. Knows neither processes nor files: the caller says what it has
// seen, and asks what is due.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace dt::jobs::agent {

class Deadlines {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::seconds;
  static constexpr Seconds kill_after{30};     // from the request to end to SIGKILL
  static constexpr Seconds scheduler_first{5}; // from the file `cancel` until it is obeyed without a signal of the scheduler

  enum class Due { nothing, warning, limit, kill };

  // `limit` 0: none, the scheduler enforces its own. `ahead`: how long before it the run is warned; 0: not.
  Deadlines(Time begin, Seconds limit, Seconds ahead)
  {
    if (limit.count() <= 0) return;
    limit_at_ = begin + limit;
    if (ahead.count() > 0 && ahead < limit) warn_at_ = begin + limit - ahead;
  }

  // The first thing that is due now; each is due once.
  Due take(Time now)
  {
    if (take_if_due(warn_at_, now)) return Due::warning;
    if (take_if_due(limit_at_, now)) return Due::limit;
    return take_if_due(kill_at_, now) ? Due::kill : Due::nothing;
  }

  // The run was asked to end, and is killed if it does not.
  void ends_from(Time now) { kill_at_ = now + kill_after; }

  // Called at each look while the file `cancel` is there. Whether dtjob obeys it now: its scheduler has not passed it on, because
  // it was down.
  bool must_obey_cancel(Time now)
  {
    if (!cancelled_at_) cancelled_at_ = now;
    return now >= *cancelled_at_ + scheduler_first;
  }

  std::optional<Time> next() const
  {
    std::optional<Time> next;
    for (const auto& time : {warn_at_, limit_at_, kill_at_})
      if (time && (!next || *time < *next)) next = time;
    return next;
  }

  // Until then, rounded up, for poll(); -1 without a time, 0 if it has passed.
  static int milliseconds_to(const std::optional<Time>& time)
  {
    if (!time) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*time - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
  }

  // The earlier of the two: the time limit, unless it has passed, and `time`.
  Time within_limit(Time time) const { return limit_at_ ? std::min(time, *limit_at_) : time; }

 private:
  static bool take_if_due(std::optional<Time>& time, Time now)
  {
    if (!time || now < *time) return false;
    time.reset();
    return true;
  }

  std::optional<Time> warn_at_, limit_at_, kill_at_, cancelled_at_;
};

} // namespace dt::jobs::agent
