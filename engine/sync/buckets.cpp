#include "engine/sync/buckets.hpp"

#include <limits>

namespace dt::engine {

std::vector<Stretch> plan_buckets(std::span<const Stretch> tensors, std::size_t floats, std::size_t bucket_bytes)
{
  std::vector<Stretch> buckets;
  std::size_t end = floats; // of the bucket that is being filled
  for (std::size_t t = tensors.size(); t-- > 0;) {
    const std::size_t begin = t == 0 ? 0 : tensors[t].offset;
    if (t > 0 && (end - begin) * sizeof(float) < bucket_bytes) continue;
    buckets.push_back({begin, end - begin});
    end = begin;
  }
  return buckets;
}

std::size_t bucket_bytes(const SyncSpec& sync)
{
  if (!sync.pack) return 1;
  if (sync.progress == "none") return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(sync.bucket_bytes);
}

} // namespace dt::engine
