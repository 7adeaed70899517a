// All ranks of a schedule in one process: what it computes, whether it keeps its promises, and what crosses which border.
#pragma once

#include "engine/comm/allreduce/schedules/schedule.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace dt::comm {

using MakeSchedule = std::function<Schedule(const Seat&)>;

inline std::vector<Schedule> schedules_of_all(const MakeSchedule& make, int ranks, std::size_t length)
{
  std::vector<Schedule> all;
  for (int r = 0; r < ranks; ++r) all.push_back(make({r, ranks, length}));
  return all;
}

inline bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

// "" when a round keeps what Round promises, else what it breaks.
inline std::string broken_promise(const Round& round)
{
  for (std::size_t i = 0; i < round.receives.size(); ++i) {
    for (const auto& send : round.sends)
      if (overlap(send.stretch, round.receives[i].stretch)) return "a send overlaps a receive of its round";
    for (std::size_t j = 0; round.receipt == Receipt::copy && j < i; ++j)
      if (overlap(round.receives[i].stretch, round.receives[j].stretch)) return "two receives copy to one place";
  }
  return {};
}

// Ranks' vectors of exact numbers, moved on round by round.
class ScheduleWorld {
 public:
  ScheduleWorld(int ranks, std::size_t length) : vectors_(static_cast<std::size_t>(ranks))
  {
    for (std::size_t r = 0; r < vectors_.size(); ++r)
      for (std::size_t i = 0; i < length; ++i) vectors_[r].push_back(value_of(r, i));
  }

  // "" when every rank ends with the sum over ranks; else the first thing that is wrong.
  std::string run(const std::vector<Schedule>& all)
  {
    for (const auto& schedule : all)
      if (schedule.size() != all.front().size()) return "the ranks have different numbers of rounds";
    for (std::size_t k = 0; k < all.front().size(); ++k)
      if (auto wrong = run_round(all, k); !wrong.empty()) return "round " + std::to_string(k) + ": " + wrong;
    return wrong_sum();
  }

 private:
  // Different for every rank and index, so that a rank that is missing or counted twice shows, and a stretch in a wrong place.
  static std::int64_t value_of(std::size_t rank, std::size_t index)
  {
    return static_cast<std::int64_t>((rank + 1) * (rank + 1) * 1000003 + rank * 31 + index * 7);
  }

  std::string run_round(const std::vector<Schedule>& all, std::size_t k)
  {
    std::map<std::pair<std::size_t, std::size_t>, std::deque<std::pair<Range, std::vector<std::int64_t>>>> wires;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (auto broken = broken_promise(all[r][k]); !broken.empty()) return broken;
      for (const auto& send : all[r][k].sends) {
        const auto at = vectors_[r].begin();
        wires[{r, static_cast<std::size_t>(send.peer)}].push_back(
            {send.stretch, std::vector<std::int64_t>(at + static_cast<std::ptrdiff_t>(send.stretch.begin),
                                                     at + static_cast<std::ptrdiff_t>(send.stretch.end))});
      }
    }
    for (std::size_t r = 0; r < all.size(); ++r)
      for (const auto& receive : all[r][k].receives) {
        auto& wire = wires[{static_cast<std::size_t>(receive.peer), r}];
        if (wire.empty()) return "a receive for which nothing is sent";
        const auto [stretch, numbers] = wire.front();
        wire.pop_front();
        // The real executor sees lengths only: a swapped stretch of the right length must show in the sums.
        if (stretch.size() != receive.stretch.size()) return "a receive of another length than is sent";
        put(vectors_[r], receive.stretch.begin, numbers, all[r][k].receipt);
      }
    for (const auto& [ends, wire] : wires)
      if (!wire.empty()) return "something is sent that nobody receives";
    return {};
  }

  static void put(std::vector<std::int64_t>& vector, std::size_t begin, const std::vector<std::int64_t>& numbers, Receipt receipt)
  {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto& value = vector[begin + i];
      value = receipt == Receipt::add ? value + numbers[i] : numbers[i];
    }
  }

  std::string wrong_sum() const
  {
    for (std::size_t i = 0; i < vectors_.front().size(); ++i) {
      std::int64_t sum = 0;
      for (std::size_t r = 0; r < vectors_.size(); ++r) sum += value_of(r, i);
      for (std::size_t r = 0; r < vectors_.size(); ++r)
        if (vectors_[r][i] != sum) return "rank " + std::to_string(r) + " has a wrong sum";
    }
    return {};
  }

  std::vector<std::vector<std::int64_t>> vectors_;
};

inline std::string wrong_with(const std::vector<Schedule>& all, std::size_t length)
{
  return ScheduleWorld(static_cast<int>(all.size()), length).run(all);
}

// Numbers that all ranks send in rounds of that receipt, from ranks to peers for which `counts` holds.
inline std::size_t numbers_sent(const std::vector<Schedule>& all, Receipt receipt, const std::function<bool(int, int)>& counts)
{
  std::size_t numbers = 0;
  for (std::size_t r = 0; r < all.size(); ++r)
    for (const auto& round : all[r])
      for (const auto& send : round.sends)
        if (round.receipt == receipt && counts(static_cast<int>(r), send.peer)) numbers += send.stretch.size();
  return numbers;
}

} // namespace dt::comm
