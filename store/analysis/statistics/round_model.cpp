#include "store/analysis/statistics/round_model.hpp"

#include "store/analysis/statistics/distributions.hpp"

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
  const double statistic = (freedom * std::log(squares / freedom) - weighted_logs) / (1 + (inverse - 1 / freedom) / (3 * (count - 1)));
  return chi_square_upper_p(statistic, count - 1) > RoundModel::alike_level;
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

// Common rounds of two candidates: the differences, and the means of both.
struct Common {
  std::vector<double> differences, means;
};

Common common_rounds(const Cells& a, const Cells& b)
{
  Common common;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->first == j->first) {
      common.differences.push_back(i->second - j->second);
      common.means.push_back((i->second + j->second) / 2);
      ++i, ++j;
    } else if (i->first < j->first) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

// Whether the means of rounds scatter more than the residuals of a pair explain: twice the variance of the means and half the
// variance of the differences both estimate the variance of a run, if rounds do not differ.
bool do_rounds_differ(const Common& common, const Moments& differences)
{
  const double of_rounds = 2 * moments_of(common.means).variance, of_residuals = differences.variance / 2;
  if (std::sqrt(of_residuals) < least_scatter) return true;
  return f_upper_p(of_rounds / of_residuals, differences.count - 1, differences.count - 1) < RoundModel::round_level;
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
    if (!are_all_in_rounds(candidate)) continue;
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
  std::vector<Cells> fitted; // of candidates with enough rounds
  for (const auto& cells : cells_)
    if (static_cast<double>(cells.size()) >= least_runs) fitted.push_back(cells);
  if (fitted.size() < least_candidates) return;
  const Additive model(fitted, rounds_);
  const auto residuals = model.residuals();
  double squares = 0;
  for (const auto& own : residuals) squares += own.squares;
  if (model.freedom() < 2 || std::sqrt(squares / model.freedom()) < least_scatter) return;
  if (are_alike(residuals, model.freedom()))
    pooled_ = {.variance = squares / model.freedom(),
               .freedom = model.freedom(),
               .freedom_per_round = static_cast<double>(fitted.size()) - 1};
}

PairTest RoundModel::test(std::size_t a, std::size_t b) const
{
  const auto common = common_rounds(cells_[a], cells_[b]);
  const auto differences = moments_of(common.differences);
  const auto left_out = cells_[a].size() + cells_[b].size() - 2 * common.differences.size();
  if (differences.count >= least_runs) {
    if (pooled_ && differences.variance / 2 <= most_own * pooled_->variance)
      return {Design::pooled, difference_within(differences, *pooled_, 0), differences, *pooled_, left_out};
    if (do_rounds_differ(common, differences)) {
      const WithinRounds own{differences.variance / 2, differences.count - 1, 1};
      return {Design::paired, difference_within(differences, own, 0), differences, own, left_out};
    }
  }
  return {Design::independent, difference_of_means(moments_[a], moments_[b])};
}

} // namespace dt::store
