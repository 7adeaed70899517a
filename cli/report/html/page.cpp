#include "cli/report/html/page.hpp"

#include "cli/output/cell.hpp"
#include "cli/report/chart/chart.hpp"
#include "cli/report/html/assets.hpp"
#include "cli/report/html/markup.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"

#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// Charts as the JSON that charts.js draws.

// With seven significant digits, which is more than a chart can show.
Json rounded(double value)
{
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

Json texts(const std::vector<std::string>& list)
{
  Json texts = Json::array();
  for (const auto& text : list) texts.push_back(printable(text));
  return texts;
}

Json to_json(const Axis& axis)
{
  return {{"title", printable(axis.title)}, {"scale", name_of(axis.scale)}, {"share", axis.is_share},
          {"zero", axis.from_zero},         {"ticks", axis.ticks},          {"categories", texts(axis.categories)}};
}

Json to_json(const Series& series)
{
  Json points = Json::array();
  for (const auto& point : series.points) {
    points.push_back({rounded(point.x), rounded(point.y), rounded(point.low), rounded(point.high), printable(point.note)});
    if (!point.beside.empty()) points.back().push_back(printable(point.beside));
  }
  return {{"name", printable(series.name)},
          {"mark", name_of(series.mark)},
          {"origin", name_of(series.origin)},
          {"colour", series.colour},
          {"points", std::move(points)}};
}

// {id, title, caption, stacked, horizontal, x, y, series}; an axis is {title, scale, share, zero, ticks, categories}, a series
// {name, mark, origin, colour, points}, a point [x, y, low, high, note]. Figures have seven significant digits; one that was not
// measured is null.
Json to_json(const Chart& chart)
{
  Json series = Json::array();
  for (const auto& one : chart.series) series.push_back(to_json(one));
  return {{"id", chart.id},
          {"title", printable(chart.title)},
          {"caption", printable(chart.caption)},
          {"stacked", chart.is_stacked},
          {"horizontal", chart.is_horizontal},
          {"x", to_json(chart.x)},
          {"y", to_json(chart.y)},
          {"series", std::move(series)}};
}

// The buttons in the corner of a page, which page.js answers. Without JavaScript they are hidden.
constexpr const char* tools = "<div class=\"tools\"><button type=\"button\" id=\"theme\">Light or dark</button>"
                              "<button type=\"button\" id=\"print\">Print</button></div>";

// Without an icon of its own a browser would ask the server for one.
constexpr const char* icon =
    "<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath "
    "fill='none' stroke='%230072b2' stroke-width='2' d='M2 2v12h12M4 11l4-4 2 2 4-6'/%3E%3C/svg%3E\">\n";

std::string element(std::string_view name, const Asset& asset) { return fmt::format("<{0}>{1}</{0}>\n", name, asset.text); }

std::string scripts(Delivery delivery, const std::string& root)
{
  std::string text;
  if (delivery == Delivery::server) {
    for (const auto* name : {"chart", "charts", "page", "live"})
      text += fmt::format("<script src=\"{}assets/{}.js\"></script>\n", root, name);
    return text;
  }
  for (const auto& asset : {chart_js(), charts_js(), page_js()}) text += element("script", asset);
  return text;
}

std::string figure_html(const Chart& chart)
{
  return fmt::format(
      "<figure>\n<h3>{1}</h3>\n<div class=\"canvas\" id=\"chart-{0}\" hidden></div>\n<figcaption class=\"under\">"
      "<span>{2}</span><button type=\"button\" data-chart=\"{0}\">Save data as CSV</button></figcaption>\n</figure>\n",
      chart.id, escaped(chart.title), escaped(chart.caption));
}

} // namespace

Page::Page(std::string title, std::string subtitle) : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::end_section()
{
  if (in_section_) body_ += "</section>\n";
  in_section_ = false;
}

void Page::begin_study(std::string_view name, std::string_view subtitle)
{
  end_section();
  prefix_ = fmt::format("s{}-", ++studies_);
  places_.push_back({prefix_ + "study", std::string(name), true});
  body_ += fmt::format("<h2 class=\"study\" id=\"{}study\">{}</h2>\n", prefix_, escaped(name)) + cli::paragraph(subtitle, "dim");
}

void Page::section(std::string_view id, std::string_view title)
{
  end_section();
  in_section_ = true;
  const auto place = prefix_ + std::string(id);
  places_.push_back({place, std::string(title)});
  body_ += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n", place, escaped(title));
}

void Page::heading(std::string_view title) { body_ += fmt::format("<h3>{}</h3>\n", escaped(title)); }

void Page::paragraph(std::string_view text, std::string_view css_class)
{
  if (!text.empty()) body_ += cli::paragraph(text, css_class);
}

void Page::preformatted(std::string_view text) { body_ += "<pre tabindex=\"0\">" + escaped(text) + "</pre>\n"; }

void Page::table(Table table, const std::string& name, const std::vector<std::string>& links, std::size_t most_rows)
{
  const auto rows = table.rows.size();
  if (rows > most_rows) table.rows.resize(most_rows);
  body_ += table_html(table, prefix_ + name, links);
  if (rows > most_rows) paragraph(fmt::format("Shown: the first {} of {} rows.", most_rows, rows), "dim");
}

std::string Page::figures(const Charts& charts)
{
  if (charts.charts.empty()) return charts.missing.empty() ? "" : cli::paragraph(charts.missing, "missing");
  std::string html;
  for (auto chart : charts.charts) {
    chart.id = prefix_ + chart.id;
    html += figure_html(chart);
    charts_ += (charts_.empty() ? "" : ",") + script_json(to_json(chart));
  }
  return html;
}

void Page::charts(const Charts& charts)
{
  if (charts.charts.size() < 2) {
    body_ += figures(charts);
    return;
  }
  std::vector<Charts> each;
  for (const auto& chart : charts.charts) each.push_back({{chart}, ""});
  charts_side_by_side(each);
}

void Page::charts_side_by_side(const std::vector<Charts>& all)
{
  std::set<std::string> missing; // a sentence that holds for several kinds is said once
  body_ += "<div class=\"pair\">\n";
  for (const auto& charts : all)
    if (!charts.charts.empty() || missing.insert(charts.missing).second) body_ += "<div>\n" + figures(charts) + "</div>\n";
  body_ += "</div>\n";
}

void Page::markup(std::string_view html) { body_ += html; }

std::string Page::navigation() const
{
  if (places_.size() < 3) return "";
  std::string html = "<nav aria-label=\"Sections\">";
  for (const auto& place : places_)
    html += fmt::format("<a href=\"#{}\"{}>{}</a>", place.id, place.is_study ? " class=\"study\"" : "", escaped(place.title));
  return html + "</nav>\n";
}

std::string Page::head(Delivery delivery) const
{
  auto html = fmt::format("<!DOCTYPE html>\n<html lang=\"en\" data-version=\"{}\"{}>\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n{}",
                          version(), is_still_ ? " data-still=\"yes\"" : "", escaped(title_), icon);
  if (delivery == Delivery::server) return html + "<link rel=\"stylesheet\" href=\"" + root_ + "assets/page.css\">\n</head>\n";
  return html + fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n{}</head>\n",
                            content_security_policy(delivery), element("style", page_css()));
}

std::string Page::version() const
{
  Hasher hasher;
  for (const auto* part : {&title_, &subtitle_, &links_, &body_, &charts_}) hasher.update(*part);
  return hasher.hex();
}

std::string Page::html(Delivery delivery) const
{
  return head(delivery) + "<body>\n<div id=\"page\">\n<a class=\"skip\" href=\"#content\">To the content</a>\n" + links_ +
         fmt::format("<header><div><h1>{}</h1>\n{}</div>\n{}</header>\n", escaped(title_), cli::paragraph(subtitle_, "dim"),
                     tools) +
         navigation() + "<main id=\"content\">\n" + body_ + (in_section_ ? "</section>\n" : "") +
         "</main>\n<script type=\"application/json\" id=\"charts\">[" + charts_ + "]</script>\n</div>\n" +
         "<footer>Made by dtctl " DTCTL_VERSION ".</footer>\n" + scripts(delivery, root_) + "</body>\n</html>\n";
}

std::string content_security_policy(Delivery delivery)
{
  if (delivery == Delivery::server)
    return "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
           "base-uri 'none'; "
           "frame-ancestors 'none'";
  std::string scripts;
  for (const auto& asset : {chart_js(), charts_js(), page_js()}) scripts += " " + csp_source(asset);
  return fmt::format("default-src 'none'; script-src{}; style-src {}; img-src data:; form-action 'none'; base-uri 'none'",
                     scripts, csp_source(page_css()));
}

std::string csp_source(const Asset& asset)
{
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned bits = 0;
  int count = 0;
  std::string base64;
  for (const char digit : asset.sha256) { // four bits a digit, six a character
    bits = bits << 4 | static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    base64 += alphabet[bits >> count & 63];
  }
  if (count > 0) base64 += alphabet[bits << (6 - count) & 63];
  while (base64.size() % 4 != 0) base64 += '=';
  return "'sha256-" + base64 + "'";
}

} // namespace dt::cli
