#include "cli/output/layout.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace dt::cli {
namespace {

constexpr std::size_t gap = 2;                // blanks between columns
constexpr std::size_t readable_column = 24;   // words are cut to this width before columns are dropped
constexpr std::size_t narrowest_column = 6;   // words are cut to this width at most, even if the line stays too long
constexpr std::size_t shortest_beginning = 4; // bytes; a shorter beginning is not replaced by "…"

// A table's texts with visible control characters, and which columns are shown or dropped.
struct Sheet {
  std::vector<std::size_t> shown;                 // indexes of columns
  std::vector<std::size_t> widths;                // of every column, also dropped ones
  std::vector<std::vector<std::string>> texts;    // by row and column
  std::vector<std::string> empty, equal, dropped; // titles of dropped columns; `equal`: with their text
};

void measure_column(Sheet& sheet, const Table& table, std::size_t column)
{
  sheet.widths[column] = display_width(table.columns[column].title);
  for (const auto& row : sheet.texts) sheet.widths[column] = std::max(sheet.widths[column], display_width(row[column]));
}

// Replaces a line end and the blanks after it by one blank.
std::string in_one_line(std::string_view text)
{
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      line += text[i];
      continue;
    }
    line += ' ';
    while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\n')) ++i;
  }
  return line;
}

Sheet measure(const Table& table)
{
  Sheet sheet;
  sheet.widths.resize(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (!table.columns[c].title.empty()) sheet.shown.push_back(c);
  for (const auto& row : table.rows) {
    auto& texts = sheet.texts.emplace_back(table.columns.size());
    for (const auto c : sheet.shown) texts[c] = printable(in_one_line(row[c].text));
  }
  for (const auto c : sheet.shown) measure_column(sheet, table, c);
  return sheet;
}

std::size_t total_width(const Sheet& sheet)
{
  const auto widths = std::accumulate(sheet.shown.begin(), sheet.shown.end(), std::size_t{0},
                                      [&](std::size_t sum, std::size_t c) { return sum + sheet.widths[c]; });
  return widths + gap * (sheet.shown.empty() ? 0 : sheet.shown.size() - 1);
}

template<class Test> bool all_texts(const Sheet& sheet, std::size_t column, Test test)
{
  return std::all_of(sheet.texts.begin(), sheet.texts.end(), [&](const auto& row) { return test(row[column]); });
}

bool is_empty(const Sheet& sheet, std::size_t column)
{
  return all_texts(sheet, column, [](const std::string& text) { return text.empty() || text == "-"; });
}

// Whether all rows (at least two) have the same text.
bool is_equal(const Sheet& sheet, std::size_t column)
{
  return sheet.texts.size() > 1 &&
         all_texts(sheet, column, [&](const std::string& text) { return text == sheet.texts[0][column]; });
}

// Drops the least important column for which `may_leave` is true. Returns false if there is none, or if only one column is left.
template<class Test>
bool take_out(Sheet& sheet, const Table& table, std::vector<std::string>& left, Test may_leave, bool with_text)
{
  auto least = sheet.shown.end();
  for (auto c = sheet.shown.begin(); c != sheet.shown.end(); ++c)
    if (may_leave(*c) && (least == sheet.shown.end() || table.columns[*c].drop > table.columns[*least].drop)) least = c;
  if (least == sheet.shown.end() || sheet.shown.size() == 1) return false;
  left.push_back(table.columns[*least].title + (with_text ? " " + sheet.texts[0][*least] : ""));
  sheet.shown.erase(least);
  return true;
}

// Length in bytes of the common beginning of a column's texts, up to and including the last character of `ends` in it.
std::size_t common_beginning(const Sheet& sheet, std::size_t column, std::string_view ends)
{
  std::string_view common = sheet.texts[0][column];
  for (const auto& row : sheet.texts) {
    const auto differs = std::mismatch(common.begin(), common.end(), row[column].begin(), row[column].end()).first;
    common = common.substr(0, static_cast<std::size_t>(differs - common.begin()));
  }
  const auto end = common.find_last_of(ends);
  return end == std::string_view::npos ? 0 : end + 1;
}

// Replaces the common beginning of a column's texts by "…". Skips columns whose texts are all equal.
void shorten_beginnings(Sheet& sheet, const Table& table, std::string_view ends)
{
  for (const auto c : sheet.shown) {
    if (table.columns[c].align != Align::left || sheet.texts.size() < 2 || is_equal(sheet, c)) continue;
    const auto bytes = common_beginning(sheet, c, ends);
    if (bytes < shortest_beginning) continue;
    for (auto& row : sheet.texts) row[c].replace(0, bytes, "…");
    measure_column(sheet, table, c);
  }
}

// Narrows the widest column of words, at most by `missing`. Returns false if no column can be narrowed.
bool cut_column(Sheet& sheet, const Table& table, std::size_t missing, std::size_t narrowest)
{
  std::size_t widest = table.columns.size();
  for (const auto c : sheet.shown)
    if (table.columns[c].align == Align::left && (widest == table.columns.size() || sheet.widths[c] > sheet.widths[widest]))
      widest = c;
  if (widest == table.columns.size() || sheet.widths[widest] <= narrowest) return false;
  sheet.widths[widest] = std::max(narrowest, sheet.widths[widest] - std::min(missing, sheet.widths[widest]));
  return true;
}

// Keeps differences visible as long as possible: first drops columns without information, then shortens common beginnings.
void shrink(Sheet& sheet, const Table& table, std::size_t width)
{
  const auto missing = [&] { return total_width(sheet) - std::min(width, total_width(sheet)); };
  const auto while_missing = [&](const auto& step) {
    while (missing() > 0 && step()) {
    }
  };
  while_missing([&] {
    return take_out(
        sheet, table, sheet.empty, [&](auto c) { return is_empty(sheet, c); }, false);
  });
  if (missing() > 0) shorten_beginnings(sheet, table, " /");
  while_missing([&] {
    return take_out(
        sheet, table, sheet.equal, [&](auto c) { return is_equal(sheet, c); }, true);
  });
  if (missing() > 0) shorten_beginnings(sheet, table, " /=-_:,");
  while_missing([&] { return cut_column(sheet, table, missing(), readable_column); });
  while_missing([&] {
    return take_out(
        sheet, table, sheet.dropped, [&](auto c) { return table.columns[c].drop > 0; }, false);
  });
  while_missing([&] { return cut_column(sheet, table, missing(), narrowest_column); });
}

// Cuts the texts of a column to its width. Cuts at the end, or in the middle if that keeps more texts distinct.
void cut_texts(Sheet& sheet, std::size_t column)
{
  const auto width = sheet.widths[column];
  std::set<std::string> whole, ends, middles;
  for (const auto& row : sheet.texts) {
    whole.insert(row[column]);
    ends.insert(fit(row[column], width));
    middles.insert(fit_middle(row[column], width));
  }
  const bool at_end = ends.size() == whole.size() || ends.size() >= middles.size();
  for (auto& row : sheet.texts) row[column] = at_end ? fit(row[column], width) : fit_middle(row[column], width);
}

// Names the dropped columns and why they were dropped. Empty if all are shown.
std::string footnote(const Sheet& sheet, std::size_t width)
{
  std::vector<std::string> parts;
  if (!sheet.equal.empty()) parts.push_back("in every row: " + join(sheet.equal, ", "));
  if (!sheet.empty.empty()) parts.push_back("empty: " + join(sheet.empty, ", "));
  if (!sheet.dropped.empty()) parts.push_back("left out: " + join(sheet.dropped, ", "));
  return parts.empty() ? "" : wrap("(" + join(parts, "; ") + ")", width, 1);
}

// Number of words from `begin` on that make a command of dtctl, up to the punctuation after it. 1 if none begins there.
std::size_t words_of_command(const std::vector<std::string>& words, std::size_t begin)
{
  const auto& first = words[begin];
  if (first != "dtctl" && first != "(dtctl" && first != "`dtctl") return 1;
  const auto ends = [](const std::string& word) { return word.empty() || word.find_last_of(".,;:)`") == word.size() - 1; };
  const auto last = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end(), ends);
  return static_cast<std::size_t>(last - words.begin()) - begin + (last == words.end() ? 0 : 1);
}

// The words of a text. A command of dtctl that fits into `most` columns is one word, so that it can be copied as one line.
std::vector<std::string> unbroken_parts(std::string_view text, std::size_t most)
{
  const auto words = split(text, ' ');
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < words.size();) {
    const auto count = words_of_command(words, i);
    const std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(i),
                                           words.begin() + static_cast<std::ptrdiff_t>(i + count));
    const auto whole = join(command, " ");
    const bool fits = count > 1 && display_width(whole) <= most;
    parts.push_back(fits ? whole : words[i]);
    i += fits ? count : 1;
  }
  return parts;
}

struct Field {
  std::string_view text;
  std::size_t width;
  Align align;
  Style style;
  bool last;
};

void put(std::string& line, const Field& field, const Paint& paint)
{
  const auto text = fit(field.text, field.width);
  const std::size_t blanks = field.width - display_width(text);
  if (field.align == Align::right) line.append(blanks, ' ');
  line += paint(text, field.style);
  if (field.last) return;
  line.append((field.align == Align::left ? blanks : 0) + gap, ' ');
}

} // namespace

std::string fit(std::string_view text, std::size_t width)
{
  if (display_width(text) <= width) return std::string(text);
  std::string cut;
  for (std::size_t i = 0, columns = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && ++columns >= width) break;
    cut += text[i];
  }
  return width == 0 ? "" : cut + "…";
}

std::string fit_middle(std::string_view text, std::size_t width)
{
  if (display_width(text) <= width || width < 3) return fit(text, width);
  const auto tail = (width - 1) / 2;
  std::size_t begin = text.size();
  for (std::size_t characters = 0; characters < tail; ++characters) do
      --begin;
    while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80);
  return fit(text, width - tail).append(text.substr(begin));
}

std::string layout(const Table& table, std::size_t width, const Paint& paint)
{
  if (table.rows.empty()) return paint(table.when_empty, Style::dim) + "\n";
  auto sheet = measure(table);
  if (width > 0) shrink(sheet, table, width);
  for (const auto c : sheet.shown) cut_texts(sheet, c);
  std::string lines;
  const auto put_line = [&](const auto& text_of, const auto& style_of) {
    for (const auto c : sheet.shown)
      put(lines, {text_of(c), sheet.widths[c], table.columns[c].align, style_of(c), c == sheet.shown.back()}, paint);
    lines += '\n';
  };
  put_line([&](std::size_t c) -> std::string_view { return table.columns[c].title; }, [](std::size_t) { return Style::strong; });
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    put_line([&](std::size_t c) -> std::string_view { return sheet.texts[r][c]; },
             [&](std::size_t c) { return table.rows[r][c].style; });
  if (const auto note = footnote(sheet, width); !note.empty()) lines += paint(note, Style::dim) + "\n";
  return lines;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent)
{
  std::string lines;
  std::size_t column = 0;
  for (const auto& word : unbroken_parts(text, width - std::min(width, indent))) {
    const auto columns = display_width(word);
    const bool breaks = width > 0 && column > 0 && column + 1 + columns + indent > width;
    if (breaks) {
      (lines += '\n').append(indent, ' ');
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns;
  }
  return lines;
}

} // namespace dt::cli
