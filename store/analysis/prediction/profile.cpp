#include "store/analysis/prediction/profile.hpp"

#include "core/maths/statistics.hpp"
#include "core/units.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace dt::store {
namespace {

using Sizes = std::span<const MeasuredSize>;

// Relative error of a mean of compute times, and of a replayed step, beside the scatter between runs.
constexpr double compute_error = 0.01, replay_error = 0.02;
constexpr double slowest_addition_s = 1e-9; // for a byte: a core adds 1 GB/s at least
constexpr double exchange_error = 0.1;      // of the time of one exchange alone, which was measured before the training

struct SpreadOfSizes {
  double variance = 0; // of one run's logarithm, pooled over the sizes
  double of_mean(const MeasuredSize& size) const { return variance / static_cast<double>(size.runs.size()); }
};

SpreadOfSizes scatter_of(Sizes sizes)
{
  double squares = 0, freedom = 0;
  for (const auto& size : sizes) {
    if (size.runs.size() < 2) continue;
    std::vector<double> throughputs;
    for (const auto& run : size.runs) throughputs.push_back(run.throughput);
    const auto moments = log_moments(throughputs);
    squares += (moments.count - 1) * moments.variance;
    freedom += moments.count - 1;
  }
  return {freedom > 0 ? squares / freedom : 0};
}

// χ² of a fit with the parameter at this value.
using MisfitAt = std::function<double(double)>;

// Values on the way from the best one to `bound` whose misfit is at most most_misfit: the farthest one, and three between.
std::vector<double> values_towards(double best, double bound, const MisfitAt& misfit_at)
{
  double end = bound;
  if (misfit_at(bound) > most_misfit) {
    double inside = best, outside = bound;
    for (int i = 0; i < 24; ++i) {
      const double middle = (inside + outside) / 2;
      (misfit_at(middle) <= most_misfit ? inside : outside) = middle;
    }
    end = inside;
  }
  std::vector<double> values;
  if (end == best) return values;
  for (const double share : {0.25, 0.5, 0.75, 1.0}) values.push_back(std::lerp(best, end, share));
  return values;
}

std::vector<double> values_within(double best, double least, double most, const MisfitAt& misfit_at)
{
  auto values = values_towards(best, least, misfit_at);
  const auto above = values_towards(best, most, misfit_at);
  values.insert(values.end(), above.begin(), above.end());
  return values;
}

constexpr double unlimited = std::numeric_limits<double>::infinity();
using Triple = std::array<double, 3>;
double dot(const Triple& a, const Triple& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Fits of rows · x = 1 with x >= 0 of which one unknown is held.
class HeldFit {
 public:
  // `most`: the largest possible value of each unknown.
  HeldFit(std::vector<Triple> rows, double deviation, const Triple& most)
      : rows_(std::move(rows)), deviation_(deviation), most_(most)
  {
  }

  double chi_square(const Triple& x) const
  {
    double squares = 0;
    for (const auto& row : rows_) squares += (dot(row, x) - 1) * (dot(row, x) - 1);
    return squares / (deviation_ * deviation_);
  }

  // The best x with x[held] = value: the other two as they are best, or one of them at an end of its range.
  Triple with(std::size_t held, double value) const
  {
    const std::size_t first = (held + 1) % 3, second = (held + 2) % 3;
    Triple x{};
    x[held] = value;
    std::vector<Triple> candidates;
    for (const auto& [ended, other] : {std::pair(first, second), std::pair(second, first)})
      for (const double end : {0.0, most_[ended]}) {
        if (!std::isfinite(end)) continue;
        x[ended] = end;
        x[other] = 0;
        x[other] = std::clamp(alone(x, other), 0.0, most_[other]);
        candidates.push_back(x);
      }
    if (const auto both = together(held, value);
        both[first] >= 0 && both[first] <= most_[first] && both[second] >= 0 && both[second] <= most_[second])
      candidates.push_back(both);
    return *std::min_element(candidates.begin(), candidates.end(),
                             [&](const auto& l, const auto& r) { return chi_square(l) < chi_square(r); });
  }

  // Beyond this value the unknown alone explains more than any sample's time by twice the deviation. 0: no sample depends on it.
  double most(std::size_t unknown) const
  {
    double most = 0;
    for (const auto& row : rows_)
      if (row[unknown] > 0) most = std::max(most, (1 + 2 * deviation_) / row[unknown]);
    return std::min(most, most_[unknown]);
  }

 private:
  // The best value of one unknown while the others are those of x, in which it is 0.
  double alone(const Triple& x, std::size_t unknown) const
  {
    double squares = 0, products = 0;
    for (const auto& row : rows_) {
      squares += row[unknown] * row[unknown];
      products += row[unknown] * (1 - dot(row, x));
    }
    return squares > 0 ? products / squares : 0;
  }

  // The best values of the two unknowns that are not held; below 0 if the rows cannot tell them apart.
  Triple together(std::size_t held, double value) const
  {
    const std::size_t first = (held + 1) % 3, second = (held + 2) % 3;
    double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
    for (const auto& row : rows_) {
      const double rest = 1 - row[held] * value;
      aa += row[first] * row[first];
      ab += row[first] * row[second];
      bb += row[second] * row[second];
      a += row[first] * rest;
      b += row[second] * rest;
    }
    Triple x{-1, -1, -1};
    x[held] = value;
    const double determinant = aa * bb - ab * ab;
    if (determinant > 1e-9 * aa * bb) x[first] = (a * bb - b * ab) / determinant, x[second] = (b * aa - a * ab) / determinant;
    return x;
  }

  std::vector<Triple> rows_;
  double deviation_;
  Triple most_;
};

void add_links(std::vector<PossibleFit>& fits, const Calibration& best)
{
  const auto& samples = best.link_fit.samples;
  if (samples.empty()) return;
  std::vector<Triple> rows;
  for (const auto& [terms, bytes, seconds] : samples) {
    const auto n = static_cast<double>(bytes);
    rows.push_back({terms.messages / seconds, n * terms.link / seconds, n * terms.added / seconds});
  }
  const Triple found{best.link.alpha_s, best.link.beta_s, best.link.gamma_s};
  const HeldFit fit(std::move(rows), best.link_fit.deviation, {unlimited, unlimited, std::max(found[2], slowest_addition_s)});
  const double least = fit.chi_square(found);
  constexpr std::array parameters{Parameter::latency, Parameter::bandwidth, Parameter::reduction};
  for (std::size_t held = 0; held < 3; ++held) {
    const auto misfit_at = [&](double value) { return fit.chi_square(fit.with(held, value)) - least; };
    for (const double value : values_within(found[held], 0, std::max(found[held], fit.most(held)), misfit_at)) {
      const auto x = fit.with(held, value);
      auto calibration = best;
      calibration.link = {x[0], x[1], x[2], best.link.spread};
      fits.push_back({parameters[held], std::move(calibration), std::max(0.0, misfit_at(value))});
    }
  }
}

// Where the platform tells the share, the formula of the crossing bytes is what may be wrong: by this factor.
constexpr double crossing_error = 1.2;

void add_trunks(std::vector<PossibleFit>& fits, const Calibration& best, Sizes sizes)
{
  const auto& traits = best.traits;
  if (traits.is_served || traits.nodes_per_supernode < 2) return;
  std::vector<double> shares;
  if (std::isfinite(traits.trunk_share))
    for (const double factor : {1 / crossing_error, crossing_error}) shares.push_back(std::min(1.0, factor * best.trunk_share));
  else
    shares = possible_trunk_shares(traits);
  for (const double share : shares) {
    auto calibration = best;
    calibration.trunk_share = share;
    double beyond = 0;
    if (!best.link_fit.samples.empty()) {
      const auto fit = fit_link(traits, best.buckets, sizes, {}, share);
      if (!fit.samples.empty()) {
        calibration.link = fit.link;
        beyond =
            misfit({.samples = fit.samples, .deviation = best.link_fit.deviation}, fit.link) - misfit(best.link_fit, best.link);
      }
    }
    if (beyond <= most_misfit) fits.push_back({Parameter::trunk, std::move(calibration), std::max(0.0, beyond)});
  }
}

// Which algorithm sums is known only where dtengine sums by a named one.
void add_algorithms(std::vector<PossibleFit>& fits, const Calibration& best, Sizes sizes)
{
  const auto& traits = best.traits;
  const bool is_known = !traits.is_own_program && traits.allreduce != "mpi" && traits.allreduce != "dynamic";
  if (traits.is_served || is_known || best.link_fit.samples.empty()) return;
  const double of_best = misfit(best.link_fit, best.link);
  for (const auto* other : {"ring", "halving-doubling", "tree"}) {
    if (traits.allreduce == other) continue;
    auto calibration = best;
    calibration.traits.allreduce = other;
    const auto fit = fit_link(calibration.traits, best.buckets, sizes, {}, best.trunk_share);
    if (fit.samples.empty()) continue;
    calibration.link = fit.link;
    const double beyond = misfit({.samples = fit.samples, .deviation = best.link_fit.deviation}, fit.link) - of_best;
    if (beyond <= most_misfit) fits.push_back({Parameter::algorithm, std::move(calibration), std::max(0.0, beyond)});
  }
}

// Only where two batches or more were measured: from one, the calibration takes the time to grow with the batch and says so.
void add_fixed_compute(std::vector<PossibleFit>& fits, const Calibration& best, Sizes sizes)
{
  const auto samples = compute_samples(sizes);
  if (best.traits.batches.is_weak() || samples.size() < 2) return;
  std::vector<Triple> rows;
  for (const auto& [batch, seconds] : samples) rows.push_back({1 / seconds, batch / seconds, 0});
  const auto scatter = scatter_of(sizes);
  const HeldFit fit(std::move(rows), std::sqrt(compute_error * compute_error + scatter.of_mean(sizes.back())),
                    {unlimited, unlimited, 0});
  const double least = fit.chi_square({best.fixed_s, best.sample_s, 0});
  const auto misfit_at = [&](double value) { return fit.chi_square(fit.with(0, value)) - least; };
  for (const double value : values_within(best.fixed_s, 0, std::max(best.fixed_s, fit.most(0)), misfit_at)) {
    auto calibration = best;
    calibration.fixed_s = value;
    calibration.sample_s = fit.with(0, value)[1];
    fits.push_back({Parameter::fixed_compute, std::move(calibration), std::max(0.0, misfit_at(value))});
  }
}

double median_exchange_s(const Calibration& calibration, Sizes sizes)
{
  std::vector<double> times;
  for (const auto& size : sizes)
    for (const auto& run : size.runs)
      if (run.isolated_s > 0) times.push_back(run.isolated_s * static_cast<double>(calibration.traits.period));
  return times.empty() ? 0 : median(std::move(times));
}

// How badly a calibration with servers disagrees with the steps of all sizes, and with the time of one exchange alone.
double disagreement_of_servers(const Calibration& calibration, Sizes sizes, const SpreadOfSizes& scatter, double exchange_s)
{
  double squares = 0;
  for (const auto& size : sizes) {
    const double error = std::log(step_at(calibration, size.at).step_s / step_s_of(size));
    squares += error * error / (replay_error * replay_error + scatter.of_mean(size));
  }
  const double answer_s = calibration.service_s - calibration.after_answer_s;
  // The measured exchange alone has no update, so only strategies that answer first can be compared with it.
  if (exchange_s > 0 && answer_s > 0 && calibration.traits.answers_first) {
    const double error = std::log(answer_s / exchange_s) / exchange_error;
    squares += error * error;
  }
  return squares;
}

// Possible values of after_answer_s, from half the time until the answer before the servers' answer arrives to the whole update.
std::vector<double> after_answers(const Calibration& best)
{
  const double answer_s = best.service_s - best.after_answer_s;
  const bool may_be_longer = best.traits.answers_first && best.after_answer_s == 0; // the update was not recorded
  const double most_s = may_be_longer ? answer_s : best.after_answer_s;
  std::vector<double> values;
  constexpr int steps = 8;
  for (int i = 0; i <= steps; ++i) values.push_back(std::lerp(-answer_s / 2, most_s, static_cast<double>(i) / steps));
  return values;
}

void add_services(std::vector<PossibleFit>& fits, const Calibration& best, Sizes sizes)
{
  if (!best.traits.is_served || !(best.service_s > 0)) return;
  const auto& largest = sizes.back();
  std::vector<Calibration> found;
  std::vector<std::int64_t> threads{best.traits.service_threads};
  if (threads.front() > 1) threads.push_back(1);
  for (const auto count : threads)
    for (const double after_s : after_answers(best)) {
      auto calibration = best;
      calibration.traits.service_threads = count;
      found.push_back(corrected(with_service(std::move(calibration), largest, after_s), largest));
    }
  const auto scatter = scatter_of(sizes);
  const double exchange_s = median_exchange_s(best, sizes);
  const double of_best = disagreement_of_servers(best, sizes, scatter, exchange_s);
  const double freedom = std::max(1.0, static_cast<double>(sizes.size()) - 2);
  const double scale = std::max(1.0, of_best / freedom); // a replay that fits badly everywhere tells less
  for (auto& calibration : found) {
    const double beyond = (disagreement_of_servers(calibration, sizes, scatter, exchange_s) - of_best) / scale;
    if (beyond <= most_misfit) fits.push_back({Parameter::service, std::move(calibration), std::max(0.0, beyond)});
  }
}

// By how much the logarithms of the measured steps grow beyond the model's for one of the number of workers, and the error of
// that.
struct Growth {
  double slope = 0, error = 0;
};

// Weighted least squares; without two sizes of different numbers of workers nothing is known.
Growth growth_over(const Calibration& best, Sizes sizes)
{
  const auto scatter = scatter_of(sizes);
  double weights = 0, mean_x = 0, mean_y = 0;
  struct Point {
    double x, y, weight;
  };
  std::vector<Point> points;
  for (const auto& size : sizes) {
    const double weight = 1 / (replay_error * replay_error + scatter.of_mean(size));
    points.push_back(
        {std::log(static_cast<double>(size.at.workers)), std::log(step_s_of(size) / step_at(best, size.at).step_s), weight});
    weights += weight;
    mean_x += weight * points.back().x;
    mean_y += weight * points.back().y;
  }
  double squares = 0, products = 0;
  for (const auto& [x, y, weight] : points) {
    squares += weight * (x - mean_x / weights) * (x - mean_x / weights);
    products += weight * (x - mean_x / weights) * (y - mean_y / weights);
  }
  if (!(squares > 0)) return {};
  return {products / squares, 1 / std::sqrt(squares)};
}

void add_growth(std::vector<PossibleFit>& fits, const Calibration& best, Sizes sizes)
{
  constexpr double clear = 2; // errors
  if (sizes.size() < 2) return;
  for (const auto& some : {sizes, sizes.last(2)}) {
    const auto growth = growth_over(best, some);
    if (std::abs(growth.slope) <= clear * growth.error) continue;
    auto calibration = best;
    calibration.growth = growth.slope;
    fits.push_back({Parameter::growth, std::move(calibration), 0});
    if (sizes.size() == 2) return;
  }
}

// Gives every fit the correction with which it agrees with the largest size.
void correct(std::vector<PossibleFit>& fits, const MeasuredSize& largest)
{
  std::vector<Calibration> calibrations;
  for (auto& fit : fits) {
    fit.calibration.correction = 1;
    calibrations.push_back(fit.calibration);
  }
  const auto steps = steps_at(calibrations, largest.at);
  for (std::size_t i = 0; i < fits.size(); ++i) fits[i].calibration.correction = step_s_of(largest) / steps[i].step_s;
}

double value_of(Parameter parameter, const Calibration& calibration)
{
  switch (parameter) {
  case Parameter::latency:
    return calibration.link.alpha_s;
  case Parameter::bandwidth:
    return calibration.link.beta_s;
  case Parameter::reduction:
    return calibration.link.gamma_s;
  case Parameter::trunk:
    return calibration.trunk_share;
  case Parameter::fixed_compute:
    return calibration.fixed_s;
  case Parameter::service:
    return calibration.service_s / static_cast<double>(std::max<std::int64_t>(1, calibration.traits.service_threads));
  case Parameter::algorithm:
    return 0; // no number
  case Parameter::growth:
    return std::exp2(calibration.growth);
  }
  return 0;
}

// "3 µs to 88 µs a message".
std::string range_text(Parameter parameter, double low, double high)
{
  switch (parameter) {
  case Parameter::latency:
    return format_seconds(low) + " to " + format_seconds(high) + " a message";
  case Parameter::bandwidth:
    return format_rate(1 / high) + (low > 0 ? " to " + format_rate(1 / low) : " or more");
  case Parameter::reduction:
    return format_per_byte(low) + " to " + format_per_byte(high);
  case Parameter::trunk:
    return fmt::format("{:.3g} to {:.3g} % of the links together", 100 * low, 100 * high);
  case Parameter::growth:
    return fmt::format("{:+.3g} to {:+.3g} % a doubling", 100 * (low - 1), 100 * (high - 1));
  default:
    return format_seconds(low) + " to " + format_seconds(high);
  }
}

} // namespace

std::string_view name_of(Parameter parameter)
{
  constexpr std::array<std::string_view, 8> names{"latency",       "bandwidth", "reduction", "trunk",
                                                  "fixed_compute", "service",   "algorithm", "growth"};
  return names[static_cast<std::size_t>(parameter)];
}

std::string_view in_words(Parameter parameter)
{
  constexpr std::array<std::string_view, 8> names{"the latency of the network",
                                                  "the bandwidth of the network",
                                                  "the speed of additions",
                                                  "the bandwidth of the trunks between supernodes",
                                                  "the fixed time of a step's computation",
                                                  "the service time of the servers",
                                                  "the algorithm of the sums",
                                                  "how steps grow beyond the model"};
  return names[static_cast<std::size_t>(parameter)];
}

std::vector<PossibleFit> possible_fits(const Calibration& best, std::span<const MeasuredSize> sizes)
{
  std::vector<PossibleFit> fits;
  if (!best.traits.is_served) add_links(fits, best);
  add_trunks(fits, best, sizes);
  add_fixed_compute(fits, best, sizes);
  add_services(fits, best, sizes);
  add_algorithms(fits, best, sizes);
  add_growth(fits, best, sizes);
  correct(fits, sizes.back());
  return fits;
}

std::vector<std::string> ranges_in_words(const Calibration& best, std::span<const PossibleFit> fits)
{
  constexpr double open = 1.25;
  constexpr std::array all{Parameter::latency,       Parameter::bandwidth, Parameter::reduction, Parameter::trunk,
                           Parameter::fixed_compute, Parameter::service,   Parameter::growth};
  std::vector<std::string> sentences;
  for (const auto parameter : all) {
    double low = value_of(parameter, best), high = low;
    for (const auto& fit : fits) {
      if (fit.parameter != parameter) continue;
      low = std::min(low, value_of(parameter, fit.calibration));
      high = std::max(high, value_of(parameter, fit.calibration));
    }
    const bool is_open = parameter == Parameter::growth ? high > low : high > open * low;
    if (is_open)
      sentences.push_back(fmt::format("The measured sizes leave open {}: {} agree with them.", in_words(parameter),
                                      range_text(parameter, low, high)));
  }
  return sentences;
}

} // namespace dt::store
