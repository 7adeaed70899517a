#include "engine/sync/exchange/buckets.hpp"

#include <algorithm>
#include <limits>

namespace dt::sync {

std::vector<Range> plan_buckets(std::span<const Range> tensors, std::size_t floats, std::size_t bucket_bytes)
{
  std::vector<Range> buckets;
  std::size_t end = floats; // end of the bucket in progress
  for (std::size_t t = tensors.size(); t-- > 0;) {
    const std::size_t begin = t == 0 ? 0 : tensors[t].begin;
    if (t > 0 && (end - begin) * sizeof(float) < bucket_bytes) continue;
    buckets.push_back({begin, end});
    end = begin;
  }
  return buckets;
}

std::size_t bucket_bytes(const SyncSpec& sync, std::int64_t recommended)
{
  if (!sync.pack) return 1;
  if (sync.progress == ProgressMode::none) return std::numeric_limits<std::size_t>::max();
  constexpr std::int64_t usual = 4 << 20;
  if (sync.bucket_bytes > 0) return static_cast<std::size_t>(sync.bucket_bytes);
  return static_cast<std::size_t>(recommended > 0 ? recommended : usual);
}

double hideable_s(const std::vector<double>& isolated_s, const std::vector<double>& lead_s)
{
  // Times before the end of the backward pass. A sum begins when its bucket is complete and the previous sum is done.
  double free_s = lead_s.empty() ? 0 : lead_s.front();
  double hidden_s = 0;
  for (std::size_t b = 0; b < isolated_s.size(); ++b) {
    free_s = std::min(free_s, lead_s[b]);
    hidden_s += std::clamp(free_s, 0.0, isolated_s[b]);
    free_s -= isolated_s[b];
  }
  return hidden_s;
}

} // namespace dt::sync
