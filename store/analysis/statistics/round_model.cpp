#include "store/analysis/statistics/round_model.hpp"

#include "store/analysis/statistics/distributions.hpp"
#include "store/analysis/statistics/run_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

namespace dt::store {
namespace {

using Cells = std::vector<std::pair<std::size_t, double>>;

constexpr double least_candidates = 3;

std::vector<double> on_scale(const std::vector<double>& values, Scale scale)
{
  auto scaled = values;
  if (scale != Scale::difference)
    for (auto& value : scaled) value = std::log(value);
  return scaled;
}

bool are_all_in_rounds(const Candidate& candidate)
{
  if (candidate.values.empty() || candidate.blocks.size() < candidate.values.size()) return false;
  for (const auto& block : candidate.blocks)
    if (block.empty()) return false;
  return true;
}

// Which candidates and rounds are connected by cells.
class Parts {
 public:
  explicit Parts(std::size_t size) : parent_(size), count_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  void join(std::size_t a, std::size_t b)
  {
    const auto root_a = root(a), root_b = root(b);
    if (root_a == root_b) return;
    parent_[root_a] = root_b;
    --count_;
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t root(std::size_t at)
  {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  std::vector<std::size_t> parent_;
  std::size_t count_;
};

// Sum of squared residuals of a candidate, and its number of cells.
struct Residuals {
  double squares = 0;
  std::size_t cells = 0;
};

// A sum of squares with its degrees of freedom.
struct RoundSquares {
  double sum, freedom;
};

// A statistic that follows chi-square with this freedom if variances are equal.
struct Unlikeness {
  double statistic, freedom;
  bool is_significant(double level) const { return chi_square_upper_p(statistic, freedom) <= level; }
};

// How much variances differ [Bartlett1937].
Unlikeness unlikeness_of(std::span<const RoundSquares> samples)
{
  double freedom = 0, squares = 0, weighted_logs = 0, inverse = 0;
  for (const auto& own : samples) {
    freedom += own.freedom;
    squares += own.sum;
    weighted_logs += own.freedom * std::log(own.sum / own.freedom);
    inverse += 1 / own.freedom;
  }
  const double fewer = static_cast<double>(samples.size()) - 1;
  const double statistic = (freedom * std::log(squares / freedom) - weighted_logs) / (1 + (inverse - 1 / freedom) / (3 * fewer));
  return {std::max(0.0, statistic), fewer};
}

// Each candidate gets the share of all degrees of freedom that its cells have.
std::vector<RoundSquares> with_shares(const std::vector<Residuals>& residuals, double freedom)
{
  double cells = 0;
  for (const auto& own : residuals) cells += static_cast<double>(own.cells);
  std::vector<RoundSquares> samples;
  for (const auto& own : residuals)
    if (own.cells > 0) samples.push_back({own.squares, freedom * static_cast<double>(own.cells) / cells});
  return samples;
}

// The additive model, fitted by least squares.
class Additive {
 public:
  Additive(const std::vector<Cells>& candidates, std::size_t rounds)
      : candidates_(candidates), means_(candidates.size()), effects_(rounds), counts_(rounds)
  {
    count_freedom();
    // By turns: the candidates' means without the rounds' effects, then the rounds' effects without the means. With all cells
    // filled, the first turn is exact.
    constexpr int turns = 30;
    for (int turn = 0; turn < turns; ++turn) {
      fit_means();
      fit_effects();
    }
  }
  double freedom() const { return freedom_; }
  std::vector<Residuals> residuals() const
  {
    std::vector<Residuals> all(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      for (const auto& [round, value] : candidates_[i]) {
        const double residual = value - means_[i] - effects_[round];
        all[i].squares += residual * residual;
        all[i].cells += 1;
      }
    return all;
  }

 private:
  // Cells less free means and effects. In each connected part, one effect is not free.
  void count_freedom()
  {
    Parts parts(candidates_.size() + effects_.size());
    double cells = 0, used = 0, unused = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      for (const auto& [round, value] : candidates_[i]) {
        cells += 1;
        counts_[round] += 1;
        parts.join(i, candidates_.size() + round);
      }
    for (const double count : counts_) (count > 0 ? used : unused) += 1;
    freedom_ = cells - static_cast<double>(candidates_.size()) - used + (static_cast<double>(parts.count()) - unused);
  }
  void fit_means()
  {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      double sum = 0;
      for (const auto& [round, value] : candidates_[i]) sum += value - effects_[round];
      means_[i] = sum / static_cast<double>(candidates_[i].size());
    }
  }
  void fit_effects()
  {
    std::vector<double> sums(effects_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      for (const auto& [round, value] : candidates_[i]) sums[round] += value - means_[i];
    for (std::size_t round = 0; round < sums.size(); ++round)
      if (counts_[round] > 0) effects_[round] = sums[round] / counts_[round];
  }

  const std::vector<Cells>& candidates_;
  std::vector<double> means_, effects_, counts_;
  double freedom_ = 0;
};

// The differences within the common rounds of two candidates.
std::vector<double> common_differences(const Cells& a, const Cells& b)
{
  std::vector<double> differences;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->first == j->first) {
      differences.push_back(i->second - j->second);
      ++i, ++j;
    } else if (i->first < j->first) {
      ++i;
    } else {
      ++j;
    }
  }
  return differences;
}

} // namespace

RoundModel::RoundModel(std::span<const Candidate> candidates, Scale scale) : scale_(scale)
{
  for (const auto& candidate : candidates) measured_.push_back(moments_of(on_scale(candidate.values, scale)));
  take_cells(candidates);
  fit();
  judge(scatter_);
}

void RoundModel::take_cells(std::span<const Candidate> candidates)
{
  std::map<std::string, std::size_t> numbers;
  for (const auto& candidate : candidates) {
    auto& cells = cells_.emplace_back();
    in_ladder_.push_back(false);
    if (!are_all_in_rounds(candidate)) continue;
    in_ladder_.back() = std::none_of(candidate.blocks.begin(), candidate.blocks.end(), is_round_name);
    const auto values = on_scale(candidate.values, scale_);
    std::map<std::size_t, std::vector<double>> by_round;
    for (std::size_t i = 0; i < values.size(); ++i)
      by_round[numbers.try_emplace(candidate.blocks[i], numbers.size()).first->second].push_back(values[i]);
    for (const auto& [round, of_round] : by_round) cells.emplace_back(round, moments_of(of_round).mean);
  }
  rounds_ = numbers.size();
}

void RoundModel::fit()
{
  std::vector<Cells> cells;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (static_cast<double>(cells_[i].size()) >= least_runs) {
      fitted_.push_back(i);
      cells.push_back(cells_[i]);
      scatter_.variances += measured_[i].variance;
      scatter_.candidates += 1;
      scatter_.freedom += measured_[i].count - 1;
    }
  if (scatter_.candidates < least_candidates) return;
  const Additive model(cells, rounds_);
  const auto residuals = model.residuals();
  double squares = 0;
  for (const auto& own : residuals) squares += own.squares;
  const double freedom = model.freedom();
  if (freedom < 2 || std::sqrt(squares / freedom) < least_scatter) return;
  residual_ = {.variance = squares / freedom, .freedom = freedom, .freedom_per_round = scatter_.candidates - 1};
  const auto shares = with_shares(residuals, freedom);
  residual_squares_.assign(cells_.size(), 0);
  for (std::size_t i = 0; i < fitted_.size(); ++i) residual_squares_[fitted_[i]] = shares[i].sum / shares[i].freedom;
  const auto unlikeness = unlikeness_of(shares);
  scatter_.unlikeness = unlikeness.statistic;
  scatter_.unlikeness_freedom = unlikeness.freedom;
}

void RoundModel::judge(const SizeScatter& scatter)
{
  moments_ = measured_;
  if (scatter.candidates < least_candidates) return;
  for (const auto i : fitted_)
    moments_[i].variance = steadied(measured_[i].variance, measured_[i].count, scatter.variances / scatter.candidates);
  if (!residual_) return;
  const Unlikeness unlikeness{scatter.unlikeness, scatter.unlikeness_freedom};
  unlikeness_ = unlikeness.statistic / unlikeness.freedom;
  is_unlike_ = unlikeness.is_significant(unlike_level);
}

void RoundModel::judge_with(std::span<const SizeScatter> sizes)
{
  SizeScatter all;
  std::vector<RoundSquares> means;
  for (const auto& size : sizes) {
    if (!(size.variances > 0)) continue;
    means.push_back({size.variances / size.candidates * size.freedom, size.freedom});
    all.variances += size.variances;
    all.candidates += size.candidates;
    all.unlikeness += size.unlikeness;
    all.unlikeness_freedom += size.unlikeness_freedom;
  }
  const bool takes_part = scatter_.variances > 0 && means.size() > 1;
  if (takes_part && !unlikeness_of(means).is_significant(alike_sizes_level)) judge(all);
}

double RoundModel::steadied(double variance, double count, double mean)
{
  return count > few_runs ? variance : (prior_freedom * mean + (count - 1) * variance) / (prior_freedom + count - 1);
}

WithinRounds RoundModel::pooled(std::size_t a, std::size_t b, double rounds) const
{
  const double candidates = scatter_.candidates, mean = residual_->variance;
  // Of the mean squares, each is its candidate's variance in (c - 2)/(c - 1), and the mean variance in the rest.
  const double both = (residual_squares_[a] + residual_squares_[b]) / 2;
  const double own = std::max(0.0, ((candidates - 1) * both - mean) / (candidates - 2));
  const double own_freedom = 2 * (rounds - 1) * (candidates - 2) / (candidates - 1);
  const double weight = std::max(0.0, 1 - (own > mean ? larger_needs : 1) / unlikeness_);
  const double freedom = 1 / (weight / own_freedom + (1 - weight) / residual_->freedom);
  return {weight * own + (1 - weight) * mean, freedom, residual_->freedom_per_round * freedom / residual_->freedom};
}

double PairTest::p() const { return within.price * two_sided_p(estimate); }

PairTest RoundModel::test(std::size_t a, std::size_t b) const
{
  const PairTest independent{Design::independent, difference_of_means(moments_[a], moments_[b]), moments_[a], moments_[b], {}, 0};
  const auto differences = moments_of(common_differences(cells_[a], cells_[b]));
  if (differences.count < least_runs) return independent;
  const auto left_out = cells_[a].size() + cells_[b].size() - 2 * static_cast<std::size_t>(differences.count);
  const auto within = [&](Design design, const WithinRounds& scatter) {
    return PairTest{design, difference_within(differences, scatter, 0), differences, {}, scatter, left_out};
  };
  if (residual_ && (differences.count <= few_runs || !is_unlike_)) return within(Design::pooled, pooled(a, b, differences.count));
  const bool in_ladder = in_ladder_[a] && in_ladder_[b];
  const auto paired = within(Design::paired, {differences.variance / 2, differences.count - 1, 1, in_ladder ? 1 : paired_price});
  if (in_ladder) return paired;
  return paired.estimate.standard_error >= least_scatter && paired.p() < independent.p() ? paired : independent;
}

} // namespace dt::store
