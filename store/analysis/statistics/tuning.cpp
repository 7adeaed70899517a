#include "store/analysis/statistics/tuning.hpp"

#include "core/number.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace dt::store {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double flat_share = 1.1;

using Place = std::vector<double>; // a setting on the axes of the search

struct Tried {
  Setting setting;
  Place place;
  std::vector<double> costs; // by seed

  bool is_finite() const
  {
    return std::ranges::all_of(costs, [](double cost) { return std::isfinite(cost); });
  }
  // Mean of the logarithms of the costs; infinite if one of them is.
  double height() const
  {
    double sum = 0;
    for (const double cost : costs) sum += std::log(cost);
    return sum / static_cast<double>(costs.size());
  }
};

// The solution of the linear equations rows * x = right by Gaussian elimination with pivots; nothing if they are singular.
std::optional<std::vector<double>> solved(std::vector<std::vector<double>> rows)
{
  const auto n = rows.size();
  for (std::size_t column = 0; column < n; ++column) {
    const auto pivot = std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(column), rows.end(),
                                        [&](const auto& a, const auto& b) { return std::abs(a[column]) < std::abs(b[column]); });
    std::iter_swap(rows.begin() + static_cast<std::ptrdiff_t>(column), pivot);
    if (std::abs(rows[column][column]) < 1e-12) return std::nullopt;
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = row == column ? 0 : rows[row][column] / rows[column][column];
      for (std::size_t k = column; k <= n; ++k) rows[row][k] -= factor * rows[column][k];
    }
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = rows[i][n] / rows[i][i];
  return x;
}

// A parabola in each key: height = base + sum over keys of (slope * d + bend * d^2), with d the distance from `origin`.
struct Parabola {
  Place origin;
  double base = 0;
  std::vector<double> slope, bend;

  double height(const Place& place) const
  {
    double sum = base;
    for (std::size_t k = 0; k < origin.size(); ++k) {
      const double d = place[k] - origin[k];
      sum += slope[k] * d + bend[k] * d * d;
    }
    return sum;
  }
};

class Searcher {
 public:
  Searcher(const TuneRule& rule, const std::vector<Setting>& guesses, const CostOf& cost_of)
      : rule_(rule), guesses_(guesses), cost_of_(cost_of),
        budget_(guesses.empty() ? rule.runs : std::max(least_tuning_runs(keys()), rule.runs * 2 / 3))
  {
    for (std::size_t k = 0; k < keys(); ++k) {
      low_.push_back(to_axis(k, rule.keys[k].from));
      high_.push_back(to_axis(k, rule.keys[k].to));
    }
  }

  Search run()
  {
    if (!first_round()) return std::move(search_);
    const auto repeats = std::max<std::int64_t>(1, budget_ / 6) * (rule_.seeds - 1);
    for (double share = 0.5; left() > repeats; share = std::max(share / 2, 0.125))
      if (!round_around(share)) {
        if (has_open_) return std::move(search_);
        break;
      }
    if (!repeat_best()) return std::move(search_);
    finish();
    return std::move(search_);
  }

 private:
  std::size_t keys() const { return rule_.keys.size(); }
  std::int64_t left() const { return budget_ - static_cast<std::int64_t>(search_.trials.size()); }
  double to_axis(std::size_t k, double value) const { return rule_.keys[k].is_logarithmic ? std::log(value) : value; }

  // The value at a place of a key: within what it can have, and rounded to three digits, so that people can read it.
  double value_at(std::size_t k, double place) const
  {
    const auto& key = rule_.keys[k];
    double value = key.is_logarithmic ? std::exp(place) : place;
    value = key.is_integer ? std::round(value) : number_of<double>(fmt::format("{:.3g}", value)).value_or(value);
    return std::clamp(value, key.least, key.most);
  }

  Setting setting_at(const Place& place) const
  {
    Setting setting;
    for (std::size_t k = 0; k < keys(); ++k) setting.push_back(value_at(k, place[k]));
    return setting;
  }

  Place place_of(const Setting& setting) const
  {
    Place place;
    for (std::size_t k = 0; k < keys(); ++k) place.push_back(to_axis(k, setting[k]));
    return place;
  }

  Tried* find(const Setting& setting)
  {
    const auto found = std::ranges::find(tried_, setting, &Tried::setting);
    return found == tried_.end() ? nullptr : &*found;
  }

  // Runs trials together. False if one of them has not ended; the search then asks for all of them.
  bool run_trials(const std::vector<Trial>& trials)
  {
    for (const auto& trial : trials) {
      if (left() <= 0) break;
      search_.trials.push_back(trial);
      const auto cost = search_.costs.emplace_back(cost_of_(trial));
      if (!cost) {
        has_open_ = true;
        continue;
      }
      auto* known = find(trial.setting);
      if (known == nullptr) known = &tried_.emplace_back(Tried{trial.setting, place_of(trial.setting), {}});
      known->costs.push_back(*cost > 0 ? *cost : infinite);
    }
    return !has_open_;
  }

  // Adds the setting at this place, unless it, or one nearer than this share of the first step, was tried or is in `trials`.
  void add_new(std::vector<Trial>& trials, const Place& place, double nearness) const
  {
    const auto setting = setting_at(place);
    const auto exact = place_of(setting);
    const auto is_near = [&](const Setting& other) {
      const auto there = place_of(other);
      for (std::size_t k = 0; k < keys(); ++k)
        if (std::abs(there[k] - exact[k]) > nearness * step_[k]) return false;
      return true;
    };
    for (const auto& known : tried_)
      if (known.setting == setting || is_near(known.setting)) return;
    for (const auto& trial : trials)
      if (trial.setting == setting || is_near(trial.setting)) return;
    trials.push_back({setting, 0});
  }

  bool first_round()
  {
    std::vector<Trial> trials;
    const auto coarse =
        keys() == 1 ? std::clamp<std::int64_t>((rule_.runs + 1) / 3, 4, 9) : std::max<std::int64_t>(6, rule_.runs / 3);
    const double across = keys() == 1 ? static_cast<double>(coarse - 1) : std::sqrt(static_cast<double>(coarse));
    for (std::size_t k = 0; k < keys(); ++k) step_.push_back((high_[k] - low_[k]) / across);
    if (!guesses_.empty()) {
      for (const auto& guess : guesses_) add_new(trials, place_of(guess), 0.1);
      return run_trials(trials);
    }
    for (std::int64_t i = 0; i < coarse; ++i) {
      if (keys() == 1) {
        add_new(trials, {low_[0] + static_cast<double>(i) * step_[0]}, 0);
        continue;
      }
      add_new(trials, next_in_plane(), 0);
    }
    // From the middle outwards: a good setting that ends soon tells which of the others are hopeless.
    const auto distance = [&](const Trial& trial) {
      double sum = 0;
      for (std::size_t k = 0; k < keys(); ++k)
        sum += std::pow((place_of(trial.setting)[k] - (low_[k] + high_[k]) / 2) / (high_[k] - low_[k]), 2);
      return sum;
    };
    std::ranges::stable_sort(trials, {}, distance);
    return run_trials(trials);
  }

  const Tried* best_tried() const
  {
    const Tried* best = nullptr;
    for (const auto& one : tried_)
      if (one.is_finite() && (best == nullptr || one.height() < best->height())) best = &one;
    return best;
  }

  // Whether something worse was tried on this side of the place.
  bool is_held(std::size_t k, const Place& place, double sign) const
  {
    const double limit = sign < 0 ? rule_.keys[k].least : rule_.keys[k].most;
    if (setting_at(place)[k] == limit) return true;
    return std::ranges::any_of(
        tried_, [&](const Tried& one) { return sign * (one.place[k] - place[k]) > 1e-9 && is_beside(one.place, place, k, 0.6); });
  }

  // Settings at this share of the first step around the centre. Where the best setting is the outermost, one step beyond it.
  bool round_around(double share)
  {
    const auto* best = best_tried();
    if (best == nullptr) return spread_more();
    std::vector<Trial> trials;
    for (std::size_t k = 0; k < keys(); ++k)
      for (const double sign : {-1.0, 1.0})
        if (!is_held(k, best->place, sign)) {
          auto place = best->place;
          place[k] += sign * step_[k];
          add_new(trials, place, 0);
        }
    const auto centre = centre_of(*best, 2 * share);
    if (trials.empty()) add_before_cliffs(trials, centre);
    if (trials.empty())
      for (std::size_t k = 0; k < keys(); ++k)
        for (const double sign : {-1.0, 1.0}) {
          auto place = centre;
          place[k] += sign * share * step_[k];
          add_new(trials, place, share / 4);
        }
    if (trials.empty()) add_new(trials, centre, share / 8);
    return !trials.empty() && run_trials(trials);
  }

  // Adds settings before a cliff. If the parabola's vertex lies beyond the finite settings, and a setting with an infinite cost
  // was tried on that side, the middle between the two is tried.
  void add_before_cliffs(std::vector<Trial>& trials, const Place& centre) const
  {
    if (!fit_) return;
    for (std::size_t k = 0; k < keys(); ++k) {
      const double pull = fit_->origin[k] - fit_->slope[k] / (2 * fit_->bend[k]) - centre[k];
      if (pull == 0) continue;
      double cliff = infinite; // distance
      for (const auto& one : tried_)
        if (const double distance = std::copysign(1.0, pull) * (one.place[k] - centre[k]);
            !one.is_finite() && distance > 0 && is_beside(one.place, centre, k))
          cliff = std::min(cliff, distance);
      if (!std::isfinite(cliff)) continue;
      auto place = centre;
      place[k] += std::copysign(std::min(cliff / 2, std::abs(pull)), pull);
      add_new(trials, place, 0.05);
    }
  }

  // Whether two places are at most this share of the first step apart in all other keys.
  bool is_beside(const Place& place, const Place& other, std::size_t key, double share = 1) const
  {
    for (std::size_t k = 0; k < keys(); ++k)
      if (k != key && std::abs(place[k] - other[k]) > share * step_[k] * 1.01) return false;
    return true;
  }

  // The additive sequence of the plastic number spreads any number of points evenly over a plane.
  Place next_in_plane()
  {
    constexpr std::array shares{0.7548776662466927, 0.5698402909980532};
    Place place;
    for (std::size_t k = 0; k < keys(); ++k) {
      const double at = 0.5 + static_cast<double>(spread_) * shares[k];
      place.push_back(low_[k] + (at - std::floor(at)) * (high_[k] - low_[k]));
    }
    ++spread_;
    return place;
  }

  // No setting had a finite cost. Of one key, lower values are tried; of two, more of their plane.
  bool spread_more()
  {
    std::vector<Trial> trials;
    if (keys() == 1) {
      const auto lowest = std::ranges::min(tried_, {}, [](const Tried& one) { return one.place.front(); }).place.front();
      add_new(trials, {lowest - step_.front()}, 0);
    } else {
      for (int i = 0; i < 4; ++i) add_new(trials, next_in_plane(), 0);
    }
    return !trials.empty() && run_trials(trials);
  }

  // The vertex of the parabola near the best setting, no further out than settings with a finite cost; without a parabola, the
  // best setting.
  Place centre_of(const Tried& best, double share)
  {
    fit_ = fit_near(best.place, std::max(share, 1.0));
    auto centre = best.place;
    if (!fit_) return centre;
    for (std::size_t k = 0; k < keys(); ++k) {
      double low = infinite, high = -infinite;
      for (const auto& one : tried_)
        if (one.is_finite() && is_near(one.place, best.place, std::max(share, 1.0))) {
          low = std::min(low, one.place[k]);
          high = std::max(high, one.place[k]);
        }
      centre[k] = std::clamp(fit_->origin[k] - fit_->slope[k] / (2 * fit_->bend[k]), low, high);
    }
    const auto is_cliff = [&](const Tried& one) { return !one.is_finite() && is_near(one.place, centre, 0.15); };
    if (std::ranges::any_of(tried_, is_cliff)) return best.place;
    return centre;
  }

  bool is_near(const Place& place, const Place& other, double share) const
  {
    for (std::size_t k = 0; k < keys(); ++k)
      if (std::abs(place[k] - other[k]) > share * step_[k] * 1.01) return false;
    return true;
  }

  // Least squares over the settings at most `share` first steps away, wider if they are too few.
  std::optional<Parabola> fit_near(const Place& origin, double share) const
  {
    const auto terms = 1 + 2 * keys();
    for (; share <= 4; share *= 1.5) {
      std::size_t count = 0;
      std::vector<std::vector<double>> rows(terms, std::vector<double>(terms + 1, 0));
      for (const auto& one : tried_) {
        if (!one.is_finite() || !is_near(one.place, origin, share)) continue;
        ++count;
        std::vector<double> x{1};
        for (std::size_t k = 0; k < keys(); ++k) x.push_back((one.place[k] - origin[k]) / step_[k]);
        for (std::size_t k = 0; k < keys(); ++k) x.push_back(x[1 + k] * x[1 + k]);
        const double weight = static_cast<double>(one.costs.size());
        for (std::size_t i = 0; i < terms; ++i) {
          for (std::size_t j = 0; j < terms; ++j) rows[i][j] += weight * x[i] * x[j];
          rows[i][terms] += weight * x[i] * one.height();
        }
      }
      if (count < terms) continue;
      const auto solution = solved(std::move(rows));
      if (!solution) continue;
      Parabola fit{.origin = origin, .base = (*solution)[0], .slope = {}, .bend = {}};
      for (std::size_t k = 0; k < keys(); ++k) {
        fit.slope.push_back((*solution)[1 + k] / step_[k]);
        fit.bend.push_back((*solution)[1 + keys() + k] / (step_[k] * step_[k]));
      }
      if (std::ranges::all_of(fit.bend, [](double bend) { return bend > 0; })) return fit;
    }
    return std::nullopt;
  }

  // The last runs: the settings next to the centre with further seeds.
  bool repeat_best()
  {
    while (left() > 0) {
      const auto* best = best_tried();
      if (best == nullptr) return true;
      const auto centre = centre_of(*best, 1);
      std::vector<const Tried*> order;
      for (const auto& one : tried_)
        if (one.is_finite() && static_cast<std::int64_t>(one.costs.size()) < rule_.seeds) order.push_back(&one);
      if (order.empty()) return true;
      std::ranges::stable_sort(order, {}, [&](const Tried* one) {
        double distance = 0;
        for (std::size_t k = 0; k < keys(); ++k) distance += std::pow((one->place[k] - centre[k]) / step_[k], 2);
        return distance;
      });
      std::vector<Trial> trials;
      if (keys() > 1) add_new(trials, centre, 0.1);
      for (const auto* one : order)
        if (static_cast<std::int64_t>(trials.size()) < left())
          trials.push_back({one->setting, static_cast<std::int64_t>(one->costs.size())});
      if (!run_trials(trials)) return false;
    }
    return true;
  }

  void finish()
  {
    search_.is_over = true;
    search_.flat.resize(keys());
    const auto* best = best_tried();
    if (best == nullptr) return;
    const auto centre = centre_of(*best, 1);
    search_.best = setting_at(centre);
    search_.cost = std::exp(fit_ ? fit_->height(centre) : best->height());
    search_.is_bracketed = true;
    for (std::size_t k = 0; k < keys(); ++k) {
      for (const double sign : {-1.0, 1.0})
        search_.is_bracketed = search_.is_bracketed && is_held(k, best->place, sign) && is_held(k, place_of(*search_.best), sign);
      if (!fit_) continue;
      const double half = std::sqrt(std::log(flat_share) / fit_->bend[k]);
      search_.flat[k] = {value_at(k, centre[k] - half), value_at(k, centre[k] + half)};
    }
  }

  const TuneRule& rule_;
  const std::vector<Setting>& guesses_;
  const CostOf& cost_of_;
  std::int64_t budget_;
  std::vector<double> low_, high_, step_; // on the axes; step_: the distance of the settings of the first round
  std::vector<Tried> tried_;
  std::optional<Parabola> fit_;
  std::int64_t spread_ = 0; // points of next_in_plane() so far
  bool has_open_ = false;
  Search search_;
};

} // namespace

Search search_of(const TuneRule& rule, const std::vector<Setting>& guesses, const CostOf& cost_of)
{
  return Searcher(rule, guesses, cost_of).run();
}

} // namespace dt::store
