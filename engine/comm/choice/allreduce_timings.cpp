#include "engine/comm/choice/allreduce_timings.hpp"

#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>

#include <fmt/format.h>

namespace dt::comm {
namespace {

constexpr double clearly = 1.05, about_as_fast = 1.03;
constexpr std::size_t least_bucket_bytes = 256 << 10;
constexpr double enough_of_the_best = 0.8;
constexpr int doublings_beyond = 10;
constexpr double least_doubt = 0.1; // smallest uncertainty of a prediction far beyond the timed sizes, relative
constexpr double longest_confirmation_s = 0.25, confirmed_within = 1.5;
// of one algorithm: samples needed for its own model, samples used for it
constexpr std::size_t fewest_samples = 3, own_samples = 4;
constexpr const char* format_line = "dtctl allreduce timings 3 ";

bool is_timed(const AllreduceTimings& timings, std::size_t k, std::size_t algorithm) { return timings.seconds[k][algorithm] > 0; }

// Interpolates linearly between two points on logarithmic axes.
double between(double x, double x0, double y0, double x1, double y1)
{
  return y0 * std::pow(y1 / y0, std::log(x / x0) / std::log(x1 / x0));
}

const CostModel& model_of(const AllreduceTimings& timings, std::size_t algorithm)
{
  return timings.own.empty() ? timings.model : timings.own[algorithm];
}

double formula_s(const AllreduceTimings& timings, const CostModel& model, std::size_t algorithm, std::size_t bytes)
{
  return cost_s(model, cost_terms(timings.algorithms[algorithm], timings.shape), bytes);
}

// The formula, scaled to pass through timed size k.
double from_size(const AllreduceTimings& timings, std::size_t algorithm, std::size_t k, std::size_t bytes)
{
  const auto& model = model_of(timings, algorithm);
  const double there = formula_s(timings, model, algorithm, timings.bytes[k]), here = formula_s(timings, model, algorithm, bytes);
  return timings.seconds[k][algorithm] * (there > 0 && here > 0 ? here / there : 1);
}

std::vector<CostSample> samples_of(const AllreduceTimings& timings, std::size_t algorithm)
{
  std::vector<CostSample> samples;
  const auto terms = cost_terms(timings.algorithms[algorithm], timings.shape);
  for (std::size_t k = 0; k < timings.bytes.size() && terms.messages > 0; ++k)
    if (is_timed(timings, k, algorithm)) samples.push_back({terms, timings.bytes[k], timings.seconds[k][algorithm]});
  return samples;
}

// Uses only the largest sizes, because MPI sends small messages by other protocols.
void fit_own(AllreduceTimings& timings)
{
  timings.own.clear();
  for (std::size_t a = 0; a < timings.algorithms.size(); ++a) {
    const auto samples = samples_of(timings, a);
    const bool is_enough = samples.size() >= fewest_samples;
    timings.own.push_back(is_enough ? fit_costs(std::span(samples).last(std::min(samples.size(), own_samples))) : timings.model);
  }
}

// Expected times of the algorithms at one size: seconds (0: excluded), and the upper confidence limit of each time ÷ the first
// algorithm's time.
struct Forecast {
  std::vector<double> seconds, ratio_limits;
};

Forecast forecast_at(const AllreduceTimings& timings, std::size_t k)
{
  Forecast forecast{timings.seconds[k], std::vector<double>(timings.algorithms.size(), 0.0)};
  if (!timings.ratio_limits.empty()) forecast.ratio_limits = timings.ratio_limits[k];
  return forecast;
}

// Forecast beyond the largest timed size. The uncertainty grows with the distance, up to twice the spread of both models; it has
// a limit because from some size on every formula depends on bandwidth alone, and the ratios stay constant.
Forecast forecast_beyond(const AllreduceTimings& timings, int doublings)
{
  const std::size_t last = timings.bytes.size() - 1, bytes = timings.bytes.back() << doublings;
  const double near = std::pow(0.5, doublings);
  auto forecast = forecast_at(timings, last);
  for (std::size_t a = 0; a < timings.algorithms.size(); ++a) forecast.seconds[a] = predicted_s(timings, a, bytes);
  for (std::size_t a = 1; a < timings.algorithms.size(); ++a) {
    const double ratio = forecast.seconds[a] / forecast.seconds[0];
    const double then =
        is_timed(timings, last, a) && is_timed(timings, last, 0) ? timings.seconds[last][a] / timings.seconds[last][0] : 0;
    const double unsure = then > 0 ? std::max(1.0, forecast.ratio_limits[a] / then) : 1;
    const double spread = model_of(timings, 0).spread + model_of(timings, a).spread;
    forecast.ratio_limits[a] = ratio * unsure * (1 + std::max(least_doubt, 2 * spread) * (1 - near));
  }
  return forecast;
}

std::size_t winner(const Forecast& forecast, std::size_t before)
{
  const auto is_clear = [&](std::size_t a) {
    return forecast.seconds[a] > 0 && forecast.ratio_limits[a] < 1 &&
           (forecast.seconds[0] <= 0 || clearly * forecast.seconds[a] <= forecast.seconds[0]);
  };
  std::size_t fastest = 0;
  for (std::size_t a = 1; a < forecast.seconds.size(); ++a)
    if (is_clear(a) && (fastest == 0 || forecast.seconds[a] < forecast.seconds[fastest])) fastest = a;
  if (before > 0 && is_clear(before) && forecast.seconds[before] <= about_as_fast * forecast.seconds[fastest]) return before;
  return fastest;
}

// The size where `later`, the winner at size k + 1, becomes faster than `sooner`, the winner at size k. It lies within the two
// sizes, even if a tie was decided for a slightly slower algorithm.
std::size_t crossing(const AllreduceTimings& timings, std::size_t k, std::size_t sooner, std::size_t later)
{
  const auto lead_at = [&](std::size_t bytes) {
    return std::log(predicted_s(timings, later, bytes) / predicted_s(timings, sooner, bytes));
  };
  const double lead = lead_at(timings.bytes[k]), end = lead_at(timings.bytes[k + 1]);
  const double share = lead > end ? std::clamp(lead / (lead - end), 0.0, 1.0) : 0.5;
  const auto from = static_cast<double>(timings.bytes[k]), to = static_cast<double>(timings.bytes[k + 1]);
  return static_cast<std::size_t>(std::llround(from * std::pow(to / from, share)));
}

bool is_sound(const AllreduceTimings& timings)
{
  const auto positive = [](double s) { return std::isfinite(s) && s > 0; };
  const auto usable = [](double s) { return std::isfinite(s) && s >= 0; };
  const auto algorithms = timings.algorithms.size();
  return algorithms > 0 && !timings.bytes.empty() && timings.bytes.front() > 0 &&
         timings.bytes.back() <= (std::numeric_limits<std::size_t>::max() >> (doublings_beyond + 1)) &&
         std::ranges::adjacent_find(timings.bytes, std::greater_equal()) == timings.bytes.end() &&
         std::ranges::all_of(timings.seconds,
                             [&](const auto& row) {
                               return row.size() == algorithms && std::ranges::all_of(row, usable) &&
                                      std::ranges::any_of(row, positive);
                             }) &&
         std::ranges::all_of(timings.ratio_limits,
                             [&](const auto& row) { return row.size() == algorithms && std::ranges::all_of(row, usable); });
}

// Reads the line "WORD number…" with exactly as many numbers as there are references.
template<class... Numbers> bool read_line(const std::string& line, const std::string& word, Numbers&... numbers)
{
  std::istringstream words(line);
  std::string first, rest;
  return (words >> first) && first == word && (words >> ... >> numbers) && !(words >> rest);
}

// Reads a line with bytes and two numbers for each algorithm.
bool read_size(const std::string& line, AllreduceTimings& timings)
{
  std::istringstream words(line);
  std::size_t bytes = 0;
  if (!(words >> bytes)) return false;
  timings.bytes.push_back(bytes);
  auto& seconds = timings.seconds.emplace_back();
  auto& limits = timings.ratio_limits.emplace_back();
  for (double second = 0, limit = 0; words >> second >> limit;) {
    seconds.push_back(second);
    limits.push_back(limit);
  }
  return words.eof();
}

// Whether the model's numbers are finite and not negative, and the shape's counts are positive.
bool is_sound(const CostModel& model, const CostShape& shape)
{
  const auto usable = [](double s) { return std::isfinite(s) && s >= 0; };
  const auto count = [](int n) { return n > 0; };
  return usable(model.alpha_s) && usable(model.beta_s) && usable(model.gamma_s) && usable(model.spread) && count(shape.ranks) &&
         count(shape.nodes) && count(shape.ranks_a_node) && count(shape.supernodes);
}

} // namespace

double predicted_s(const AllreduceTimings& timings, std::size_t algorithm, std::size_t bytes)
{
  std::optional<std::size_t> below, above; // nearest timed sizes
  for (std::size_t k = 0; k < timings.bytes.size(); ++k) {
    if (!is_timed(timings, k, algorithm)) continue;
    if (timings.bytes[k] <= bytes) below = k;
    if (timings.bytes[k] >= bytes && !above) above = k;
  }
  if (!below && !above) return modelled_s(timings, algorithm, bytes);
  if (!below || !above) return from_size(timings, algorithm, below ? *below : *above, bytes);
  if (*below == *above) return timings.seconds[*below][algorithm];
  return between(static_cast<double>(bytes), static_cast<double>(timings.bytes[*below]), timings.seconds[*below][algorithm],
                 static_cast<double>(timings.bytes[*above]), timings.seconds[*above][algorithm]);
}

double modelled_s(const AllreduceTimings& timings, std::size_t algorithm, std::size_t bytes)
{
  return formula_s(timings, timings.model, algorithm, bytes);
}

void fit_models(AllreduceTimings& timings, std::size_t local_add_bytes, double local_add_s)
{
  std::vector<CostSample> samples{{{.messages = 0, .link = 0, .added = 1}, local_add_bytes, local_add_s}};
  for (std::size_t a = 0; a < timings.algorithms.size(); ++a)
    if (timings.algorithms[a] != "mpi") std::ranges::copy(samples_of(timings, a), std::back_inserter(samples));
  timings.model = fit_costs(samples);
  fit_own(timings);
}

std::vector<AllreduceChoice> choose(const AllreduceTimings& timings)
{
  std::vector<AllreduceChoice> choices{{0, winner(forecast_at(timings, 0), 0)}};
  for (std::size_t k = 0; k + 1 < timings.bytes.size(); ++k) {
    const auto sooner = choices.back().algorithm, later = winner(forecast_at(timings, k + 1), sooner);
    if (later != sooner) choices.push_back({crossing(timings, k, sooner, later), later});
  }
  for (int doublings = 1; doublings <= doublings_beyond; ++doublings) {
    const auto sooner = choices.back().algorithm, later = winner(forecast_beyond(timings, doublings), sooner);
    if (later != sooner) choices.push_back({timings.bytes.back() << doublings, later});
  }
  return choices;
}

std::size_t choice_for(const std::vector<AllreduceChoice>& choices, std::size_t bytes)
{
  std::size_t index = 0;
  while (index + 1 < choices.size() && choices[index + 1].from_bytes <= bytes) ++index;
  return index;
}

std::string in_words(const std::vector<AllreduceChoice>& choices, const std::vector<std::string>& algorithms)
{
  std::string words;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    if (k > 0 && choices[k].algorithm == choices[k - 1].algorithm) continue;
    words += (words.empty() ? "" : ", ") + algorithms[choices[k].algorithm];
    if (choices[k].from_bytes > 0) words += " from " + format_bytes(static_cast<double>(choices[k].from_bytes));
  }
  return words;
}

std::size_t best_bucket_bytes(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices)
{
  auto first_size = static_cast<std::size_t>(std::ranges::lower_bound(timings.bytes, least_bucket_bytes) - timings.bytes.begin());
  if (first_size == timings.bytes.size()) first_size = 0;
  std::vector<double> bytes_per_s;
  for (std::size_t k = first_size; k < timings.bytes.size(); ++k) {
    const auto algorithm = choices[choice_for(choices, timings.bytes[k])].algorithm;
    bytes_per_s.push_back(static_cast<double>(timings.bytes[k]) / predicted_s(timings, algorithm, timings.bytes[k]));
  }
  const double enough = enough_of_the_best * *std::max_element(bytes_per_s.begin(), bytes_per_s.end());
  const auto first = std::find_if(bytes_per_s.begin(), bytes_per_s.end(), [&](double rate) { return rate >= enough; });
  return timings.bytes[first_size + static_cast<std::size_t>(first - bytes_per_s.begin())];
}

ConfirmingSum confirming_sum(const AllreduceTimings& timings, const std::vector<AllreduceChoice>& choices)
{
  ConfirmingSum sum;
  for (const auto bytes : timings.bytes) {
    const auto algorithm = choices[choice_for(choices, bytes)].algorithm;
    const double seconds = predicted_s(timings, algorithm, bytes);
    if (sum.bytes == 0 || seconds <= longest_confirmation_s) sum = {algorithm, bytes, seconds};
  }
  return sum;
}

bool is_confirmed(const ConfirmingSum& sum, double fresh_s)
{
  return fresh_s <= confirmed_within * sum.seconds && sum.seconds <= confirmed_within * fresh_s;
}

std::string to_text(const AllreduceTimings& timings, std::string_view key)
{
  const auto& shape = timings.shape;
  const auto& model = timings.model;
  auto text = fmt::format("{}{}\n{}\nshape {} {} {} {}\nmodel {} {} {} {}\n", format_line, key, join(timings.algorithms, " "),
                          shape.ranks, shape.nodes, shape.ranks_a_node, shape.supernodes, format_shortest(model.alpha_s),
                          format_shortest(model.beta_s), format_shortest(model.gamma_s), format_shortest(model.spread));
  for (std::size_t k = 0; k < timings.bytes.size(); ++k) {
    text += std::to_string(timings.bytes[k]);
    for (std::size_t a = 0; a < timings.algorithms.size(); ++a)
      text += fmt::format(" {} {}", format_shortest(timings.seconds[k][a]),
                          timings.ratio_limits.empty() ? "0" : format_shortest(timings.ratio_limits[k][a]));
    text += '\n';
  }
  return text + fmt::format("{} sizes\n", timings.bytes.size());
}

std::optional<AllreduceTimings> parse_timings(std::string_view text, std::string_view key)
{
  const auto lines = split(text, '\n'); // the text ends with a newline, so the last line is empty
  if (lines.size() < 7 || lines.front() != std::string(format_line).append(key) || !lines.back().empty()) return std::nullopt;
  AllreduceTimings timings;
  timings.algorithms = split(lines[1], ' ');
  auto& [ranks, nodes, ranks_a_node, supernodes] = timings.shape;
  auto& [alpha_s, beta_s, gamma_s, spread] = timings.model;
  if (!read_line(lines[2], "shape", ranks, nodes, ranks_a_node, supernodes)) return std::nullopt;
  if (!read_line(lines[3], "model", alpha_s, beta_s, gamma_s, spread) || !is_sound(timings.model, timings.shape))
    return std::nullopt;
  for (std::size_t l = 4; l + 2 < lines.size(); ++l)
    if (!read_size(lines[l], timings)) return std::nullopt;
  if (lines[lines.size() - 2] != fmt::format("{} sizes", timings.bytes.size()) || !is_sound(timings)) return std::nullopt;
  fit_own(timings);
  return timings;
}

} // namespace dt::comm
