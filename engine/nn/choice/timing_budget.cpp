#include "engine/nn/choice/timing_budget.hpp"

#include <algorithm>
#include <cmath>

namespace dt::nn {
namespace {

constexpr double guessed_flops_per_s = 60e9; // of a thread, before anything is measured
// time_convolution runs up to three algorithms, each once for warm-up and in two to seven rounds, and a mixture of them in two.
constexpr double least_runs = 3 * 3 + 3, most_runs = 3 * 8 + 3;
constexpr double enough_runs = 40;
constexpr double fastest = 10; // times the guess
constexpr std::int64_t least_rows = 16;
// With fewer pixels of output, what an algorithm does once for all images would weigh too much: Winograd's transforms its
// weights.
constexpr std::int64_t least_pixels = 28 * 28;
constexpr double most_excess = 2;

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
  const auto pixels = of.output.height * of.output.width;
  const auto least = std::min(of.batch, std::max<std::int64_t>(of.threads, (least_pixels + pixels - 1) / pixels));
  const auto images = static_cast<std::int64_t>(std::floor(share * static_cast<double>(of.batch)));
  auto small = of;
  small.batch = std::clamp(images / of.threads * of.threads, least, of.batch);
  const double of_rows = most_flops / flops_of(small);
  const auto rows = static_cast<std::int64_t>(std::floor(of_rows * static_cast<double>(of.output.height)));
  if (of_rows >= 1 || pixels <= least_pixels) return small;
  const auto lower = with_rows(small, std::max({least_rows, rows, (least_pixels + of.output.width - 1) / of.output.width}));
  return lower.input.height > 0 && lower.input.height < of.input.height ? lower : small;
}

TimingBudget::TimingBudget(double seconds, double flops, int threads)
    : left_s_(seconds), left_flops_(flops), flops_per_s_(guessed_flops_per_s * threads), most_flops_per_s_(fastest * flops_per_s_)
{
}

TimingBudget::Share TimingBudget::share(double flops) const
{
  const double seconds = left_flops_ > 0 ? left_s_ * std::min(1.0, flops / left_flops_) : left_s_;
  return {seconds, seconds * flops_per_s_ / least_runs};
}

bool TimingBudget::fits(double flops, double timed_flops) const
{
  return left_s_ > 0 && timed_flops <= most_excess * share(flops).flops_per_run;
}

void TimingBudget::spend(double flops, double timed_flops, double seconds)
{
  // Whoever had time left has made all rounds.
  const double runs = seconds < share(flops).seconds ? most_runs : least_runs;
  if (seconds > 0) flops_per_s_ = std::min(most_flops_per_s_, runs * timed_flops / seconds);
  left_s_ -= seconds;
  skip(flops);
}

double seconds_for(double flops, int threads, double most_s)
{
  return std::min(most_s, enough_runs * flops / (guessed_flops_per_s * threads));
}

} // namespace dt::nn
