#include "cli/answers/why_tables.hpp"

#include "cli/output/label_columns.hpp"
#include "cli/output/number_text.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using store::Attribution;
using store::Factor;
using PointColumn = TableColumn<Attribution>;

// Names in the order of store::Factor. `column` is the title of a table, `cost` the subject of a sentence.
struct Words {
  const char *column, *cost;
};
constexpr std::array<Words, store::factor_count> words{{{"batch", "the smaller batch"},
                                                        {"contention", "contention"},
                                                        {"balance", "load imbalance"},
                                                        {"jitter", "jitter"},
                                                        {"input", "waiting for input"},
                                                        {"between epochs", "time between epochs"},
                                                        {"outside phases", "time outside phases"},
                                                        {"exposed comm.", "exposed communication"},
                                                        {"queueing", "queueing at the servers"},
                                                        {"together", "the sum of all causes"}}};

bool is(std::size_t factor, Factor wanted) { return factor == static_cast<std::size_t>(wanted); }

bool is_whole_computation(const Attribution& point, std::size_t factor)
{
  return is(factor, Factor::contention) && !point.says_contention() && std::isfinite(point.lost[factor]);
}

std::string cost_of(const Attribution& point, std::size_t factor)
{
  if (is_whole_computation(point, factor)) return point.is_part ? "computation per core" : "computation";
  if (is(factor, Factor::together) && !point.missing.all_causes())
    return point.missing.communication ? "computation or communication" : "input or communication";
  if (is(factor, Factor::batch) && point.is_part) return "fewer threads and a smaller batch per rank";
  return words[factor].cost;
}

std::string capitalised(std::string text)
{
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

// The unit in which the label's sizes are counted.
const char* unit_of(const Attribution& point)
{
  if (point.is_part) return "part";
  if (point.size == point.nodes) return "node";
  return point.workers == point.ranks ? "rank" : "worker";
}

std::string name_of(const Attribution& point, const store::PointLabels& labels)
{
  const auto size = counted(point.size, unit_of(point));
  const auto label = labels.shown(point.label);
  return label.empty() ? size : label + ", " + size;
}

std::string interval_text(const Attribution& point)
{
  if (std::isnan(point.interval.low)) return "";
  return fmt::format(" [{:.1f}, {:.1f}]", point.interval.low * 100, point.interval.high * 100);
}

bool is_unknown(const Attribution& point) { return std::isnan(point.efficiency); }

// The phases that are missing: "`input` and `communication`".
std::vector<std::string> phases_of(const store::MissingPhases& missing)
{
  std::vector<std::string> names;
  if (missing.input) names.emplace_back("`input`");
  if (missing.work) names.emplace_back("one of `forward`, `backward` and `optimizer`");
  if (missing.communication) names.emplace_back("`communication`");
  return names;
}

std::string consequence_of(const store::MissingPhases& missing)
{
  if (missing.all_causes()) return "dtctl knows only the sum of the causes, not each of them";
  if (missing.communication)
    return "time in which they communicate inside `backward`, as PyTorch's DDP does, looks like computation, so dtctl cannot "
           "separate computation, imbalance, jitter and communication";
  return "dtctl cannot separate waiting for input from communication";
}

std::string advice_on(const store::MissingPhases& missing)
{
  if (missing.work || missing.input) return "dtctl_report.phase() reports a phase, also one that takes no time.";
  return "dtctl sees it by itself in PyTorch's DistributedDataParallel (`program.observe`; `dtctl show` says what it could not "
         "see). "
         "Another program reports it in each step, as 0 if there is none.";
}

Cell efficiency_cell(const Attribution& point)
{
  auto cell = percent_cell(point.efficiency);
  cell.text += interval_text(point);
  return cell;
}

// "-19.0" points; "-" if the factor is unknown.
Cell lost_cell(double lost)
{
  if (std::isnan(lost)) return {nullptr, "-", Style::dim};
  const bool is_small = std::abs(lost) < 0.0005;
  return {lost, is_small ? "0.0" : fmt::format("{:+.1f}", -lost * 100), lost > 0.05 ? Style::warning : Style::plain};
}

PointColumn lost_column(std::size_t factor, std::string title)
{
  return {{"lost_" + std::string(store::factor_names[factor]), title, Align::right},
          [factor](const Attribution& point) { return lost_cell(point.lost[factor]); }};
}

PointColumn lost_bound_column(std::size_t factor, std::string bound, double store::Interval::*member)
{
  return {{"lost_" + std::string(store::factor_names[factor]) + "_" + std::move(bound), ""},
          [factor, member](const Attribution& point) { return real_cell(point.lost_intervals[factor].*member); }};
}

const char* words_of(store::Reference reference)
{
  return reference == store::Reference::fast_worker ? "fast worker" : "mean worker";
}

PointColumn factor_column(std::size_t factor)
{
  return {{"factor_" + std::string(store::factor_names[factor]), ""},
          [factor](const Attribution& point) { return real_cell(point.factors[factor]); }};
}

// The title of a factor's column. Factors that cost_of() names by what was measured have the same name here.
std::string title_of(const std::vector<Attribution>& points, std::size_t factor)
{
  const auto is_whole = [&](const auto& point) { return is_whole_computation(point, factor); };
  const auto whole = std::find_if(points.begin(), points.end(), is_whole);
  return whole == points.end() ? words[factor].column : cost_of(*whole, factor);
}

double share_of(const BetweenEpochs& between) { return between.loader_s + between.checkpoint_s + between.other_s; }

constexpr double visible_share = 0.0005; // what a table shows as 0.1 %

bool has_time_between_epochs(const Attribution& point) { return share_of(point.between) >= visible_share; }

bool has_time_outside(const Attribution& point)
{
  return std::abs(point.lost[static_cast<std::size_t>(Factor::outside)]) >= visible_share;
}

bool has_servers(const std::vector<Attribution>& points)
{
  return std::any_of(points.begin(), points.end(), [](const auto& point) { return point.workers != point.ranks; });
}

template<auto member> PointColumn count_column(std::string name, std::string title, int drop = 0)
{
  return {{std::move(name), std::move(title), Align::right, drop}, [](const auto& point) { return count_cell(point.*member); }};
}

template<auto member> PointColumn share_column(std::string name, std::string title, int drop = 0)
{
  return {{std::move(name), std::move(title), Align::right, drop}, [](const auto& point) { return percent_cell(point.*member); }};
}

Cell baseline_cell(const Attribution& point)
{
  return point.baseline_size == 0 ? Cell{nullptr, "ideal", Style::dim} : count_cell(point.baseline_size);
}

std::vector<PointColumn> columns_of(const store::PointLabels& labels)
{
  return label_columns<Attribution>(labels, "label", [](const auto& point) { return point.label; });
}

std::vector<PointColumn> attribution_columns(const std::vector<Attribution>& points)
{
  const bool servers = has_servers(points);
  const bool has_pauses = std::any_of(points.begin(), points.end(), has_time_between_epochs);
  const bool has_outside = std::any_of(points.begin(), points.end(), has_time_outside);
  const bool has_missing = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.missing.any(); });
  const auto is_hidden = [&](std::size_t factor) {
    return (is(factor, Factor::queueing) && !servers) || (is(factor, Factor::between) && !has_pauses) ||
           (is(factor, Factor::outside) && !has_outside) || (is(factor, Factor::together) && !has_missing);
  };
  std::vector<PointColumn> columns{
      count_column<&Attribution::nodes>("nodes", "nodes", 4),
      count_column<&Attribution::ranks>("ranks", "ranks"),
      count_column<&Attribution::workers>("workers", servers ? "workers" : ""),
      count_column<&Attribution::size>("size", ""),
      count_column<&Attribution::runs>("runs", "runs", 3),
      count_column<&Attribution::left_out>("left_out", ""),
      {{"baseline_size", "of", Align::right, 5}, baseline_cell},
      {{"efficiency", "efficiency [95 %]", Align::right}, efficiency_cell},
      {{"efficiency_low", ""}, [](const auto& point) { return percent_cell(point.interval.low); }},
      {{"efficiency_high", ""}, [](const auto& point) { return percent_cell(point.interval.high); }},
      share_column<&Attribution::efficiency_per_process>("efficiency_per_process", "per process"),
  };
  for (std::size_t factor = 0; factor < store::factor_count; ++factor)
    columns.push_back(lost_column(factor, is_hidden(factor) ? "" : title_of(points, factor)));
  for (std::size_t factor = 0; factor < store::factor_count; ++factor) columns.push_back(factor_column(factor));
  for (std::size_t factor = 0; factor < store::factor_count; ++factor) {
    columns.push_back(lost_bound_column(factor, "low", &store::Interval::low));
    columns.push_back(lost_bound_column(factor, "high", &store::Interval::high));
  }
  columns.push_back(share_column<&Attribution::statistical_efficiency>("statistical_efficiency", "samples to target", 2));
  columns.push_back(share_column<&Attribution::time_efficiency>("time_efficiency", "time to target", 1));
  columns.push_back({{"latest_host", ""}, [](const auto& point) { return text_cell(point.latest_host); }});
  columns.push_back(count_column<&Attribution::latest_host_runs>("latest_host_runs", ""));
  columns.push_back({{"missing_phases", ""}, [](const auto& point) { return data_cell(phases_of(point.missing)); }});
  columns.push_back({{"reference", ""}, [](const auto& point) { return text_cell(words_of(point.reference)); }});
  columns.push_back({{"lone_deviation", ""}, [](const auto& point) { return real_cell(point.lone_deviation); }});
  columns.push_back({{"throttled_share", ""}, [](const auto& point) { return percent_cell(point.throttled_share); }});
  return columns;
}

Cell rate_cell(double bytes_per_s)
{
  auto cell = real_cell(bytes_per_s);
  if (!std::isfinite(bytes_per_s)) return cell;
  const double bits = bytes_per_s * 8;
  cell.text = bits >= 1e9   ? fmt::format("{:.3g} Gbit/s", bits * 1e-9)
              : bits >= 1e6 ? fmt::format("{:.3g} Mbit/s", bits * 1e-6)
                            : fmt::format("{:.3g} kbit/s", bits * 1e-3);
  return cell;
}

Cell bytes_cell(double bytes)
{
  auto cell = real_cell(bytes);
  if (std::isfinite(bytes))
    cell.text = bytes < 1e6 ? fmt::format("{:.1f} kB", bytes * 1e-3) : fmt::format("{:.1f} MB", bytes * 1e-6);
  return cell;
}

template<auto member> PointColumn figure_column(std::string name, std::string title, Cell (*cell)(double))
{
  return {{std::move(name), std::move(title), Align::right},
          [cell](const Attribution& point) { return cell(point.communication.*member); }};
}

Cell plain(double value) { return real_cell(value); }

// The host that was last in most runs belongs to jitter, or to load imbalance if that costs more.
bool names_host(const Attribution& point, std::size_t factor)
{
  const auto lost = [&](Factor f) { return point.lost[static_cast<std::size_t>(f)]; };
  const auto host_factor = lost(Factor::jitter) >= lost(Factor::load_balance) ? Factor::jitter : Factor::load_balance;
  return is(factor, host_factor) && point.nodes > 1 && !point.latest_host.empty();
}

// The factors whose lost part is at least `least`, in order; with `least` 0 all that are known.
std::vector<std::size_t> factors_above(const Attribution& point, double least)
{
  std::vector<std::size_t> factors;
  for (std::size_t factor = 0; factor < store::factor_count; ++factor)
    if (std::abs(point.lost[factor]) >= least) factors.push_back(factor);
  return factors;
}

// " [17.2, 20.8]" of a cost or a gain, in points.
std::string lost_interval_text(const Attribution& point, std::size_t factor)
{
  auto [low, high] = point.lost_intervals[factor];
  if (std::isnan(low)) return "";
  if (point.lost[factor] < 0) low = -std::exchange(high, -low);
  const auto points = [](double share) { return number_text("%.1f", share * 100); };
  return " [" + points(low) + ", " + points(high) + "]";
}

// "exposed communication costs 19.0 points [17.2, 20.8], jitter 6.1 [4.0, 8.2] (host3 in 4 of 5 runs)"; `verb` is "costs" or
// "gains".
std::string listed(const Attribution& point, const std::vector<std::size_t>& factors, const char* verb)
{
  std::vector<std::string> parts;
  for (const auto factor : factors) {
    const bool is_first = parts.empty();
    auto part = fmt::format("{} {}{:.1f}{}", cost_of(point, factor), is_first ? verb : "", std::abs(point.lost[factor]) * 100,
                            is_first ? " points" : "");
    part += lost_interval_text(point, factor);
    if (names_host(point, factor))
      part += fmt::format(" ({} in {} of {})", point.latest_host, point.latest_host_runs, counted(point.runs, "run"));
    parts.push_back(std::move(part));
  }
  return join(parts, ", ");
}

std::vector<std::string> losses_of(const Attribution& point)
{
  if (point.is_throttled())
    return {
        fmt::format("A CPU quota held ranks back for up to {:.0f} % of the time, in whatever they did then, so dtctl cannot say "
                    "what else costs efficiency. Give the job more processor time, or run fewer ranks or threads.",
                    point.throttled_share * 100)};
  constexpr double half_a_point = 0.005;
  auto costs = factors_above(point, half_a_point);
  std::stable_sort(costs.begin(), costs.end(), [&](auto a, auto b) { return point.lost[a] > point.lost[b]; });
  const auto first_gain = std::find_if(costs.begin(), costs.end(), [&](auto factor) { return point.lost[factor] < 0; });
  const std::vector<std::size_t> gains(first_gain, costs.end());
  costs.erase(first_gain, costs.end());
  std::vector<std::string> sentences;
  if (costs.empty()) sentences.emplace_back("No factor costs half a point.");
  if (!costs.empty()) sentences.push_back(capitalised(listed(point, costs, "costs ")) + ".");
  if (!gains.empty()) sentences.push_back(capitalised(listed(point, gains, "gains ")) + ".");
  return sentences;
}

std::string compared_with(const Attribution& point)
{
  if (point.baseline_size == 0) return "of the throughput that its own computation would allow without any waiting";
  return fmt::format("of the throughput {}of {}", point.is_part ? "" : "per worker ",
                     counted(point.baseline_size, unit_of(point)));
}

std::string target_words(const Attribution& point)
{
  if (std::isnan(point.statistical_efficiency)) return "";
  const double samples = 1 / point.statistical_efficiency;
  const auto needed =
      std::abs(samples - 1) < 0.005 ? std::string("as many samples") : fmt::format("{:.2f} times the samples", samples);
  return fmt::format("It needs {} to the target, so its efficiency in time to accuracy is {:.1f} %.", needed,
                     point.time_efficiency * 100);
}

// Relative to an ideal machine the mean worker is meant.
bool lacks_fast_worker(const Attribution& point)
{
  const bool has_computation = !point.missing.communication && !point.missing.all_causes() && !point.is_throttled();
  return point.reference == store::Reference::mean_worker && point.baseline_size != 0 && !point.is_baseline &&
         point.workers > 1 && has_computation;
}

constexpr double visible_deviation = 0.005;

// ---- waterfall ------------------------------------------------------------------------------------------------------

constexpr int bar_width = 40;

// A bar from `low` to `high`, as shares of 1; both may exceed 1.
std::string bar(double low, double high)
{
  const auto column = [](double share) { return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.5) * bar_width)); };
  std::string text(static_cast<std::size_t>(column(low)), ' ');
  for (int i = column(low); i < std::max(column(high), column(low) + 1); ++i) text += "█";
  return text;
}

// The longest cost is only among those of a program that reports no communication.
std::string line_of(const Attribution& point, const std::string& name, const std::string& number, const std::string& bar_text)
{
  return fmt::format("  {:<{}}{:>8}  {}\n", name, point.missing.communication ? 28 : 26, number, bar_text);
}

} // namespace

// Time that waits for input has no name there. Queueing and communication are both parts of transfer.
Json pop_names()
{
  return {{"batch", "computation scalability"},   {"contention", "computation scalability"}, {"load_balance", "load balance"},
          {"jitter", "serialisation efficiency"}, {"communication", "transfer efficiency"},  {"queueing", "transfer efficiency"}};
}

Table attribution_table(const std::vector<Attribution>& points, const store::PointLabels& labels)
{
  const auto columns = before(columns_of(labels), attribution_columns(points));
  return table_of("why", columns, points, std::identity(), "no results yet");
}

Table communication_table(const std::vector<Attribution>& points, const store::PointLabels& labels)
{
  using Figures = store::CommunicationFigures;
  std::vector<Attribution> communicating;
  std::copy_if(points.begin(), points.end(), std::back_inserter(communicating),
               [](const auto& point) { return point.ranks > 1; });
  const std::vector<PointColumn> columns{
      count_column<&Attribution::nodes>("nodes", "nodes", 4),
      count_column<&Attribution::ranks>("ranks", "ranks"),
      figure_column<&Figures::isolated_s>("isolated_s", "comm. a step", seconds_cell),
      figure_column<&Figures::hidden_s>("hidden_s", "hidden", seconds_cell),
      figure_column<&Figures::exposed_s>("exposed_s", "exposed", seconds_cell),
      figure_column<&Figures::bytes>("bytes", "sent by a rank", bytes_cell),
      figure_column<&Figures::messages>("messages", "messages", plain),
      figure_column<&Figures::bandwidth>("bandwidth", "bandwidth", rate_cell),
      figure_column<&Figures::link>("link", "link", rate_cell),
  };
  return table_of("communication", before(columns_of(labels), columns), communicating, std::identity(),
                  "no communication: one rank");
}

std::vector<std::string> sentences_of(const Attribution& point, const store::PointLabels& labels)
{
  if (point.is_baseline) return {};
  if (is_unknown(point))
    return {
        fmt::format("{}: there is no smaller size to compare it with, and what the program reports does not tell how much of its "
                    "time is waiting.",
                    name_of(point, labels))};
  std::vector<std::string> sentences{fmt::format("{}: {:.1f} %{} {} ({}).", name_of(point, labels), point.efficiency * 100,
                                                 interval_text(point), compared_with(point), counted(point.runs, "run"))};
  for (auto& sentence : losses_of(point)) sentences.push_back(std::move(sentence));
  if (auto words = target_words(point); !words.empty()) sentences.push_back(std::move(words));
  return sentences;
}

std::vector<std::string> between_epochs_notes(const std::vector<Attribution>& points, const store::PointLabels& labels)
{
  std::vector<std::string> notes;
  for (const auto& point : points)
    if (has_time_between_epochs(point))
      notes.push_back(fmt::format("{}: {:.1f} % of the measured time: DataLoaders that open and end {:.1f} %, checkpoints "
                                  "(torch.save) {:.1f} %, other {:.1f} %. It counts in the throughput; evaluations do not",
                                  name_of(point, labels), share_of(point.between) * 100, point.between.loader_s * 100,
                                  point.between.checkpoint_s * 100, point.between.other_s * 100));
  return notes;
}

std::string sentence_of(const Attribution& point, const store::PointLabels& labels)
{
  return join(sentences_of(point, labels), " ");
}

std::string largest_cost_of(const Attribution& point)
{
  std::size_t largest = 0;
  for (std::size_t factor = 1; factor < store::factor_count; ++factor)
    if (!(point.lost[factor] <= point.lost[largest]) && std::isfinite(point.lost[factor])) largest = factor;
  const double lost = point.lost[largest];
  return lost >= 0.005 ? fmt::format("{} costs {:.1f} points of efficiency", cost_of(point, largest), lost * 100) : "";
}

std::vector<std::string> missing_phases_notes(const std::vector<Attribution>& points)
{
  std::vector<store::MissingPhases> told;
  std::vector<std::string> notes;
  for (const auto& point : points) {
    const auto& missing = point.missing;
    if (!missing.any() || std::find(told.begin(), told.end(), missing) != told.end()) continue;
    told.push_back(missing);
    notes.push_back(fmt::format("Not every rank of the program reports {}: {}. {}", join(phases_of(missing), " and "),
                                consequence_of(missing), advice_on(missing)));
  }
  return notes;
}

std::vector<std::string> uncertainty_notes(const std::vector<Attribution>& points)
{
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  };
  for (const auto& point : points) {
    if (lacks_fast_worker(point))
      add("The ranks of some of these runs did not report the same steps, so computation is measured against the mean worker: of "
          "what one slow worker of W costs, 1/W counts as computation. Let every rank report every step");
    if (point.lone_deviation >= visible_deviation)
      add(fmt::format(
          "The time of one rank alone predicts the steps of {} with an error of {:.0f} %. At a smaller batch it may be "
          "wrong by as much, so that much may move between the smaller batch and contention; their intervals include it.",
          counted(point.baseline_size, unit_of(point)), std::expm1(point.lone_deviation) * 100));
  }
  return notes;
}

std::string waterfall_of(const Attribution& point, const store::PointLabels& labels)
{
  constexpr double visible = 0.0005;
  const auto base = point.baseline_size == 0 ? std::string("without any waiting") : counted(point.baseline_size, unit_of(point));
  const auto label = printable(labels.shown(point.label));
  auto text = label.empty() ? std::string() : label + "\n";
  text += line_of(point, base, "100.0 %", bar(0, 1));
  double level = 1;
  for (const auto factor : factors_above(point, visible)) {
    const double next = level - point.lost[factor];
    text += line_of(point, cost_of(point, factor), number_text("%+.1f  ", -point.lost[factor] * 100),
                    bar(std::min(level, next), std::max(level, next)));
    level = next;
  }
  return text + line_of(point, counted(point.size, unit_of(point)), fmt::format("{:.1f} %", point.efficiency * 100),
                        bar(0, point.efficiency));
}

} // namespace dt::cli
