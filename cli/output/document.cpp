#include "cli/output/document.hpp"

#include "core/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string escaped_for_latex(std::string_view text)
{
  std::string all;
  for (const char c : text) {
    switch (c) {
    case '\\':
      all += "\\textbackslash{}";
      break;
    case '^':
      all += "\\textasciicircum{}";
      break;
    case '~':
      all += "\\textasciitilde{}";
      break;
    case '<':
      all += "\\textless{}";
      break;
    case '>':
      all += "\\textgreater{}";
      break;
    case '"':
      all += "\\textquotedbl{}";
      break;
    case '&':
    case '%':
    case '$':
    case '#':
    case '_':
    case '{':
    case '}':
      all += '\\';
      [[fallthrough]];
    default:
      all += c;
    }
  }
  return all;
}

std::string escaped_for_markdown(std::string_view text)
{
  constexpr std::string_view marks = "\\`*_{}[]<>#|~&!";
  std::string all;
  for (const char c : text) {
    if (marks.find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

// Without line breaks, which would end a row or a paragraph.
std::string without_breaks(std::string text)
{
  std::ranges::replace(text, '\n', ' ');
  return text;
}

} // namespace

std::string MarkupDocument::escaped(std::string_view text) const
{
  const auto shown = without_breaks(printable(text));
  return is_latex() ? escaped_for_latex(shown) : escaped_for_markdown(shown);
}

void MarkupDocument::heading(int level, std::string_view text)
{
  if (is_latex())
    text_ += fmt::format("\\{}{{{}}}\n\n", level == 1 ? "section" : "subsection", escaped(text));
  else
    text_ += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(level), '#'), escaped(text));
}

void MarkupDocument::paragraph(std::string_view text)
{
  if (!text.empty()) text_ += escaped(text) + "\n\n";
}

void MarkupDocument::list(const std::vector<std::string>& items)
{
  if (items.empty()) return;
  std::string lines;
  for (const auto& item : items) lines += (is_latex() ? "\\item " : "- ") + escaped(item) + "\n";
  text_ += is_latex() ? "\\begin{itemize}\n" + lines + "\\end{itemize}\n\n" : lines + "\n";
}

std::string MarkupDocument::row(const std::vector<std::string>& cells) const
{
  return is_latex() ? join(cells, " & ") + " \\\\\n" : "| " + join(cells, " | ") + " |\n";
}

void MarkupDocument::table(const Table& table)
{
  if (table.rows.empty()) return paragraph(table.when_empty);
  std::vector<std::size_t> shown;
  std::vector<std::string> titles, lines;
  std::string aligned;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& column = table.columns[i];
    if (column.title.empty()) continue;
    shown.push_back(i);
    titles.push_back(escaped(column.title));
    lines.emplace_back(column.align == Align::right ? "---:" : "---");
    aligned += column.align == Align::right ? 'r' : 'l';
  }
  if (is_latex())
    text_ += fmt::format("\\begin{{center}}\n\\begin{{tabular}}{{{}}}\n\\hline\n{}\\hline\n", aligned, row(titles));
  else
    text_ += row(titles) + row(lines);
  for (const auto& cells : table.rows) {
    std::vector<std::string> texts;
    for (const auto i : shown) texts.push_back(escaped(cells[i].text));
    text_ += row(texts);
  }
  text_ += is_latex() ? "\\hline\n\\end{tabular}\n\\end{center}\n\n" : "\n";
}

void MarkupDocument::picture(std::string_view name, std::string_view caption)
{
  if (is_latex())
    text_ += fmt::format("\\begin{{figure}}[ht]\n\\centering\n\\includegraphics{{{}}}\n\\caption{{{}}}\n\\end{{figure}}\n\n",
                         name, escaped(caption));
  else
    text_ += fmt::format("![{}]({})\n\n", escaped(caption), name);
}

void MarkupDocument::code(std::string_view text)
{
  std::string lines;
  for (const auto& line : split(text.substr(0, text.find_last_not_of('\n') + 1), '\n'))
    lines += is_latex() ? escaped(line) + "\\\\\n" : "    " + printable(line) + "\n";
  text_ += is_latex() ? "\\begin{flushleft}\\ttfamily\n" + lines + "\\end{flushleft}\n\n" : lines + "\n";
}

} // namespace dt::cli
