// Buckets: which gradients are summed together, and when they are sent.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/sync/replica.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dt::sync {

// Cuts the packed buffer into buckets of whole tensors with their padding. The last tensors come first, in the order in which a
// backward pass produces gradients. Together the buckets cover all `floats` of the buffer. A bucket ends as soon as it has
// bucket_bytes; only the last bucket may be smaller. Pure.
std::vector<Range> plan_buckets(std::span<const Range> tensors, std::size_t floats, std::size_t bucket_bytes);

// Bucket size in bytes. Without sync.pack every tensor is a bucket. With sync.progress: none everything is one bucket, because
// nothing overlaps. Otherwise sync.bucket_bytes; if that is 0, `recommended` (Allreduce::bucket_bytes), or 4 MiB.
std::size_t bucket_bytes(const SyncSpec& sync, std::int64_t recommended = 0);

// Seconds of communication that can overlap with the backward pass. Both lists have one entry per bucket, in sending order:
// isolated_s is the duration of the bucket's sum alone, lead_s the time between its last gradient and the end of the pass. Sums
// run one after another because they share one link. Pure.
double hideable_s(const std::vector<double>& isolated_s, const std::vector<double>& lead_s);

} // namespace dt::sync
