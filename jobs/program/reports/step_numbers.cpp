#include "jobs/program/reports/step_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {

// Where epochs are printed, they tell. Else a program that begins an epoch prints a number as low as its first one, and a
// program that goes on from a checkpoint prints a higher one.
bool StepNumbers::is_new_epoch(const PrintedStep& printed) const
{
  if (!std::isnan(printed.epoch) && !std::isnan(last_epoch_)) return printed.epoch > last_epoch_;
  return *printed.number < *last_ && *printed.number <= *first_;
}

void StepNumbers::begin_epoch(const PrintedStep& printed)
{
  const auto in_epoch = *last_ + shift_;
  // The epoch that has ended had as many steps as its lines say, if it has come so far: "[380/390]" is the last of every ten.
  const bool is_complete = of_ && in_epoch <= *of_ && in_epoch + spacing_.value_or(*of_) >= *of_;
  const bool has_each = spacing_ ? *spacing_ == 1 : in_epoch == 1;
  is_exact_ = is_exact_ && (is_complete || has_each);
  const auto before = epochs_.back().before + (is_complete ? *of_ : in_epoch);
  if (restarts_++ == 0)
    notes_.push_back(fmt::format("program.metrics.step went back from {} to {}: it begins again in every epoch, so the steps of "
                                 "the epochs before are added",
                                 *last_, *printed.number));
  epochs_.push_back({printed.epoch, before});
  steps_ = std::max(steps_, before);
}

void StepNumbers::go_back(const PrintedStep& printed)
{
  while (epochs_.size() > 1 && epochs_.back().number > printed.epoch) epochs_.pop_back();
  const auto from = steps_, to = epochs_.back().before + *printed.number + shift_;
  doubts_.push_back(fmt::format("the number of the step went back from {} to {}, as that of a training that goes on from a "
                                "checkpoint: {} were made twice",
                                from, to, from == to ? fmt::format("step {}", to) : fmt::format("steps {} to {}", to, from)));
  notes_.push_back(doubts_.back());
  steps_ = to - 1;
}

std::int64_t StepNumbers::take(const PrintedStep& printed)
{
  if (!printed.number) return ++steps_;
  const auto number = *printed.number;
  if (!first_) {
    first_ = number;
    shift_ = number == 0 ? 1 : 0;
    epochs_.back().number = printed.epoch;
  }
  const bool has_epochs = !std::isnan(printed.epoch) && printed.epoch > last_epoch_;
  const bool is_back = last_ && (number < *last_ || (number == *last_ && has_epochs));
  if (is_back) is_new_epoch(printed) ? begin_epoch(printed) : go_back(printed);
  if (is_back || !last_)
    spacing_.reset();
  else if (number > *last_)
    spacing_ = number - *last_;
  last_ = number;
  of_ = printed.of;
  last_epoch_ = printed.epoch;
  return steps_ = std::max(steps_, epochs_.back().before + number + shift_);
}

std::vector<std::string> StepNumbers::new_notes() { return std::exchange(notes_, {}); }

std::vector<std::string> StepNumbers::doubts() const
{
  auto doubts = doubts_;
  if (!is_exact_)
    doubts.push_back(fmt::format("the number of the step begins again in every epoch, and the lines do not say how many steps an "
                                 "epoch has: there were at least {}, and how many is not known",
                                 steps_));
  return doubts;
}

} // namespace dt::jobs
