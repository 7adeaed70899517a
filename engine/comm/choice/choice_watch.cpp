#include "engine/comm/choice/choice_watch.hpp"

#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/choice/paired_rounds.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::comm {
namespace {

constexpr double slower_than_predicted = 1.3, clearly_faster = 0.95;
// lower limit, so that ratios stay defined for sums that were complete before the caller waited
constexpr double least_seen = 1e-6;
constexpr std::size_t plain = 0; // index of the algorithm that is used when nothing is certain

} // namespace

ChoiceWatch::ChoiceWatch(AllreduceTimings timings, std::vector<AllreduceChoice> choices)
    : timings_(std::move(timings)), choices_(std::move(choices)), corrections_(choices_.size(), 1), shares_(choices_.size())
{
}

std::size_t ChoiceWatch::algorithm_for(std::size_t bytes) const
{
  const auto choice = choice_for(choices_, bytes);
  if (contenders_.empty() || choice != tried_choice_) return choices_[choice].algorithm;
  return contenders_[seen_.size() % contenders_.size()];
}

double ChoiceWatch::expected_s(std::size_t choice, std::size_t algorithm, std::size_t bytes) const
{
  return corrections_[choice] * predicted_s(timings_, algorithm, bytes);
}

void ChoiceWatch::expect_sum(std::size_t bytes)
{
  const auto choice = choice_for(choices_, bytes);
  const double expected = expected_s(choice, choices_[choice].algorithm, bytes);
  expected_s_ += expected;
  auto& share = shares_[choice];
  share.expected_s += expected;
  share.bytes += static_cast<double>(bytes);
  ++share.sums;
}

void ChoiceWatch::waited(std::size_t bytes, double seconds)
{
  waited_s_ += seconds;
  shares_[choice_for(choices_, bytes)].waited_s += seconds;
}

bool ChoiceWatch::end_step()
{
  if (expected_s_ <= 0) return false;
  seen_.push_back(std::max(std::exchange(waited_s_, 0) / std::exchange(expected_s_, 0), least_seen));
  ++steps_;
  if (seen_.size() < (contenders_.empty() ? steps_a_look : rounds * contenders_.size())) return false;
  for (const auto& share : shares_) seen_.push_back(share.sums > 0 ? share.waited_s / share.expected_s : 0);
  return true;
}

void ChoiceWatch::look()
{
  const std::vector<double> of_choices(seen_.end() - static_cast<std::ptrdiff_t>(shares_.size()), seen_.end());
  seen_.resize(seen_.size() - shares_.size());
  if (contenders_.empty()) {
    const double seen = median(seen_);
    last_look_ =
        fmt::format("{:.2f} times what was predicted, in the median of steps {} to {}", seen, steps_ + 1 - seen_.size(), steps_);
    if (seen > slower_than_predicted && steps_ >= rest_until_) begin_trial(most_beyond_prediction(of_choices), seen);
  } else {
    end_trial();
  }
  seen_.clear();
  std::ranges::fill(shares_, Share{});
}

// Uses only choices that had sums. seen: waited ÷ expected for each choice.
std::size_t ChoiceWatch::most_beyond_prediction(std::span<const double> seen) const
{
  const auto beyond_s = [&](std::size_t choice) { return (seen[choice] - 1) * shares_[choice].expected_s; };
  std::size_t most = 0;
  for (std::size_t choice = 1; choice < shares_.size(); ++choice)
    if (shares_[most].sums == 0 || (shares_[choice].sums > 0 && beyond_s(choice) > beyond_s(most))) most = choice;
  return most;
}

void ChoiceWatch::begin_trial(std::size_t choice, double seen)
{
  tried_choice_ = choice;
  tried_bytes_ = static_cast<std::size_t>(shares_[choice].bytes / static_cast<double>(shares_[choice].sums));
  trial_seen_ = seen;
  const auto chosen = choices_[tried_choice_].algorithm;
  const auto expected = [&](std::size_t algorithm) { return predicted_s(timings_, algorithm, tried_bytes_); };
  std::vector<std::size_t> others;
  for (std::size_t a = 0; a < timings_.algorithms.size(); ++a)
    if (a != chosen && a != plain && expected(a) < seen * corrections_[tried_choice_] * expected(chosen)) others.push_back(a);
  std::ranges::stable_sort(others, {}, expected);
  contenders_ = {chosen};
  if (chosen != plain) contenders_.push_back(plain);
  for (const auto other : others)
    if (contenders_.size() < most_contenders) contenders_.push_back(other);
  if (contenders_.size() == 1) contenders_.clear();
}

void ChoiceWatch::end_trial()
{
  const auto contenders = std::exchange(contenders_, {});
  std::vector<std::vector<double>> seen(contenders.size()); // [contender][round]
  for (std::size_t s = 0; s < seen_.size(); ++s) seen[s % contenders.size()].push_back(seen_[s]);
  const auto best = winner(seen);

  auto& choice = choices_[tried_choice_];
  const double before_s = expected_s(tried_choice_, choice.algorithm, tried_bytes_);
  std::vector<std::string> times;
  for (std::size_t c = 0; c < contenders.size(); ++c)
    times.push_back(fmt::format("{} {}", timings_.algorithms[contenders[c]], format_seconds(before_s * median(seen[c]))));
  changes_.push_back(fmt::format("step {}: sums of {} by {} took {:.2f} times as long as predicted; {}; {} from now on", steps_,
                                 format_bytes(static_cast<double>(tried_bytes_)), timings_.algorithms[choice.algorithm],
                                 trial_seen_, join(times, ", "), timings_.algorithms[contenders[best]]));
  choice.algorithm = contenders[best];
  // The ratio was measured over all sums of a step, so the same factor applies to every choice.
  corrections_[tried_choice_] = before_s / predicted_s(timings_, choice.algorithm, tried_bytes_);
  for (auto& correction : corrections_) correction = std::max(1.0, correction * median(seen[best]));
  rest_until_ = steps_ + pause_;
  pause_ *= 2;
}

// Returns an index into the contenders; the first contender is the algorithm chosen before.
std::size_t ChoiceWatch::winner(const std::vector<std::vector<double>>& seen) const
{
  std::size_t best = 0;
  double best_ratio = clearly_faster;
  for (std::size_t c = 1; c < seen.size(); ++c) {
    const auto ratio = paired_ratio(seen[c], seen[0]);
    if (ratio.most >= 1 || ratio.median > best_ratio) continue;
    best = c;
    best_ratio = ratio.median;
  }
  const bool plain_is_second = choices_[tried_choice_].algorithm != plain;
  if (best == 0 && plain_is_second && paired_ratio(seen[1], seen[0]).median < 1) return 1;
  return best;
}

} // namespace dt::comm
