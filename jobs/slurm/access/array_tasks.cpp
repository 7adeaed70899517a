#include "jobs/slurm/access/array_tasks.hpp"

#include "core/number.hpp"

#include <algorithm>
#include <optional>

namespace dt::jobs::slurm {
namespace {

constexpr std::uint32_t most_tasks = 4'000'001; // Slurm's own limit for MaxArraySize

std::optional<std::uint32_t> index_of(std::string_view text)
{
  const auto value = number_of<std::uint32_t>(text);
  return value && *value < most_tasks ? value : std::nullopt;
}

// Reads "4-6", "0-20:5" or "3".
void add_range(std::string_view text, std::vector<std::uint32_t>& tasks)
{
  const auto colon = text.find(':');
  const auto step = colon == std::string_view::npos ? std::optional<std::uint32_t>(1) : index_of(text.substr(colon + 1));
  const auto range = text.substr(0, colon);
  const auto dash = range.find('-');
  const auto first = index_of(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : index_of(range.substr(dash + 1));
  if (!first || !last || !step || *step == 0) return;
  for (auto task = *first; task <= *last; task += *step) tasks.push_back(task);
}

} // namespace

std::vector<std::uint32_t> expand_array_tasks(std::string_view text)
{
  std::vector<std::uint32_t> tasks;
  text = text.substr(0, text.find('%'));
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto comma = std::min(text.find(',', begin), text.size());
    add_range(text.substr(begin, comma - begin), tasks);
    begin = comma + 1;
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

std::string format_array_tasks(std::span<const std::uint32_t> tasks)
{
  std::vector<std::uint32_t> sorted(tasks.begin(), tasks.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    auto last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(sorted[i]);
    if (last > i) text += "-" + std::to_string(sorted[last]);
    i = last + 1;
  }
  return text;
}

} // namespace dt::jobs::slurm
