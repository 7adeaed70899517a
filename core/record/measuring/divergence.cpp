#include "core/record/measuring/divergence.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt {
namespace {

void keep_earliest(RunResult& result, std::int64_t step, std::string cause)
{
  if (step == not_counted || (result.diverged_step != not_counted && result.diverged_step <= step)) return;
  result.diverged_step = step;
  result.divergence = fmt::format("{} from step {} on", cause, step);
}

} // namespace

std::string words_of_loss(double not_finite, std::string_view whose)
{
  return fmt::format("the loss{}{} is {}", whose.empty() ? "" : " ", whose, std::isnan(not_finite) ? "NaN" : "infinite");
}

void Divergence::Series::add(std::int64_t at, double loss)
{
  if (std::isfinite(loss)) {
    step = not_counted;
  } else if (step == not_counted) {
    step = at;
    first = loss;
  }
}

Divergence::Turn Divergence::add_step(std::int64_t step, const Reported& loss)
{
  if (!loss) return Turn::none;
  const bool was_bad = training_.step != not_counted, is_bad = !std::isfinite(*loss);
  training_.add(step, *loss);
  if (is_bad && ++not_finite_steps_ == 1) first_not_finite_step_ = step;
  return was_bad == is_bad ? Turn::none : is_bad ? Turn::bad : Turn::good;
}

void Divergence::add_evaluation(std::int64_t step, const Reported& held_out_loss)
{
  if (held_out_loss) held_out_.add(step, *held_out_loss);
}

void Divergence::fill(RunResult& result, std::string_view whose) const
{
  keep_earliest(result, training_.step, words_of_loss(training_.first, whose));
  keep_earliest(result, held_out_.step, words_of_loss(held_out_.first, "on the held-out set"));
  result.not_finite_steps = std::max(result.not_finite_steps, not_finite_steps_);
}

} // namespace dt
