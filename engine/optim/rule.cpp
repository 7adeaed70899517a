#include "core/error.hpp"
#include "engine/optim/passes.hpp"
#include "engine/optim/rules.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <omp.h>

namespace dt::optim {
namespace {

// A thread's share of the whole range. Shares are cut at multiples of a page, so that threads share no cache line.
Range share_of(Range whole, std::size_t thread, std::size_t threads)
{
  constexpr std::size_t page = 1024; // floats
  const auto cut = [&](std::size_t number) {
    return number == threads ? whole.end : whole.begin + whole.size() * number / threads / page * page;
  };
  return {cut(thread), cut(thread + 1)};
}

} // namespace

Rule::Rule(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments)
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
#pragma omp parallel if (part.range.size() >= smallest_shared)
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num()), threads = static_cast<std::size_t>(omp_get_num_threads());
    update_share(share_of(part.range, thread, threads), part, pass);
  }
}

void Rule::update_share(Range share, const Part& part, const Pass& pass)
{
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const auto& segment = segments_[s];
    const Range range{std::max(share.begin, segment.range.begin), std::min(share.end, segment.range.end)};
    if (part.contains(segment) && range.begin < range.end)
      update_piece(
          s, range,
          {pass.weights, pass.gradients, pass.learning_rate, segment.statistic ? part.gradient_factor : pass.gradient_factor});
  }
}

void Rule::update_piece(std::size_t segment, Range range, const Pass& pass)
{
  if (segments_[segment].statistic)
    follow(pass.weights + range.begin, pass.gradients_of(range), range.size(), pass.gradient_factor,
           static_cast<float>(statistic_rate));
  else
    update(segment, range, pass);
}

void Rule::begin_slices()
{
  for (std::size_t s = 0; s < segments_.size(); ++s)
    if (!segments_[s].statistic) prepare(s, {});
}

void Rule::step_slice(std::span<float> weights, std::size_t begin, std::span<const float> gradients, double learning_rate,
                      float factor)
{
  const Pass pass{weights.data(), gradients.data(), learning_rate, factor, begin};
  const Range slice{begin, begin + gradients.size()};
  const auto first = std::ranges::partition_point(segments_, [&](const Segment& segment) { return segment.range.end <= begin; });
  for (auto s = static_cast<std::size_t>(first - segments_.begin()); s < segments_.size(); ++s) {
    const auto& segment = segments_[s].range;
    const Range range{std::max(slice.begin, segment.begin), std::min(slice.end, segment.end)};
    if (segment.begin >= slice.end) break;
    if (range.begin < range.end) update_piece(s, range, pass);
  }
}

void Rule::keep_buffers_in(std::span<const std::span<float>> memory)
{
  const auto own = buffers();
  if (memory.size() != own.size() || std::ranges::any_of(memory, [&](auto part) { return part.size() != size_; }))
    throw Error(ErrorKind::internal,
                fmt::format("A rule with {} buffers of {} floats was given other memory for them.", own.size(), size_));
  for (std::size_t b = 0; b < own.size(); ++b) own[b]->move_to(memory[b]);
}

// The factor for all gradients: the part's factor with clipping.
float Rule::clip_factor(const float* gradients, const Part& part) const
{
  double sum = 0;
  for (const auto& segment : segments_) {
    if (!part.contains(segment))
      throw Error(ErrorKind::internal,
                  fmt::format("Gradients are clipped by the length of all of them, but a step is of floats {} to {} of {}.",
                              part.range.begin, part.range.end, size_));
    if (!segment.statistic) sum += sum_of_squares(gradients + segment.range.begin, segment.range.size());
  }
  const double factor = part.gradient_factor, length = factor * std::sqrt(sum);
  return static_cast<float>(length > clip_norm_ ? factor * (clip_norm_ / length) : factor);
}

VelocityRule::VelocityRule(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments)
    : Rule(spec, size, std::move(segments)), velocity_(size), momentum_(static_cast<float>(spec.momentum))
{
}

} // namespace dt::optim
