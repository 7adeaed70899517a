#include "engine/comm/allreduce/schedules/schedule.hpp"

#include <algorithm>
#include <iterator>

namespace dt::comm {
namespace {

void append(std::vector<Message>& all, std::vector<Message>& more)
{
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// On the way back, the first chunk that arrived is the last to be sent.
std::vector<Message> reversed(const std::vector<Message>& messages)
{
  std::vector<Message> result(messages.rbegin(), messages.rend());
  for (auto& message : result) message.backwards = !message.backwards;
  return result;
}

} // namespace

Range part_of(Range whole, std::size_t part, std::size_t parts)
{
  const auto cut = [&](std::size_t k) { return whole.begin + whole.size() / parts * k + whole.size() % parts * k / parts; };
  return {cut(part), cut(part + 1)};
}

Schedule there_and_back(Schedule reduction)
{
  const std::size_t there = reduction.size();
  for (std::size_t k = there; k > 0; --k) {
    const auto& round = reduction[k - 1];
    Round back{Receipt::copy, reversed(round.receives), reversed(round.sends), round.in_turn};
    reduction.push_back(std::move(back));
  }
  return reduction;
}

void merge_from(Schedule& schedule, std::size_t first_round, Schedule part)
{
  if (schedule.size() < first_round + part.size()) schedule.resize(first_round + part.size());
  for (std::size_t k = 0; k < part.size(); ++k) {
    append(schedule[first_round + k].sends, part[k].sends);
    append(schedule[first_round + k].receives, part[k].receives);
    schedule[first_round + k].in_turn |= part[k].in_turn;
  }
}

} // namespace dt::comm
