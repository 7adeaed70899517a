// The records of an attempt from the texts of their files, and the numbers in lines. Private to core/record.
#pragma once

#include "core/record/energy_record.hpp"
#include "core/record/load_record.hpp"
#include "core/record/rank_state.hpp"
#include "core/record/run_record.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace dt::record {

// Reads a blank and a number, and removes them from the beginning of `text`.
template<class Number> bool take(std::string_view& text, Number& value)
{
  if (text.empty() || text.front() != ' ') return false;
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// The word that a program writes into a line in place of a figure that it does not report.
inline constexpr std::string_view not_reported = "-";

// Reads a blank and a figure, or the word for one that was not reported.
inline bool take(std::string_view& text, Reported& figure)
{
  if (text.empty() || text.front() != ' ') return false;
  const auto word = text.substr(1, text.find(' ', 1) - 1);
  double value = 0;
  figure = std::nullopt;
  if (word == not_reported) {
    text.remove_prefix(1 + word.size());
    return true;
  }
  if (!take(text, value)) return false;
  figure = value;
  return true;
}

inline void put_word(std::string& text, std::string_view word) { (text += ' ') += word; }

// Appends a blank and a number.
template<class Number> void put(std::string& text, Number value)
{
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text += ' ';
  text.append(digits.data(), end);
}

// Appends a measured time with nanosecond precision, which is shorter than all 17 digits.
inline void put_seconds(std::string& text, double value)
{
  std::array<char, 48> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 9);
  text += ' ';
  text.append(digits.data(), error == std::errc() ? end : digits.data());
}

// All return nothing when the text is torn, damaged or of another format; of lines, those that are complete.
std::optional<Submission> parse_submission(std::string_view text);
std::optional<Deferral> parse_deferral(std::string_view text);
std::optional<BeginRecord> parse_begin(std::string_view text);
std::optional<Heartbeat> parse_heartbeat(std::string_view text);
std::optional<RankError> parse_error(std::string_view text);
std::optional<Outcome> parse_outcome(std::string_view text);
std::optional<FailureCause> parse_failure_cause(std::string_view text);
std::optional<Preemption> parse_preemption(std::string_view text);
std::optional<ProbeRecord> parse_probe(std::string_view text);
std::optional<LoadRecord> parse_load(std::string_view text);
std::optional<EnergyRecord> parse_energy(std::string_view text);
std::optional<StallRecord> parse_stall(std::string_view text);
std::optional<JobEnd> parse_end(std::string_view text);
std::vector<Launch> parse_launches(std::string_view text);
std::vector<Wish> parse_wishes(std::string_view text);
// Never fails: the file's presence alone counts as the wish to cancel.
Cancellation parse_cancellation(std::string_view text);

} // namespace dt::record
