// What Hogwild's threads and ranks do to a centre that others change at the same time. By design nothing keeps them apart: a read
// may find old and new numbers side by side, and of two additions to one number one may be lost (Recht et al., Hogwild!, 2011).
//
// These are data races, and the only ones that are meant: each is a function of its own, never inlined, so that a thread sanitizer's
// suppressions name them and nothing else (tests/thread_sanitizer.suppressions). Floats are aligned, so no single number is ever torn.
#pragma once

#include "engine/sync/replica.hpp"

#include <span>

namespace dt::engine {

// to <- centre
[[gnu::noinline]] void read_without_lock(std::span<const float> centre, std::span<float> to);

// centre <- centre + d
[[gnu::noinline]] void add_without_lock(std::span<float> centre, std::span<const float> d);

// centre <- opt(centre, g), on one stretch of both
[[gnu::noinline]] void apply_without_lock(Replica& replica, const Stretch& stretch, std::span<float> centre,
                                          std::span<const float> gradients, double learning_rate);

} // namespace dt::engine
