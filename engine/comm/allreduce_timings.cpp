#include "engine/comm/allreduce_timings.hpp"

#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace dt::engine {
namespace {

constexpr double clearly = 1.05;
constexpr std::size_t least_bucket_bytes = 256 << 10;
constexpr double enough_of_the_best = 0.8;
constexpr const char* format_line = "dtctl allreduce timings 2 ";

std::size_t winner(const std::vector<double>& seconds, std::size_t before)
{
  const auto fastest = static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
  for (const std::size_t preferred : {std::size_t{0}, before})
    if (seconds[preferred] <= clearly * seconds[fastest]) return preferred;
  return fastest;
}

// Where `later`, the winner at size k + 1, becomes faster than `sooner`, the winner at size k. Within the two sizes, even
// if a tie went to one that is a little slower.
std::size_t crossing(const AllreduceTimings& timings, std::size_t k, std::size_t sooner, std::size_t later)
{
  const double lead = std::log(timings.seconds[k][later] / timings.seconds[k][sooner]);
  const double end = std::log(timings.seconds[k + 1][later] / timings.seconds[k + 1][sooner]);
  const double share = lead > end ? std::clamp(lead / (lead - end), 0.0, 1.0) : 0.5;
  const auto from = static_cast<double>(timings.bytes[k]), to = static_cast<double>(timings.bytes[k + 1]);
  return static_cast<std::size_t>(std::llround(from * std::pow(to / from, share)));
}

bool is_sound(const AllreduceTimings& timings)
{
  const auto positive = [](double s) { return std::isfinite(s) && s > 0; };
  return !timings.algorithms.empty() && !timings.bytes.empty() && timings.bytes.front() > 0 &&
         std::is_sorted(timings.bytes.begin(), timings.bytes.end()) &&
         std::all_of(timings.seconds.begin(), timings.seconds.end(), [&](const auto& row) {
           return row.size() == timings.algorithms.size() && std::all_of(row.begin(), row.end(), positive);
         });
}

bool read_size(const std::string& line, AllreduceTimings& timings)
{
  std::istringstream words(line);
  std::size_t bytes = 0;
  if (!(words >> bytes)) return false;
  timings.bytes.push_back(bytes);
  timings.seconds.emplace_back();
  for (double seconds = 0; words >> seconds;) timings.seconds.back().push_back(seconds);
  return words.eof();
}

} // namespace

std::vector<AllreduceChoice> choose(const AllreduceTimings& timings)
{
  std::vector<AllreduceChoice> choices{{0, winner(timings.seconds.front(), 0)}};
  for (std::size_t k = 0; k + 1 < timings.bytes.size(); ++k) {
    const auto sooner = choices.back().algorithm, later = winner(timings.seconds[k + 1], sooner);
    if (later != sooner) choices.push_back({crossing(timings, k, sooner, later), later});
  }
  return choices;
}

std::size_t choice_for(const std::vector<AllreduceChoice>& choices, std::size_t bytes)
{
  std::size_t index = 0;
  while (index + 1 < choices.size() && choices[index + 1].from_bytes <= bytes) ++index;
  return index;
}

std::string in_words(const std::vector<AllreduceChoice>& choices, const std::vector<std::string>& algorithms)
{
  std::string words;
  for (const auto& choice : choices) {
    words += (words.empty() ? "" : ", ") + algorithms[choice.algorithm];
    if (choice.from_bytes > 0) words += " from " + format_bytes(static_cast<double>(choice.from_bytes));
  }
  return words;
}

std::size_t best_bucket_bytes(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices)
{
  auto first_size = static_cast<std::size_t>(std::ranges::lower_bound(timings.bytes, least_bucket_bytes) - timings.bytes.begin());
  if (first_size == timings.bytes.size()) first_size = 0;
  std::vector<double> bytes_per_s;
  for (std::size_t k = first_size; k < timings.bytes.size(); ++k)
    bytes_per_s.push_back(static_cast<double>(timings.bytes[k]) /
                          timings.seconds[k][choices[choice_for(choices, timings.bytes[k])].algorithm]);
  const double enough = enough_of_the_best * *std::max_element(bytes_per_s.begin(), bytes_per_s.end());
  const auto first = std::find_if(bytes_per_s.begin(), bytes_per_s.end(), [&](double rate) { return rate >= enough; });
  return timings.bytes[first_size + static_cast<std::size_t>(first - bytes_per_s.begin())];
}

std::string to_text(const AllreduceTimings& timings, std::string_view key)
{
  std::string text = fmt::format("{}{}\n{}\n", format_line, key, join(timings.algorithms, " "));
  for (std::size_t k = 0; k < timings.bytes.size(); ++k) {
    text += std::to_string(timings.bytes[k]);
    for (const double seconds : timings.seconds[k]) text += " " + format_shortest(seconds);
    text += '\n';
  }
  return text + fmt::format("{} sizes\n", timings.bytes.size());
}

std::optional<AllreduceTimings> parse_timings(std::string_view text, std::string_view key)
{
  const auto lines = split(text, '\n'); // what follows the last line's end is an empty one
  if (lines.size() < 5 || lines.front() != std::string(format_line).append(key) || !lines.back().empty()) return std::nullopt;
  AllreduceTimings timings;
  timings.algorithms = split(lines[1], ' ');
  for (std::size_t l = 2; l + 2 < lines.size(); ++l)
    if (!read_size(lines[l], timings)) return std::nullopt;
  if (lines[lines.size() - 2] != fmt::format("{} sizes", timings.bytes.size()) || !is_sound(timings)) return std::nullopt;
  return timings;
}

} // namespace dt::engine
