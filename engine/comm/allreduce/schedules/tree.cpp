#include "engine/comm/allreduce/schedules/tree.hpp"

namespace dt::comm {

Schedule tree_schedule(const Seat& seat)
{
  Schedule rounds;
  for (int distance = 1; distance < seat.ranks; distance *= 2) {
    Round round;
    const bool still_in = seat.rank % distance == 0 && seat.length > 0;
    const bool gives = seat.rank % (2 * distance) != 0;
    if (still_in && gives) round.sends.push_back({seat.rank - distance, {0, seat.length}});
    if (still_in && !gives && seat.rank + distance < seat.ranks)
      round.receives.push_back({seat.rank + distance, {0, seat.length}});
    rounds.push_back(std::move(round));
  }
  return there_and_back(std::move(rounds));
}

} // namespace dt::comm
