// Numbers whose sums over ranks are exact in a float, and room that nobody may write around them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace dt::comm::test {

// Depends on rank, index and `salt`.
inline float value_of(int rank, std::size_t index, int salt = 0)
{
  return static_cast<float>((rank + 1) * 7 + static_cast<int>(index % 1013) + salt % 5);
}

inline void fill(std::span<float> values, int rank, int salt = 0)
{
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(rank, i, salt);
}

inline std::vector<float> values_of(int rank, std::size_t length, int salt = 0)
{
  std::vector<float> values(length);
  fill(values, rank, salt);
  return values;
}

// How many values are not the sum over all ranks.
inline std::size_t wrong_values(std::span<const float> values, int ranks, int salt = 0)
{
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int sum = 7 * ranks * (ranks + 1) / 2 + ranks * (static_cast<int>(i % 1013) + salt % 5);
    wrong += values[i] == static_cast<float>(sum) ? 0 : 1;
  }
  return wrong;
}

inline std::vector<std::size_t> lengths_for(int ranks)
{
  const auto p = static_cast<std::size_t>(ranks);
  return {0, 1, p - 1, p, p + 1, 10007, 300'000 /* over 1 MiB */};
}

struct GuardedVector {
  static constexpr float guard = -12345.0F;
  static constexpr std::size_t guard_size = 16;
  explicit GuardedVector(std::size_t length) : room(length + 2 * guard_size, guard) {}
  std::span<float> values() { return std::span(room).subspan(guard_size, room.size() - 2 * guard_size); }
  bool guards_untouched() const
  {
    const auto is_guard = [](float value) { return value == guard; };
    return std::all_of(room.begin(), room.begin() + guard_size, is_guard) &&
           std::all_of(room.end() - guard_size, room.end(), is_guard);
  }
  std::vector<float> room;
};

} // namespace dt::comm::test
