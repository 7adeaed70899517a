// Unsynchronised access of Hogwild's threads and ranks to a shared centre [Recht2011]. By design, a read may return a mix of old
// and new numbers, and one of two concurrent additions to the same number may be lost.
//
// These functions contain the only intended data races. They are never inlined, so that the suppressions of the thread sanitizer
// can name exactly them (tests/thread_sanitizer.suppressions). Floats are aligned, so a single number is never torn.
#pragma once

#include "engine/sync/replica.hpp"

#include <span>

namespace dt::sync {

// to <- centre
[[gnu::noinline]] void read_without_lock(std::span<const float> centre, std::span<float> to);

// centre <- centre + d
[[gnu::noinline]] void add_without_lock(std::span<float> centre, std::span<const float> d);

// centre <- opt(centre, g), on one range of both.
[[gnu::noinline]] void apply_without_lock(Replica& replica, Range range, std::span<float> centre,
                                          std::span<const float> gradients, double learning_rate);

} // namespace dt::sync
