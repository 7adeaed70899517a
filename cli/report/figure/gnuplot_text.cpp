#include "cli/report/figure/gnuplot_text.hpp"

#include "cli/output/layout.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <vector>

namespace dt::cli {
namespace {

// gnuplot knows '' for a quote within quotes, but not at the beginning of a string. So quotes stand in double quotes.
std::string in_quotes(std::string_view text)
{
  std::string expression;
  const auto add = [&](const std::string& part) { expression += (expression.empty() ? "" : ".") + part; };
  bool is_first = true;
  for (const auto& part : split(text, '\'')) {
    if (!is_first) add("\"'\"");
    if (!part.empty()) add("'" + part + "'");
    is_first = false;
  }
  return expression.empty() ? "''" : expression;
}

std::string with_doubled_percents(std::string_view text)
{
  std::string doubled;
  for (const char c : text) doubled += c == '%' ? "%%" : std::string(1, c);
  return doubled;
}

// gnuplot's LaTeX terminals take a text that begins with a bracket as an order, so brackets are commands.
std::string_view tex_of(char c)
{
  switch (c) {
  case '\\':
    return "\\textbackslash{}";
  case '%': // without a %, which gnuplot would take as a format
    return "\\char37{}";
  case '~':
    return "\\textasciitilde{}";
  case '^':
    return "\\textasciicircum{}";
  case '[':
    return "\\lbrack{}";
  case ']':
    return "\\rbrack{}";
  case '<':
    return "\\textless{}";
  case '>':
    return "\\textgreater{}";
  case '|':
    return "\\textbar{}";
  case '`':
    return "\\textasciigrave{}";
  default:
    return "";
  }
}

std::string shown(std::string_view text, FigureFormat format)
{
  auto safe = printable(text);
  return format == FigureFormat::tex ? tex_escaped(safe) : safe;
}

// The length of the first line of `text`, of at most `width` characters: up to a place where it may be broken. If two lines are
// enough, they get about the same length; else the first one is as long as possible. 0: there is no such place.
std::size_t line_end(std::string_view text, std::size_t width)
{
  const auto whole = display_width(text);
  std::size_t end = 0, shortest = std::string_view::npos;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (std::string_view(", /-_=").find(text[at - 1]) == std::string_view::npos) continue;
    const auto first = display_width(trim(text.substr(0, at))), second = display_width(trim(text.substr(at)));
    if (first > width) break;
    const auto longer = whole > 2 * width ? whole - first : std::max(first, second);
    if (longer <= shortest) end = at, shortest = longer;
  }
  return end;
}

} // namespace

std::string gnuplot_string(std::string_view text, FigureFormat format) { return in_quotes(shown(text, format)); }

std::string gnuplot_lines(std::string_view text, FigureFormat format)
{
  std::string lines;
  for (const auto& line : split(text, '\n')) lines += (lines.empty() ? "" : ".\"\\n\".") + gnuplot_string(line, format);
  return lines;
}

std::string gnuplot_tick_label(std::string_view text, FigureFormat format)
{
  return with_doubled_percents(gnuplot_lines(text, format));
}

std::string gnuplot_comment(std::string_view text)
{
  auto safe = printable(text);
  return safe.ends_with('\\') ? safe + "." : safe;
}

std::string tex_escaped(std::string_view text)
{
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("{}$&#_").find(c) != std::string_view::npos)
      escaped += std::string("\\") + c;
    else if (const auto command = tex_of(c); !command.empty())
      escaped += command;
    else
      escaped += c;
  }
  return escaped;
}

std::string in_lines(std::string_view text, std::size_t width, int most)
{
  const auto safe = printable(text);
  std::string_view rest = safe;
  std::string lines;
  for (int line = 1; line < most && display_width(rest) > width; ++line) {
    const auto end = line_end(rest, width);
    if (end == 0) break;
    lines += std::string(trim(rest.substr(0, end))) + "\n";
    rest = trim(rest.substr(end));
  }
  return lines + fit_middle(rest, width);
}

} // namespace dt::cli
