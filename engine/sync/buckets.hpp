// Buckets: which gradients are summed together, and when they are sent.
#pragma once

#include "core/run_spec.hpp"
#include "engine/sync/replica.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dt::engine {

// Stretches of whole tensors with the padding behind them, the last tensors' first: the order in which a backward pass makes
// gradients. Together they cover all `floats` of the packed buffer. Each is closed as soon as it has bucket_bytes; only the last
// may be smaller. Pure.
std::vector<Stretch> plan_buckets(std::span<const Stretch> tensors, std::size_t floats, std::size_t bucket_bytes);

// Bytes of a bucket by the recipe: a tensor each without sync.pack; everything in one where nothing overlaps; else
// sync.bucket_bytes; where that is 0, what the allreduce recommends (Allreduce::bucket_bytes), or 4 MiB.
std::size_t bucket_bytes(const SyncSpec& sync, std::int64_t recommended = 0);

// Seconds of communication that a backward pass can hide: buckets in the order in which they are sent, each with the seconds of
// its sum alone and those between its last gradient and the end of the pass. One sum after another: they share one link. Pure.
double hideable_s(const std::vector<double>& isolated_s, const std::vector<double>& lead_s);

} // namespace dt::engine
