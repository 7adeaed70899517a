#include "core/error.hpp"
#include "core/random.hpp"
#include "engine/data/source.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <utility>

namespace dt::data {

SampleOrder::SampleOrder(std::int64_t samples, bool shuffle, std::int64_t seed)
    : samples_(samples), shuffle_(shuffle), seed_(seed)
{
  if (samples < 1)
    throw Error(ErrorKind::internal, fmt::format("An order of {} samples was asked for; there must be at least one.", samples));
}

void SampleOrder::fill(std::int64_t begin, std::span<std::int64_t> indices)
{
  for (auto& index : indices) {
    const std::int64_t within = begin % samples_;
    if (shuffle_ && begin / samples_ != epoch_) load_epoch(begin / samples_);
    index = shuffle_ ? permutation_[static_cast<std::size_t>(within)] : within;
    ++begin;
  }
}

// Fisher-Yates shuffle with a separate random stream per epoch, so that an epoch does not depend on earlier ones.
void SampleOrder::load_epoch(std::int64_t epoch)
{
  Random random(sub_key(static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(epoch)));
  permutation_.resize(static_cast<std::size_t>(samples_));
  std::iota(permutation_.begin(), permutation_.end(), std::int64_t{0});
  for (std::size_t i = permutation_.size() - 1; i > 0; --i) std::swap(permutation_[i], permutation_[random.below(i + 1)]);
  epoch_ = epoch;
}

SampleRange shard(std::int64_t n, int rank, int ranks)
{
  // Computes rn/P without overflow of r*n: n = qP + m gives rq + rm/P.
  const std::int64_t quotient = n / ranks, rest = n % ranks;
  const auto start = [&](std::int64_t r) { return r * quotient + r * rest / ranks; };
  return {start(rank), start(rank + 1)};
}

} // namespace dt::data
