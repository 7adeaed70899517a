// A slow start: the first measured steps of a run take longer than those after them, as they do while caches fill, code is
// compiled or a clock comes down. It belongs into the warm-up (train.warmup_steps), because it would be another share of a longer
// run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace dt {

struct SlowStart {
  std::size_t steps = 0; // number of slow steps at the begin
  double ratio = 0;      // of their mean time to the median of the later ones
  double share = 0;      // of the measured time: what they take more than that
};

// `step_s`: times of the measured steps in order, in s. A start is slow if the steps settle within the first half, counting from
// where the median of five steps in a row first lies in the range of the second half: at most a tenth above its median, or eight
// times what lies between its lower decile and quartile. Nothing if it takes less than 2 % of the time, and of fewer than 20
// steps.
std::optional<SlowStart> slow_start_of(std::span<const double> step_s);

// "the first 25 of 200 measured steps take 3.5 times as long as the later ones, 24.3 % of the measured time;
// train.warmup_steps: 30 leaves them out". `warmup_steps`: the warm-up that leaves them out.
std::string words_of(const SlowStart& start, std::size_t measured_steps, long long warmup_steps);

} // namespace dt
