// Fragments: the parts of a model that diloco exchanges in turn, and the steps at which it does. Pure functions.
// [Douillard2025, algorithm 2]
#pragma once

#include "core/maths/range.hpp"
#include "core/spec/run_spec.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dt::sync {

struct Fragment {
  Range range;             // whole tensors with their padding
  std::int64_t offset = 0; // its periods end at the steps that are `offset` modulo sync.period
};

// Cuts the packed buffer into fragments of consecutive tensors and about equal size, which together cover all `floats`. Fragment
// f of F has the offset f x period / F, rounded down: so the first one's periods end at multiples of the period. Throws a recipe
// error if there are fewer tensors than fragments.
std::vector<Fragment> plan_fragments(std::span<const Range> tensors, std::size_t floats, const SyncSpec& sync);

// The number, from 1, of the fragment's period that ends with step `step` (from 1); 0 if none does. A fragment with an offset
// above 0 has a first period that is shorter than the others.
std::int64_t period_ending_at(std::int64_t step, const Fragment& fragment, const SyncSpec& sync);

// The piece of the fragment's sum that is made during step `step`, from 0, if sync.outer.delay is above 0: the first one in the
// step behind the end of a period, one in each of `delay` steps. -1: none, because no period has ended as recently as that.
std::int64_t piece_at(std::int64_t step, const Fragment& fragment, const SyncSpec& sync);

// Piece `piece` of `pieces` into which a range is cut for a sum that takes several steps. Pieces differ by at most one line of 16
// floats; a piece may be empty.
Range piece_of(Range range, std::int64_t piece, std::int64_t pieces);

// The messages in which a range is summed: one, or without sync.pack one for each tensor of which the range holds a part. None
// for an empty range.
std::vector<Range> messages_of(Range range, std::span<const Range> tensors, const SyncSpec& sync);

// Throws a recipe error if a fragment's sum would not be used before its next period ends.
void require_delay_below_period(const SyncSpec& sync);

} // namespace dt::sync
