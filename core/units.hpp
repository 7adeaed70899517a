// Quantities as people write them, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dt {

// Seconds from "90", "1h30m", "2d", "45s", "HH:MM:SS", "MM:SS" or "D-HH:MM:SS" (Slurm's form); nothing when it is none of these.
std::optional<std::int64_t> parse_duration_s(std::string_view text);

// "1h30m", "45s", "2d3h": the two largest units that are not zero; "0s" for zero.
std::string format_duration(double seconds);

// "1.5 GiB", "512 B".
std::string format_bytes(double bytes);

// Three significant digits with the unit that fits, from nanoseconds to days: "1.53 ms", "12.4 s".
std::string format_seconds(double seconds);

// "2026-11-21T04:05:06Z" of seconds since the epoch (UTC).
std::string format_time_utc(double unix_s);

// The same moment in local time, "2026-11-21 05:05:06".
std::string format_time_local(double unix_s);

// Seconds since the epoch, now.
double now_unix_s();

} // namespace dt
