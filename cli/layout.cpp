#include "cli/layout.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <numeric>

namespace dt::cli {
namespace {

constexpr std::size_t gap = 2;              // blanks between columns
constexpr std::size_t readable_column = 24; // words are cut so far before any column leaves
constexpr std::size_t narrowest_column = 6; // and so far before the line is given up as too long

// A table's texts with control characters made visible, and the columns that are shown.
struct Sheet {
  std::vector<std::size_t> shown;  // columns of the table
  std::vector<std::size_t> widths; // of every column of the table
  std::vector<std::vector<std::string>> texts;
};

Sheet measure(const Table& table)
{
  Sheet sheet;
  sheet.widths.resize(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    sheet.widths[c] = display_width(table.columns[c].title);
    if (!table.columns[c].title.empty()) sheet.shown.push_back(c);
  }
  for (const auto& row : table.rows) {
    auto& texts = sheet.texts.emplace_back(table.columns.size());
    for (const auto c : sheet.shown) {
      texts[c] = printable(row[c].text);
      sheet.widths[c] = std::max(sheet.widths[c], display_width(texts[c]));
    }
  }
  return sheet;
}

std::size_t total_width(const Sheet& sheet)
{
  const auto widths = std::accumulate(sheet.shown.begin(), sheet.shown.end(), std::size_t{0},
                                      [&](std::size_t sum, std::size_t c) { return sum + sheet.widths[c]; });
  return widths + gap * (sheet.shown.empty() ? 0 : sheet.shown.size() - 1);
}

// Takes the column out that matters least; false when all that are left must stay.
bool drop_column(Sheet& sheet, const Table& table)
{
  const auto least = std::max_element(sheet.shown.begin(), sheet.shown.end(), [&](std::size_t a, std::size_t b) {
    return table.columns[a].drop < table.columns[b].drop;
  });
  if (least == sheet.shown.end() || table.columns[*least].drop == 0) return false;
  sheet.shown.erase(least);
  return true;
}

// Narrows the widest column that holds words by as much as is missing; false when none can give.
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

void shrink(Sheet& sheet, const Table& table, std::size_t width)
{
  const auto missing = [&] { return total_width(sheet) - std::min(width, total_width(sheet)); };
  while (missing() > 0 && cut_column(sheet, table, missing(), readable_column)) {
  }
  while (missing() > 0 && drop_column(sheet, table)) {
  }
  while (missing() > 0 && cut_column(sheet, table, missing(), narrowest_column)) {
  }
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

std::string layout(const Table& table, std::size_t width, const Paint& paint)
{
  if (table.rows.empty()) return paint(table.when_empty, Style::dim) + "\n";
  auto sheet = measure(table);
  if (width > 0) shrink(sheet, table, width);
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
  return lines;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent)
{
  std::string lines;
  std::size_t column = 0;
  for (const auto& word : split(text, ' ')) {
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
