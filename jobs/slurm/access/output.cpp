#include "jobs/slurm/access/output.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

bool is_key_word(std::string_view text)
{
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool is_unset(std::string_view text) { return text == "(null)" || text == "N/A" || text == "None assigned"; }

// The place of the word before the "=" at `equals`, or npos if no word of a key stands there.
std::size_t begin_of_key(std::string_view line, std::size_t equals)
{
  const auto blank = equals == 0 ? std::string_view::npos : line.find_last_of(" ", equals - 1);
  const auto begin = blank == std::string_view::npos ? 0 : blank + 1;
  return is_key_word(line.substr(begin, equals - begin)) ? begin : std::string_view::npos;
}

// Position of the line of headings in a command's output; 0 if there is no such line. A site may print a banner before it.
std::size_t begin_of_table(std::string_view text, std::string_view first_heading)
{
  const auto heading = lower_case(first_heading) + field_end;
  for (std::size_t begin = 0; begin < text.size();) {
    if (lower_case(text.substr(begin, heading.size())) == heading) return begin;
    const auto end = text.find('\n', begin);
    if (end == text.npos) break;
    begin = end + 1;
  }
  return 0;
}

// Whole lines behind a table, none of which belongs to it.
bool is_banner(std::string_view text) { return text.ends_with('\n') && text.find(field_end) == text.npos; }

} // namespace

SlurmFailure unreadable(std::string_view command, std::string_view why, std::string_view text)
{
  constexpr std::size_t most_shown = 200;
  const auto end = text.size() > most_shown ? "…" : "";
  return {unreadable_answer, fmt::format("{} printed what dtctl cannot read, {}: \"{}{}\"", command, why,
                                         printable(std::string(trim(text.substr(0, most_shown)))), end)};
}

const std::string& Row::operator[](std::string_view fact) const
{
  static const std::string none;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (columns_[i].fact == fact) return fields_[i];
  return none;
}

std::vector<Row> read_table(std::string_view command, std::string_view text, std::span<const Column> columns)
{
  std::vector<std::vector<std::string>> records;
  for (std::size_t begin = begin_of_table(text, columns.front().name); begin < text.size();) {
    if (!records.empty() && is_banner(text.substr(begin))) break;
    std::vector<std::string> record;
    for (auto end = text.find(field_end, begin); record.size() < columns.size() && end != text.npos;
         end = text.find(field_end, begin)) {
      const auto field = text.substr(begin, end - begin);
      record.emplace_back(is_unset(field) ? std::string_view() : field);
      begin = end + 1;
    }
    const bool is_whole = record.size() == columns.size() && begin < text.size() && text[begin] == '\n';
    if (!is_whole && records.empty()) throw unreadable(command, "not a table", text);
    if (!is_whole) throw unreadable(command, "cut off", text.substr(text.size() - std::min<std::size_t>(text.size(), 100)));
    ++begin;
    records.push_back(std::move(record));
  }
  if (records.empty()) throw unreadable(command, "nothing", text);
  const auto& header = records.front();
  const bool is_known = lower_case(header.front()) == lower_case(columns.front().name) &&
                        std::none_of(header.begin(), header.end(), [](const std::string& name) { return name.empty(); });
  if (!is_known) throw unreadable(command, "another table", text);
  std::vector<Row> rows;
  for (auto record = records.begin() + 1; record != records.end(); ++record) rows.emplace_back(columns, std::move(*record));
  return rows;
}

std::map<std::string, std::string> read_record(std::string_view line)
{
  std::map<std::string, std::string> fields;
  std::string_view key;
  std::size_t value = 0;
  const auto put = [&](std::size_t end) {
    const auto text = trim(line.substr(value, end - value));
    if (!key.empty()) fields.try_emplace(std::string(key), is_unset(text) ? std::string_view() : text);
  };
  for (auto equals = line.find('='); equals != line.npos; equals = line.find('=', equals + 1)) {
    const auto begin = begin_of_key(line, equals);
    if (begin == line.npos || begin < value) continue; // a "=" within a value
    put(begin);
    key = line.substr(begin, equals - begin);
    value = equals + 1;
  }
  put(line.size());
  return fields;
}

std::map<std::string, std::string> read_settings(std::string_view text)
{
  std::map<std::string, std::string> settings;
  for (const auto& line : split(text, '\n')) {
    const auto words = std::string_view(line).substr(0, line.find('#'));
    const auto equals = words.find('=');
    if (equals == words.npos) continue;
    const auto key = lower_case(trim(words.substr(0, equals)));
    const auto value = trim(words.substr(equals + 1));
    const auto [place, is_new] = settings.try_emplace(key, is_unset(value) ? std::string_view() : value);
    if (!is_new) place->second += "\n" + std::string(value);
  }
  return settings;
}

std::int64_t read_number(std::string_view command, std::string_view what, std::string_view text)
{
  if (const auto number = leading_number<std::int64_t>(text)) return *number;
  throw unreadable(command, fmt::format("{} is no number", what), text);
}

std::int64_t read_moment(std::string_view command, std::string_view text)
{
  constexpr std::array<std::string_view, 5> never{"", "N/A", "NONE", "None", "Unknown"};
  if (std::find(never.begin(), never.end(), text) != never.end()) return 0;
  if (const auto moment = number_of<std::int64_t>(text)) return *moment;
  throw unreadable(command, "a time is not in seconds", text);
}

} // namespace dt::jobs::slurm
