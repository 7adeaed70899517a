#include "cli/runs/timelines.hpp"

#include "core/files/file.hpp"
#include "core/number.hpp"

#include <algorithm>

namespace dt::cli {
namespace {

constexpr std::string_view prefix = "rank-";

// The rank in the name of a file, "rank-3"; nothing for other files.
std::optional<int> rank_of(const std::string& name)
{
  return name.starts_with(prefix) ? number_of<int>(std::string_view(name).substr(prefix.size())) : std::nullopt;
}

} // namespace

std::optional<AttemptFolder> traced_attempt(const Home& home, const std::string& key, int wanted)
{
  auto numbers = attempt_numbers(home.run(key));
  std::reverse(numbers.begin(), numbers.end());
  for (const int number : numbers) {
    AttemptFolder attempt(home.run(key), number);
    if ((wanted == 0 || wanted == number) && !names_in(attempt.trace()).empty()) return attempt;
  }
  return std::nullopt;
}

Timelines read_timelines(const AttemptFolder& attempt, int ranks_below)
{
  Timelines timelines;
  for (const auto& name : names_in(attempt.trace())) {
    const auto rank = rank_of(name);
    if (!rank || *rank >= ranks_below) continue;
    if (auto record = parse_trace(read_file(attempt.trace() / name)))
      timelines.ranks.push_back(std::move(*record));
    else
      timelines.incomplete.push_back(attempt.trace() / name);
  }
  std::sort(timelines.ranks.begin(), timelines.ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return timelines;
}

} // namespace dt::cli
