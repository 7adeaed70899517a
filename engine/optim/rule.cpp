#include "core/error.hpp"
#include "engine/optim/passes.hpp"
#include "engine/optim/rules.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <omp.h>

namespace dt::optim {
namespace {

// Start of a thread's share of [begin, end), a whole number of pages after begin, so that threads share no cache line.
std::int64_t share_begin(std::int64_t begin, std::int64_t end, int thread, int threads)
{
  constexpr std::int64_t page = 1024; // floats
  if (thread == threads) return end;
  return begin + (end - begin) * thread / threads / page * page;
}

} // namespace

Rule::Rule(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments)
    : segments_(std::move(segments)), size_(size), weight_decay_(static_cast<float>(spec.weight_decay)),
      clip_norm_(spec.clip_norm)
{
}

void Rule::step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part)
{
  // g <- g min(1, clip / |g|)
  const float factor = clip_norm_ > 0 ? clip_factor(gradients.data(), part) : part.gradient_factor;
  const Pass pass{weights.data(), gradients.data(), learning_rate, factor};
  for (std::size_t s = 0; s < segments_.size(); ++s)
    if (part.contains(segments_[s]) && !segments_[s].statistic) prepare(s, pass);
      // w <- rule(w, g)
#pragma omp parallel if (part.end - part.begin >= smallest_shared)
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    update_share(share_begin(part.begin, part.end, thread, threads), share_begin(part.begin, part.end, thread + 1, threads), part,
                 pass);
  }
}

void Rule::update_share(std::int64_t begin, std::int64_t end, const Part& part, const Pass& pass)
{
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const auto& segment = segments_[s];
    const Piece piece{s, std::max(begin, segment.offset), std::min(end, segment.offset + segment.size)};
    if (!part.contains(segment) || piece.begin >= piece.end) continue;
    if (segment.statistic)
      follow(pass.weights + piece.begin, pass.gradients + piece.begin, piece.size(), part.gradient_factor, statistic_rate);
    else
      update(piece, pass);
  }
}

// The factor for all gradients: the part's factor with clipping.
float Rule::clip_factor(const float* gradients, const Part& part) const
{
  double sum = 0;
  for (const auto& segment : segments_) {
    if (!part.contains(segment))
      throw Error(ErrorKind::internal,
                  fmt::format("Gradients are clipped by the length of all of them, but a step is of floats {} to {} of {}.",
                              part.begin, part.end, size_));
    if (!segment.statistic) sum += sum_of_squares(gradients + segment.offset, segment.size);
  }
  const double factor = part.gradient_factor, length = factor * std::sqrt(sum);
  return static_cast<float>(length > clip_norm_ ? factor * (clip_norm_ / length) : factor);
}

VelocityRule::VelocityRule(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments)
    : Rule(spec, size, std::move(segments)), velocity_(static_cast<std::size_t>(size), 0.0F),
      momentum_(static_cast<float>(spec.momentum))
{
}

} // namespace dt::optim
