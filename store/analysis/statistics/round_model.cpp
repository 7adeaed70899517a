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

// Whether variances are alike [Bartlett1937]: each has `freedom` of its own, the share of all degrees of freedom that its cells
// have.
bool are_alike(const std::vector<Residuals>& residuals, double freedom)
{
  double cells = 0, squares = 0, weighted_logs = 0, inverse = 0, count = 0;
  for (const auto& own : residuals) cells += static_cast<double>(own.cells), squares += own.squares;
  for (const auto& own : residuals) {
    if (own.cells == 0) continue;
    const double own_freedom = freedom * static_cast<double>(own.cells) / cells;
    weighted_logs += own_freedom * std::log(own.squares / own_freedom);
    inverse += 1 / own_freedom;
    count += 1;
  }
  const double statistic =
      (freedom * std::log(squares / freedom) - weighted_logs) / (1 + (inverse - 1 / freedom) / (3 * (count - 1)));
  return chi_square_upper_p(std::max(0.0, statistic), count - 1) > RoundModel::alike_level;
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
  for (const auto& candidate : candidates) moments_.push_back(moments_of(on_scale(candidate.values, scale)));
  take_cells(candidates);
  fit();
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
  constexpr std::size_t least_candidates = 3;
  std::vector<std::size_t> fitted; // candidates with enough rounds
  std::vector<Cells> cells;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (static_cast<double>(cells_[i].size()) >= least_runs) {
      fitted.push_back(i);
      cells.push_back(cells_[i]);
    }
  if (fitted.size() < least_candidates) return;
  steady(fitted);
  const Additive model(cells, rounds_);
  const auto residuals = model.residuals();
  double squares = 0;
  for (const auto& own : residuals) squares += own.squares;
  const double freedom = model.freedom();
  if (freedom < 2 || std::sqrt(squares / freedom) < least_scatter) return;
  residual_variance_ = squares / freedom;
  if (!are_alike(residuals, freedom)) return;
  pooled_ = {.variance = squares / freedom, .freedom = freedom, .freedom_per_round = static_cast<double>(fitted.size()) - 1};
}

double RoundModel::steadied(double variance, double count, double mean)
{
  return count > few_runs ? variance : (prior_freedom * mean + (count - 1) * variance) / (prior_freedom + count - 1);
}

void RoundModel::steady(const std::vector<std::size_t>& fitted)
{
  double mean = 0;
  for (const auto i : fitted) mean += moments_[i].variance / static_cast<double>(fitted.size());
  for (const auto i : fitted) moments_[i].variance = steadied(moments_[i].variance, moments_[i].count, mean);
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
  double own_variance = differences.variance / 2;
  if (pooled_ && own_variance <= most_own * pooled_->variance) return within(Design::pooled, *pooled_);
  if (residual_variance_) own_variance = steadied(own_variance, differences.count, *residual_variance_);
  const bool in_ladder = in_ladder_[a] && in_ladder_[b];
  const auto paired = within(Design::paired, {own_variance, differences.count - 1, 1, in_ladder ? 1 : paired_price});
  if (in_ladder) return paired;
  return paired.estimate.standard_error >= least_scatter && paired.p() < independent.p() ? paired : independent;
}

} // namespace dt::store
