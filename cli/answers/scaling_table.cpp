#include "cli/answers/scaling_table.hpp"

#include "cli/output/label_columns.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

namespace dt::cli {
namespace {

bool has_interval(const store::ScalingRow& row)
{
  return std::isfinite(row.efficiency_low) && std::isfinite(row.efficiency_high);
}

// Returns "91.5 % [90.2, 92.4]". Without an interval: "91.5 % [-]" if other rows of the table have one, else "91.5 %".
Cell efficiency_cell(const store::ScalingRow& row, bool others_have_intervals)
{
  auto cell = percent_cell(row.efficiency);
  if (has_interval(row))
    cell.text += fmt::format(" [{:.1f}, {:.1f}]", row.efficiency_low * 100, row.efficiency_high * 100);
  else if (others_have_intervals && std::isfinite(row.efficiency))
    cell.text += " [-]";
  return cell;
}

// Returns "1.9 s", "1.9 s (2/3)" if one of three runs missed the target, or "- (1/3)" if most did.
Cell target_cell(const store::ScalingRow& row)
{
  auto cell = seconds_cell(row.time_to_accuracy_s);
  if (row.reached == row.target_runs) return cell;
  cell.text += fmt::format(" ({}/{})", row.reached, row.target_runs);
  cell.style = Style::warning;
  return cell;
}

// Returns true when some ranks are parameter servers, which do not train.
bool has_servers(const std::vector<store::ScalingRow>& rows)
{
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.workers != row.ranks; });
}

// "3", or "2/3" if one of three runs did not succeed.
Cell runs_cell(const store::ScalingRow& row)
{
  if (row.succeeded == row.runs) return count_cell(row.runs);
  return {row.runs, fmt::format("{}/{}", row.succeeded, row.runs), Style::warning};
}

Cell factor_cell(double value)
{
  auto cell = real_cell(value, 3);
  if (std::isfinite(value)) cell.text = fmt::format("{:.2f}x", value);
  return cell;
}

Cell baseline_cell(const store::ScalingRow& row)
{
  return row.baseline_size == 0 ? Cell{nullptr, "-", Style::dim} : count_cell(row.baseline_size);
}

using ScalingColumn = TableColumn<store::ScalingRow>;

// A column with a count, and one with another number.
template<auto member> ScalingColumn count_column(std::string name, std::string title = "", int drop = 0)
{
  return {{std::move(name), std::move(title), Align::right, drop}, [](const auto& row) { return count_cell(row.*member); }};
}
template<auto member> ScalingColumn real_column(std::string name, std::string title, Cell (*cell)(double), int drop = 0)
{
  return {{std::move(name), std::move(title), Align::right, drop}, [cell](const auto& row) { return cell(row.*member); }};
}

Cell plain(double value) { return real_cell(value); }

std::vector<ScalingColumn> scaling_columns(bool has_servers, bool has_intervals, bool has_diverged)
{
  using Row = store::ScalingRow;
  return {
      count_column<&Row::nodes>("nodes", "nodes", 4),
      count_column<&Row::ranks>("ranks", "ranks"),
      count_column<&Row::workers>("workers", has_servers ? "workers" : ""),
      count_column<&Row::size>("size"),
      {{"platform", ""}, [](const Row& row) { return text_cell(row.platform); }},
      {{"runs", "runs", Align::right, 3}, runs_cell},
      count_column<&Row::succeeded>("runs_succeeded"),
      count_column<&Row::diverged>("diverged", has_diverged ? "diverged" : ""),
      real_column<&Row::throughput>("throughput", "samples/s", plain),
      real_column<&Row::throughput_median>("throughput_median", "", plain),
      real_column<&Row::throughput_min>("throughput_min", "", plain),
      real_column<&Row::throughput_max>("throughput_max", "", plain),
      real_column<&Row::speedup>("speedup", "speed-up", factor_cell),
      {{"efficiency", has_servers ? "efficiency/worker [95 %]" : "efficiency [95 %]", Align::right},
       [has_intervals](const Row& row) { return efficiency_cell(row, has_intervals); }},
      real_column<&Row::efficiency_low>("efficiency_low", "", percent_cell),
      real_column<&Row::efficiency_high>("efficiency_high", "", percent_cell),
      real_column<&Row::efficiency_per_process>("efficiency_per_process", has_servers ? "efficiency/process" : "", percent_cell,
                                                2),
      {{"baseline_size", ""}, baseline_cell},
      count_column<&Row::paired_blocks>("paired_blocks"),
      real_column<&Row::communication_share>("communication_share", "comm.", percent_cell, 1),
      real_column<&Row::joules_per_sample>("joules_per_sample", "J/sample", plain, 2),
      real_column<&Row::mfu>("mfu", "MFU", mfu_cell, 5),
      real_column<&Row::accuracy>("accuracy", "accuracy", percent_cell),
      {{"time_to_accuracy_s", "to target", Align::right, 2}, target_cell},
      count_column<&Row::reached>("reached"),
      count_column<&Row::target_runs>("target_runs"),
  };
}

} // namespace

Table scaling_table(const std::vector<store::ScalingRow>& rows, const store::PointLabels& labels)
{
  const bool has_intervals = std::any_of(rows.begin(), rows.end(), has_interval);
  const bool has_diverged = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.diverged > 0; });
  const auto columns = label_columns<store::ScalingRow>(labels, "label", [](const auto& row) { return row.label; });
  const auto figures = scaling_columns(has_servers(rows), has_intervals, has_diverged);
  return table_of("scaling", before(columns, figures), rows, std::identity(), "no results yet");
}

} // namespace dt::cli
