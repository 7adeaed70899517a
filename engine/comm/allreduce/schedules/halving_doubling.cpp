#include "engine/comm/allreduce/schedules/halving_doubling.hpp"

#include <numeric>

namespace dt::comm {
namespace {

std::size_t largest_prime_factor(std::size_t n)
{
  std::size_t largest = 1;
  for (std::size_t factor = 2; factor * factor <= n; ++factor)
    for (; n % factor == 0; n /= factor) largest = factor;
  return n > 1 ? n : largest;
}

// Places [first, first + count) of the group share a stretch. One round splits them into `ways` groups, each with a part of the
// stretch.
struct Split {
  std::size_t first, count, ways;
  std::size_t group_size() const { return count / ways; }
  std::size_t group_of(std::size_t place) const { return (place - first) / group_size(); }
  // The place in `group` that corresponds to `place` in its own group.
  std::size_t partner(std::size_t place, std::size_t group) const
  {
    return first + group * group_size() + (place - first) % group_size();
  }
};

// The receiver keeps the front part in the next round, so the numbers that it must pass on first lie at the end.
bool keeps_the_front(const Split& split, std::size_t place)
{
  const std::size_t size = split.group_size();
  return size > 1 && (place - split.first) % size < size / largest_prime_factor(size);
}

} // namespace

Schedule halving(const std::vector<int>& group, std::size_t place, Range stretch)
{
  Schedule rounds;
  for (Split split{0, group.size(), 1}; split.count > 1;) {
    split.ways = largest_prime_factor(split.count);
    const std::size_t mine = split.group_of(place);
    const Range kept = part_of(stretch, mine, split.ways);
    Round round;
    round.in_turn = true;
    // Each group starts with the next group, so that the messages do not all go to the same rank first.
    for (std::size_t k = 1; k < split.ways; ++k) {
      const std::size_t to = (mine + k) % split.ways, from = (mine + split.ways - k) % split.ways;
      const Range given = part_of(stretch, to, split.ways);
      const std::size_t partner = split.partner(place, to);
      if (!given.empty()) round.sends.push_back({group[partner], given, keeps_the_front(split, partner)});
      if (!kept.empty()) round.receives.push_back({group[split.partner(place, from)], kept, keeps_the_front(split, place)});
    }
    rounds.push_back(std::move(round));
    stretch = kept;
    split = {split.first + mine * split.group_size(), split.group_size(), 1};
  }
  return rounds;
}

std::size_t halving_rounds(std::size_t ranks)
{
  std::size_t rounds = 0;
  for (; ranks > 1; ranks /= largest_prime_factor(ranks)) ++rounds;
  return rounds;
}

Range owned_stretch(std::size_t ranks, std::size_t place, Range stretch)
{
  for (Split split{0, ranks, 1}; split.count > 1;) {
    split.ways = largest_prime_factor(split.count);
    const std::size_t mine = split.group_of(place);
    stretch = part_of(stretch, mine, split.ways);
    split = {split.first + mine * split.group_size(), split.group_size(), 1};
  }
  return stretch;
}

Schedule halving_doubling_schedule(const Seat& seat)
{
  std::vector<int> ranks(static_cast<std::size_t>(seat.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  return there_and_back(halving(ranks, static_cast<std::size_t>(seat.rank), {0, seat.length}));
}

} // namespace dt::comm
