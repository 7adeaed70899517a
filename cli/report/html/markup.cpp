#include "cli/report/html/markup.hpp"

#include "core/counted.hpp"
#include "core/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t wide_text = 48; // columns; longer texts are broken into lines

const char* class_of(Style style)
{
  switch (style) {
  case Style::plain:
    return "";
  case Style::strong:
    return "strong";
  case Style::dim:
    return "dim";
  case Style::good:
    return "good";
  case Style::warning:
    return "warning";
  case Style::bad:
    break;
  }
  return "bad";
}

// The value as sorting and saved files need it; empty for null.
std::string data_text(const Json& value)
{
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string classes(const Column& column, const Cell* cell)
{
  std::string list;
  const auto add = [&](std::string_view name) {
    if (!name.empty()) list += (list.empty() ? "" : " ") + std::string(name);
  };
  if (column.title.empty()) add("more");
  if (column.align == Align::right) add("right");
  if (cell != nullptr) {
    add(class_of(cell->style));
    if (column.align == Align::left && cell->text.size() > wide_text) add("wide");
  }
  return list.empty() ? "" : " class=\"" + list + "\"";
}

std::string head_html(const Table& table)
{
  std::string html = "<thead><tr>";
  for (const auto& column : table.columns) {
    const auto& title = column.title.empty() ? column.name : column.title;
    html += fmt::format("<th scope=\"col\" data-name=\"{}\"{}><button type=\"button\" data-sort>{}</button></th>",
                        escaped(column.name.empty() ? column.title : column.name), classes(column, nullptr), escaped(title));
  }
  return html + "</tr></thead>";
}

std::string cell_html(const Column& column, const Cell& cell, const std::string& link)
{
  const auto data = data_text(cell.value);
  const auto sorted_by = data == cell.text && !column.title.empty() ? "" : " data-v=\"" + escaped(data) + "\"";
  auto text = column.title.empty() ? std::string() : escaped(cell.text);
  if (!link.empty()) text = fmt::format("<a href=\"{}\">{}</a>", escaped(link), text);
  return fmt::format("<td{}{}>{}</td>", classes(column, &cell), sorted_by, text);
}

std::size_t first_shown(const Table& table)
{
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [](const auto& column) { return !column.title.empty(); });
  return static_cast<std::size_t>(found - table.columns.begin());
}

} // namespace

std::string escaped(std::string_view text)
{
  std::string html;
  for (const char c : printable_lines(text)) {
    switch (c) {
    case '<':
      html += "&lt;";
      break;
    case '>':
      html += "&gt;";
      break;
    case '&':
      html += "&amp;";
      break;
    case '"':
      html += "&quot;";
      break;
    case '\'':
      html += "&#39;";
      break;
    default:
      html += c;
    }
  }
  return html;
}

std::string paragraph(std::string_view text, std::string_view css_class)
{
  const auto attribute = css_class.empty() ? std::string() : fmt::format(" class=\"{}\"", css_class);
  return fmt::format("<p{}>{}</p>\n", attribute, escaped(text));
}

std::string table_html(const Table& table, const std::string& name, const std::vector<std::string>& links)
{
  if (table.rows.empty()) return paragraph(table.when_empty, "missing");
  auto html =
      fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table id=\"table-{}\">{}\n<tbody>",
                  escaped(table.name), name, head_html(table));
  const auto first = first_shown(table);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += "\n<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      html += cell_html(table.columns[i], table.rows[r][i], i == first && r < links.size() ? links[r] : "");
    html += "</tr>";
  }
  return html + fmt::format("</tbody></table></div>\n<p class=\"under\"><span class=\"dim\">{}</span><button type=\"button\" "
                            "data-table=\"{}\">Save as CSV</button></p>\n",
                            counted(table.rows.size(), "row"), name);
}

std::string script_json(const Json& value)
{
  std::string text;
  for (const char c : value.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

} // namespace dt::cli
