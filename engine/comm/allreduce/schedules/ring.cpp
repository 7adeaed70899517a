#include "engine/comm/allreduce/schedules/ring.hpp"

namespace dt::comm {

Schedule ring_schedule(const Seat& seat)
{
  const int p = seat.ranks;
  const int right = (seat.rank + 1) % p, left = (seat.rank + p - 1) % p;
  const auto part = [&](int k) {
    return part_of({0, seat.length}, static_cast<std::size_t>((k + 2 * p) % p), static_cast<std::size_t>(p));
  };

  // Part k starts at rank k+1 and travels right; each rank adds its own numbers, and rank k ends with the sum.
  Schedule rounds;
  for (int k = 0; k + 1 < p; ++k) {
    Round round;
    if (!part(seat.rank - 1 - k).empty()) round.sends.push_back({right, part(seat.rank - 1 - k)});
    if (!part(seat.rank - 2 - k).empty()) round.receives.push_back({left, part(seat.rank - 2 - k)});
    rounds.push_back(std::move(round));
  }
  return there_and_back(std::move(rounds));
}

} // namespace dt::comm
