#include "core/record/attempt/trace_record.hpp"

#include <array>
#include <charconv>

namespace dt {
namespace {

constexpr std::string_view title = "dtctl trace 1";

template<class Number> void put(std::string& text, Number value)
{
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

template<class... Numbers> void put_line(std::string& text, std::string_view tag, Numbers... numbers)
{
  text += tag;
  const char* blank = tag.empty() ? "" : " ";
  ((text += blank, put(text, numbers), blank = " "), ...);
  text += '\n';
}

// Takes the next line, without its line feed. Returns nothing if no complete line is left.
std::optional<std::string_view> take_line(std::string_view& text)
{
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

template<class Number> bool take(std::string_view& line, Number& number)
{
  if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return true;
}

// Takes a line that consists of a tag and exactly these numbers.
template<class... Numbers> bool take_tagged(std::string_view& text, std::string_view tag, Numbers&... numbers)
{
  auto line = take_line(text);
  if (!line || !line->starts_with(tag)) return false;
  line->remove_prefix(tag.size());
  return (take(*line, numbers) && ...) && line->empty();
}

bool take_rank(std::string_view& text, TraceRecord& record)
{
  auto line = take_line(text);
  if (!line || !line->starts_with("rank ")) return false;
  line->remove_prefix(5);
  if (!take(*line, record.rank) || !line->starts_with(" ")) return false;
  line->remove_prefix(1);
  const auto blank = line->find(' ');
  if (blank == std::string_view::npos) return false;
  record.role = line->substr(0, blank);
  record.host = line->substr(blank + 1);
  return true;
}

bool is_sound(const TraceSpan& span, std::size_t names)
{
  const auto known = [&](int name) { return name >= 0 && static_cast<std::size_t>(name) < names; };
  return known(span.name) && known(span.track) && span.length_ns >= 0;
}

bool take_spans(std::string_view text, TraceRecord& record)
{
  while (!text.empty()) {
    if (text.starts_with("name ")) {
      const auto line = take_line(text);
      if (!line) return false;
      record.names.emplace_back(line->substr(5));
      continue;
    }
    TraceSpan s;
    if (!take_tagged(text, "", s.name, s.track, s.begin_ns, s.length_ns, s.step, s.bytes, s.peer, s.tag)) return false;
    if (!is_sound(s, record.names.size())) return false;
    record.spans.push_back(s);
  }
  return true;
}

} // namespace

double TraceRecord::aligned_s(std::int64_t ns) const
{
  const double since_s = 1e-9 * static_cast<double>(ns), length_s = end.local_s - begin.local_s;
  const double drift = length_s > 0 ? (end.ahead_s - begin.ahead_s) / length_s : 0;
  return begin.local_s - begin.ahead_s + since_s * (1 - drift);
}

std::string to_text(const TraceRecord& r)
{
  std::string text(title);
  text += "\nrank " + std::to_string(r.rank) + ' ' + r.role + ' ' + r.host + '\n';
  for (const auto& clock : {r.begin, r.end}) put_line(text, "clock", clock.local_s, clock.ahead_s, clock.error_s);
  put_line(text, "forgotten", r.forgotten);
  for (const auto& name : r.names) text += "name " + name + '\n';
  for (const auto& s : r.spans) put_line(text, "", s.name, s.track, s.begin_ns, s.length_ns, s.step, s.bytes, s.peer, s.tag);
  return text;
}

std::optional<TraceRecord> parse_trace(std::string_view text)
{
  TraceRecord record;
  const bool whole = take_line(text) == title && take_rank(text, record) &&
                     take_tagged(text, "clock", record.begin.local_s, record.begin.ahead_s, record.begin.error_s) &&
                     take_tagged(text, "clock", record.end.local_s, record.end.ahead_s, record.end.error_s) &&
                     take_tagged(text, "forgotten", record.forgotten) && take_spans(text, record);
  return whole ? std::optional(std::move(record)) : std::nullopt;
}

std::filesystem::path trace_path(const AttemptFolder& attempt, int rank)
{
  return attempt.trace() / ("rank-" + std::to_string(rank));
}

} // namespace dt
