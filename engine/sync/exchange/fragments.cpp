#include "engine/sync/exchange/fragments.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::sync {
namespace {

// The first tensor of fragment `fragment`: the one whose begin is nearest to its share of the buffer, with at least one tensor
// for each fragment before and behind.
std::size_t first_tensor(std::span<const Range> tensors, std::size_t floats, std::size_t fragment, std::size_t fragments,
                         std::size_t lowest)
{
  const auto share = static_cast<double>(floats) * static_cast<double>(fragment) / static_cast<double>(fragments);
  const auto distance = [&](std::size_t t) { return std::abs(static_cast<double>(tensors[t].begin) - share); };
  auto best = lowest;
  for (auto t = lowest; t + fragments - fragment <= tensors.size(); ++t)
    if (distance(t) < distance(best)) best = t;
  return best;
}

} // namespace

std::vector<Fragment> plan_fragments(std::span<const Range> tensors, std::size_t floats, const SyncSpec& sync)
{
  const auto count = static_cast<std::size_t>(sync.outer.fragments);
  if (tensors.size() < count)
    throw Error(ErrorKind::recipe, fmt::format("sync.outer.fragments is {}, but the model has only {} tensors, and a fragment is "
                                               "made of whole tensors. Take at most {}.",
                                               count, tensors.size(), tensors.size()));
  std::vector<Fragment> fragments{{{0, floats}, 0}};
  for (std::size_t f = 1, t = 0; f < count; ++f) {
    t = first_tensor(tensors, floats, f, count, t + 1);
    fragments.back().range.end = tensors[t].begin;
    fragments.push_back({{tensors[t].begin, floats}, static_cast<std::int64_t>(f) * sync.period / sync.outer.fragments});
  }
  return fragments;
}

std::int64_t period_ending_at(std::int64_t step, const Fragment& fragment, const SyncSpec& sync)
{
  if (step < 1 || step % sync.period != fragment.offset) return 0;
  return (step - fragment.offset) / sync.period + (fragment.offset > 0 ? 1 : 0);
}

std::int64_t piece_at(std::int64_t step, const Fragment& fragment, const SyncSpec& sync)
{
  const auto since = (step - fragment.offset + sync.period) % sync.period; // steps since the last end of a period
  return since >= 1 && since <= sync.outer.delay && step - since >= 1 ? since - 1 : -1;
}

Range piece_of(Range range, std::int64_t piece, std::int64_t pieces)
{
  constexpr std::size_t line = 16;
  const auto cut = [&](std::int64_t k) {
    const auto lines = range.size() / line * static_cast<std::size_t>(k) / static_cast<std::size_t>(pieces);
    return k == pieces ? range.end : range.begin + lines * line;
  };
  return {cut(piece), cut(piece + 1)};
}

std::vector<Range> messages_of(Range range, std::span<const Range> tensors, const SyncSpec& sync)
{
  std::vector<Range> messages;
  if (sync.pack && !range.empty()) return {range};
  for (const auto& tensor : tensors) {
    const Range part{std::max(range.begin, tensor.begin), std::min(range.end, tensor.end)};
    if (part.begin < part.end) messages.push_back(part);
  }
  return messages;
}

void require_delay_below_period(const SyncSpec& sync)
{
  if (sync.outer.delay < sync.period) return;
  throw Error(ErrorKind::recipe, fmt::format("sync.outer.delay is {} and sync.period {}: the sum of a fragment would not be used "
                                             "before its next one begins. Take a delay below the period.",
                                             sync.outer.delay, sync.period));
}

} // namespace dt::sync
