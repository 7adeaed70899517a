#include "engine/comm/choice/race.hpp"
#include "core/maths/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dt::comm {
namespace {

constexpr double slower_early = 1.25, slower = 1.1;
constexpr std::size_t early_rounds = 6, enough_rounds = 9;
constexpr double may_be_faster = 0.92, fast_enough_to_win = 0.95;

} // namespace

Race::Race(std::vector<bool> entered) : entered_(std::move(entered)), running_(entered_), times_(entered_.size()) {}

void Race::add_round(const std::vector<double>& seconds)
{
  auto next = seconds.begin();
  for (std::size_t c = 0; c < times_.size(); ++c)
    times_[c].push_back(running_[c] ? *next++ : std::numeric_limits<double>::quiet_NaN());
  ++rounds_;
}

// Among the contenders that have run every round.
std::size_t Race::fastest() const
{
  std::size_t best = times_.size();
  for (std::size_t c = 0; c < times_.size(); ++c)
    if (running_[c] && (best == times_.size() || paired_ratio(times_[c], times_[best]).median < 1)) best = c;
  return best;
}

void Race::drop_slow()
{
  const auto& best = times_[fastest()];
  const double limit = rounds_ < early_rounds ? slower_early : slower;
  for (std::size_t c = 0; c < times_.size(); ++c)
    if (running_[c] && paired_ratio(times_[c], best).least > limit) running_[c] = false;
}

bool Race::is_open() const
{
  if (rounds_ < enough_rounds && std::ranges::count(running_, true) > 1) return true;
  const auto best = fastest();
  for (std::size_t c = 0; c < times_.size(); ++c)
    if (running_[c] && c != best && paired_ratio(times_[c], times_[best]).least < may_be_faster) return true;
  if (best == 0 || !running_[0]) return false;
  const auto lead = paired_ratio(times_[best], times_[0]);
  return lead.median < fast_enough_to_win && lead.most >= 1;
}

std::vector<double> Race::seconds() const
{
  const auto& best = times_[fastest()];
  const double best_s = median(best);
  std::vector<double> all;
  for (std::size_t c = 0; c < times_.size(); ++c) all.push_back(entered_[c] ? best_s * paired_ratio(times_[c], best).median : 0);
  return all;
}

std::vector<double> Race::ratio_limits() const
{
  std::vector<double> all(times_.size());
  for (std::size_t c = 1; c < times_.size(); ++c)
    if (entered_[c] && entered_[0]) all[c] = paired_ratio(times_[c], times_[0]).most;
  return all;
}

} // namespace dt::comm
