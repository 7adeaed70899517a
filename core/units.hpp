// Durations, sizes and times as text: parsing and formatting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dt {

// Reads seconds from "1h30m", "2d", "45s", "0", or one of Slurm's forms: "HH:MM:SS", "MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS".
// Returns nothing for any other text, also for any other number without a unit: Slurm counts it in minutes, other programs in
// seconds.
std::optional<std::int64_t> parse_duration_s(std::string_view text);

// What is wrong with a text that is no duration, as the end of a sentence: "must be a duration such as …, not `soon`", or for
// "30" what to write for 30 minutes and for 30 seconds. Control characters are printed as escapes.
std::string duration_refusal(std::string_view text);

// "1h30m", "45s", "2d3h": the first two units that are not zero; "0s" for zero.
std::string format_duration(double seconds);

// Reads seconds from a short time with its unit: "50us", "1.5 ms", "120 ns", "2s". Returns nothing for any other text, also for
// one without a unit or below 0.
std::optional<double> parse_short_time_s(std::string_view text);

// Reads bytes per second from "1 Gbit/s", "125 MB/s", "12.5GB/s" (powers of ten) or "100 MiB/s". Returns nothing for any other
// text, also for one that is not above 0.
std::optional<double> parse_rate_bytes_per_s(std::string_view text);

// "1.5 GiB", "512 B".
std::string format_bytes(double bytes);

// A share in whole percent: "48 %".
std::string format_percent(double share);

// "124 MB/s", "1.9 GB/s": three significant digits, powers of ten, never an exponent; infinite: "unlimited".
std::string format_rate(double bytes_per_s);

// "3290 ns/byte", "0.05 ns/byte"; less than 0.1 ps/byte is 0.
std::string format_per_byte(double seconds);

// Three significant digits with a suitable unit, from nanoseconds to days: "1.53 ms", "12.4 s".
std::string format_seconds(double seconds);

// Formats seconds since the epoch in UTC: "2026-11-21T04:05:06Z".
std::string format_time_utc(double unix_s);

// Formats seconds since the epoch in local time: "2026-11-21 05:05:06".
std::string format_time_local(double unix_s);

// Current time in seconds since the epoch.
double now_unix_s();

} // namespace dt
