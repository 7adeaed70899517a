#include "core/units.hpp"

#include "core/counted.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dt {
namespace {

std::optional<std::int64_t> parse_whole(std::string_view text)
{
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt; // from_chars would accept "-0"
  return number_of<std::int64_t>(text);
}

constexpr std::int64_t longest_s = std::int64_t{1} << 40; // much longer than any job, and safe from overflow

std::optional<std::int64_t> parse_clock_form(std::string_view text)
{
  std::int64_t days = 0;
  const auto dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  if (has_days) {
    const auto value = parse_whole(text.substr(0, dash));
    if (!value || *value > longest_s / 86400) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::vector<std::int64_t> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto colon = std::min(text.find(':', begin), text.size());
    const auto value = parse_whole(text.substr(begin, colon - begin));
    if (!value || *value > longest_s / 3600 || (!parts.empty() && *value > 59)) return std::nullopt;
    parts.push_back(*value);
    begin = colon + 1;
  }
  if (has_days) { // D-HH, D-HH:MM, D-HH:MM:SS
    if (parts.size() > 3) return std::nullopt;
    parts.resize(3);
    return days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
  }
  if (parts.size() == 2) return parts[0] * 60 + parts[1];
  if (parts.size() != 3) return std::nullopt;
  return parts[0] * 3600 + parts[1] * 60 + parts[2];
}

std::optional<std::int64_t> parse_unit_form(std::string_view text)
{
  constexpr std::array<std::pair<char, std::int64_t>, 5> units{{{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0) return std::nullopt;
    const auto value = parse_whole(text.substr(0, digits));
    if (!value) return std::nullopt;
    if (digits == std::string_view::npos) return std::nullopt;
    while (next_unit < units.size() && units[next_unit].first != text[digits]) ++next_unit;
    if (next_unit == units.size() || *value > longest_s / units[next_unit].second) return std::nullopt;
    total += *value * units[next_unit++].second;
    text.remove_prefix(digits + 1);
  }
  return total;
}

// A finite number of at least 0 and the unit behind it, with or without a blank between them: "1.5 ms" -> 1.5, "ms".
std::optional<std::pair<double, std::string_view>> parse_quantity(std::string_view text)
{
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return std::pair(value, text);
}

template<std::size_t count>
std::optional<double> parse_in_units(std::string_view text, const std::array<std::pair<std::string_view, double>, count>& units)
{
  const auto quantity = parse_quantity(text);
  for (const auto& [unit, size] : units)
    if (quantity && quantity->second == unit) return quantity->first * size;
  return std::nullopt;
}

std::string format_clock(double unix_s, const char* form, std::tm* (*convert)(const std::time_t*, std::tm*))
{
  const auto whole = static_cast<std::time_t>(std::floor(unix_s));
  std::tm parts{};
  convert(&whole, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

} // namespace

std::optional<std::int64_t> parse_duration_s(std::string_view text)
{
  if (text.empty()) return std::nullopt;
  if (text == "0") return 0;
  const auto seconds = text.find_first_of(":-") != std::string_view::npos ? parse_clock_form(text) : parse_unit_form(text);
  return seconds && *seconds <= longest_s ? seconds : std::nullopt;
}

std::string duration_refusal(std::string_view text)
{
  const auto number = parse_whole(text);
  if (number && !text.empty())
    return fmt::format("needs a unit: write {0}m for {1}, which is what Slurm reads, or {0}s for {2}", *number,
                       counted(*number, "minute"), counted(*number, "second"));
  return "must be a duration such as 90m, 1h30m, 01:30:00 or 2-12:00:00 (days-hours:minutes:seconds), not `" + printable(text) +
         "`";
}

std::optional<double> parse_short_time_s(std::string_view text)
{
  constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  return parse_in_units(text, units);
}

std::optional<double> parse_rate_bytes_per_s(std::string_view text)
{
  constexpr std::array<std::pair<std::string_view, double>, 10> units{{{"bit/s", 0.125},
                                                                       {"kbit/s", 125},
                                                                       {"Mbit/s", 125e3},
                                                                       {"Gbit/s", 125e6},
                                                                       {"B/s", 1},
                                                                       {"kB/s", 1e3},
                                                                       {"MB/s", 1e6},
                                                                       {"GB/s", 1e9},
                                                                       {"MiB/s", 1024.0 * 1024},
                                                                       {"GiB/s", 1024.0 * 1024 * 1024}}};
  const auto rate = parse_in_units(text, units);
  return rate && *rate > 0 ? rate : std::nullopt;
}

std::string format_duration(double seconds)
{
  if (std::isnan(seconds)) return "unknown";
  if (seconds >= 1e18) return "infinite"; // llround would overflow
  auto rest = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  constexpr std::array<std::pair<char, std::int64_t>, 4> units{{{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  std::string text;
  int shown = 0;
  for (const auto& [letter, size] : units) {
    const auto count = rest / size;
    rest %= size;
    if (count == 0) continue;
    text += fmt::format("{}{}", count, letter);
    if (++shown == 2) break;
  }
  return text.empty() ? "0s" : text;
}

std::string format_bytes(double bytes)
{
  constexpr std::array<const char*, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < units.size()) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string format_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string format_rate(double bytes_per_s)
{
  if (std::isnan(bytes_per_s)) return "unknown";
  if (std::isinf(bytes_per_s)) return "unlimited";
  constexpr std::array<const char*, 4> units{"B/s", "kB/s", "MB/s", "GB/s"};
  constexpr double below_next = 999.5; // from here on, rounding to three digits gives the next unit
  std::size_t unit = 0;
  while (bytes_per_s >= below_next && unit + 1 < units.size()) bytes_per_s /= 1000, ++unit;
  const auto number = bytes_per_s < below_next ? fmt::format("{:.3g}", bytes_per_s) : fmt::format("{:.0f}", bytes_per_s);
  return number + " " + units[unit];
}

std::string format_per_byte(double seconds)
{
  constexpr double least_ns = 1e-4; // ten terabytes a second; a fit that found nothing gives less
  const double ns = 1e9 * seconds;
  return ns >= 100 ? fmt::format("{:.0f} ns/byte", ns) : fmt::format("{:.3g} ns/byte", ns < least_ns ? 0 : ns);
}

std::string format_seconds(double seconds)
{
  if (std::isnan(seconds)) return "unknown";
  if (std::isinf(seconds)) return seconds > 0 ? "infinite" : "-infinite";
  if (seconds == 0) return "0 s";
  const double size = std::abs(seconds);
  constexpr double below_next = 0.9995; // from here on, rounding to three digits gives the next unit
  if (size < 1e-13) return "0 s";       // no clock measures it; it comes from a fit
  if (size < below_next * 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (size < below_next * 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (size < below_next) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (size < 100) return fmt::format("{:.3g} s", seconds);
  return (seconds < 0 ? "-" : "") + format_duration(size);
}

std::string format_time_utc(double unix_s) { return format_clock(unix_s, "%Y-%m-%dT%H:%M:%SZ", gmtime_r); }
std::string format_time_local(double unix_s) { return format_clock(unix_s, "%Y-%m-%d %H:%M:%S", localtime_r); }

double now_unix_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

} // namespace dt
