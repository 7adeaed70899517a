#include "engine/sync/exchange/gradient_noise.hpp"

#include "core/maths/block_of_squares.hpp"

#include <algorithm>

namespace dt::sync {
namespace {

// A team of threads shares a range of several blocks.
constexpr std::size_t block = floats_of_block, smallest_shared = 4 * block;

double sum_of_squares(std::span<const float> values)
{
  if (values.size() <= block) return block_of_squares(values.data(), values.size());
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (values.size() >= smallest_shared)
  for (std::size_t begin = 0; begin < values.size(); begin += block)
    sum += block_of_squares(values.data() + begin, std::min(block, values.size() - begin));
  return sum;
}

} // namespace

void GradientNoise::begin_step(Replica& replica)
{
  is_due_ = measures() && replica.step().number % every_ == 0;
  if (!is_due_) return;
  own_ = sum_ = 0;
  if (!gradients_.empty()) return;
  const auto statistics = replica.statistics();
  for (const auto& tensor : replica.tensors())
    if (std::ranges::none_of(statistics, [&](const Range& range) { return range.begin == tensor.begin; }))
      gradients_.push_back({tensor.begin, tensor.end - replica.marks()});
}

double GradientNoise::squares_of(std::span<const float> gradients, std::size_t begin) const
{
  const std::size_t end = begin + gradients.size();
  auto range = std::ranges::upper_bound(gradients_, begin, {}, &Range::end); // the first that ends behind `begin`
  double sum = 0;
  for (; range != gradients_.end() && range->begin < end; ++range) {
    const auto from = std::max(range->begin, begin), to = std::min(range->end, end);
    sum += sum_of_squares(gradients.subspan(from - begin, to - from));
  }
  return sum;
}

void GradientNoise::add_own(std::span<const float> gradients, std::size_t begin)
{
  if (is_due_) own_ += squares_of(gradients, begin);
}

void GradientNoise::add_sum(std::span<const float> sums, std::size_t begin)
{
  if (is_due_) sum_ += squares_of(sums, begin);
}

void GradientNoise::end_step(double own, double sum)
{
  const auto parts = static_cast<double>(parts_);
  if (is_due_) estimator_.add(own / parts, sum / (parts * parts));
  is_due_ = false;
}

} // namespace dt::sync
