#include "cli/report/html/heat_map.hpp"

#include "cli/report/html/markup.hpp"
#include "core/maths/statistics.hpp"
#include "core/record/field.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct PhaseColumn {
  const char* name;
  const char* title;
};
constexpr std::array columns{PhaseColumn{"input", "input"},
                             PhaseColumn{"forward", "forward"},
                             PhaseColumn{"backward", "backward"},
                             PhaseColumn{"optimizer", "update"},
                             PhaseColumn{"communication", "exposed communication"},
                             PhaseColumn{"step", "step"}};

double time_of(const store::RankPhases& rank, const char* phase)
{
  const auto found = rank.phases.find(phase);
  return found == rank.phases.end() ? not_measured : found->second;
}

double median_of(const std::vector<store::RankPhases>& ranks, const char* phase)
{
  std::vector<double> times;
  for (const auto& rank : ranks)
    if (const double time = time_of(rank, phase); rank.role == "worker" && std::isfinite(time)) times.push_back(time);
  return median(times);
}

// Time that is not spent on waiting for others.
double work_of(const store::RankPhases& rank)
{
  double work = 0;
  for (const char* phase : {"input", "forward", "backward", "optimizer"})
    if (const double time = time_of(rank, phase); std::isfinite(time)) work += time;
  return work;
}

// "h1" to "h4" for a time above the median, "c1" to "c4" below; empty near it. A phase that takes less than a hundredth of the
// step is never coloured, because its scatter means nothing.
std::string heat_class(double time, double middle, double step)
{
  if (!std::isfinite(time) || !(middle > 0) || std::max(time, middle) < 0.01 * step) return "";
  const double difference = time / middle - 1;
  int level = 0;
  for (const double limit : {0.03, 0.1, 0.25, 0.5}) level += std::abs(difference) >= limit ? 1 : 0;
  return level == 0 ? "" : fmt::format(" class=\"{}{}\"", difference > 0 ? 'h' : 'c', level);
}

std::string row_html(const store::RankPhases& rank, const std::vector<double>& medians)
{
  auto html = fmt::format("\n<tr><th scope=\"row\">rank {} on {}{}</th>", rank.rank, escaped(rank.host),
                          rank.role == "worker" ? "" : " (" + escaped(rank.role) + ")");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double time = time_of(rank, columns[i].name);
    const auto heat = rank.role == "worker" ? heat_class(time, medians[i], medians.back()) : "";
    html += fmt::format("<td{}>{}</td>", heat, std::isfinite(time) ? fmt::format("{:.3g}", time * 1e3) : "-");
  }
  return html + "</tr>";
}

// Those with the most work, in the order of ranks.
std::vector<store::RankPhases> shown_ranks(std::vector<store::RankPhases> ranks)
{
  if (ranks.size() <= most_heat_rows) return ranks;
  std::stable_sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return work_of(a) > work_of(b); });
  ranks.resize(most_heat_rows);
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return ranks;
}

} // namespace

std::string heat_map_html(const std::vector<store::RankPhases>& ranks)
{
  std::vector<double> medians;
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Phases of the ranks\"><table class=\"heat\">"
      "<thead><tr><th scope=\"col\">ms per step</th>";
  for (const auto& column : columns) {
    medians.push_back(median_of(ranks, column.name));
    html += fmt::format("<th scope=\"col\" class=\"right\">{}</th>", column.title);
  }
  html += "</tr></thead>\n<tbody>";
  for (const auto& rank : shown_ranks(ranks)) html += row_html(rank, medians);
  return html + "</tbody></table></div>\n";
}

} // namespace dt::cli
