#include "engine/nn/choice/timing_budget.hpp"

#include <algorithm>
#include <cmath>

namespace dt::nn {
namespace {

constexpr double guessed_flops_per_s = 30e9; // of a thread, before anything is measured
// time_convolution runs up to nine pairs of algorithms at least three times each.
constexpr double least_runs = 27;
constexpr double enough_runs = 40;
constexpr std::int64_t least_rows = 16;

ConvolutionCase with_rows(ConvolutionCase of, std::int64_t rows)
{
  of.output.height = rows;
  of.input.height = (rows - 1) * of.spec.stride + of.spec.kernel - 2 * of.spec.padding;
  return of;
}

} // namespace

double flops_of(const ConvolutionCase& of)
{
  const auto sums = of.output.size() * of.spec.kernel * of.spec.kernel * of.input.channels / of.spec.groups;
  const double passes = of.needs_gradient ? 3 : 2;
  return 2 * passes * static_cast<double>(of.batch) * static_cast<double>(sums);
}

ConvolutionCase shrunk(const ConvolutionCase& of, double most_flops)
{
  const double share = most_flops / flops_of(of);
  if (share >= 1) return of;
  auto small = of;
  const auto images = static_cast<std::int64_t>(std::floor(share * static_cast<double>(of.batch)));
  small.batch =
      std::clamp<std::int64_t>(images / of.threads * of.threads, std::min<std::int64_t>(of.threads, of.batch), of.batch);
  const double of_rows = most_flops / flops_of(small);
  const auto rows = static_cast<std::int64_t>(std::floor(of_rows * static_cast<double>(of.output.height)));
  if (of_rows >= 1 || of.output.height <= least_rows) return small;
  const auto lower = with_rows(small, std::max(least_rows, rows));
  return lower.input.height > 0 && lower.input.height < of.input.height ? lower : small;
}

TimingBudget::TimingBudget(double seconds, double flops, int threads)
    : left_s_(seconds), left_flops_(flops), flops_per_s_(guessed_flops_per_s * threads)
{
}

TimingBudget::Share TimingBudget::share(double flops) const
{
  const double seconds = left_flops_ > 0 ? left_s_ * std::min(1.0, flops / left_flops_) : left_s_;
  return {seconds, seconds * flops_per_s_ / least_runs};
}

void TimingBudget::spend(double flops, double timed_flops, double seconds)
{
  left_s_ -= seconds;
  left_flops_ -= flops;
  if (seconds > 0) flops_per_s_ = std::min(flops_per_s_, least_runs * timed_flops / seconds);
}

double seconds_for(double flops, int threads, double most_s)
{
  return std::min(most_s, enough_runs * flops / (guessed_flops_per_s * threads));
}

} // namespace dt::nn
