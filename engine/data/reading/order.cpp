#include "engine/data/reading/order.hpp"

#include "core/error.hpp"
#include "core/maths/random.hpp"
#include "engine/data/source.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

// Fills `permutation` with 0 … count - 1 in an order drawn from `key` (Fisher-Yates).
void permute(std::vector<std::int64_t>& permutation, std::int64_t count, std::uint64_t key)
{
  Random random(key);
  permutation.resize(static_cast<std::size_t>(count));
  std::iota(permutation.begin(), permutation.end(), std::int64_t{0});
  for (std::size_t i = permutation.size() - 1; i > 0; --i) std::swap(permutation[i], permutation[random.below(i + 1)]);
}

} // namespace

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

// Every epoch has a random stream of its own, so that it does not depend on earlier ones.
void SampleOrder::load_epoch(std::int64_t epoch)
{
  permute(permutation_, samples_, sub_key(static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(epoch)));
  epoch_ = epoch;
}

BlockOrder::BlockOrder(const Options& options)
    : options_(options), blocks_((options.samples + options.samples_per_block - 1) / options.samples_per_block)
{
  if (options.samples < 1 || options.samples_per_block < 1 || options.batch_per_rank < 1)
    throw Error(ErrorKind::internal,
                fmt::format("An order of {} samples in blocks of {} was asked for.", options.samples, options.samples_per_block));
}

void BlockOrder::fill(std::int64_t step, std::span<std::int64_t> indices)
{
  auto position = (step * options_.ranks + options_.rank) * options_.batch_per_rank;
  for (auto& index : indices) index = sample_at(position++);
}

SampleRange BlockOrder::block_of(std::int64_t index) const
{
  const auto begin = index / options_.samples_per_block * options_.samples_per_block;
  return {begin, std::min(begin + options_.samples_per_block, options_.samples)};
}

SampleRange BlockOrder::block_after(std::int64_t step)
{
  const auto per_step = options_.batch_per_rank;
  const auto last_of = [&](std::int64_t some_step) {
    return block_of(sample_at((some_step * options_.ranks + options_.rank) * per_step + per_step - 1));
  };
  const auto block = last_of(step);
  // A block is left at the latest after as many steps as it has batches, unless the file is one block.
  for (auto later = step + 1; later <= step + options_.samples_per_block / per_step + 2; ++later)
    for (std::int64_t i = 0; i < per_step; ++i)
      if (const auto other = block_of(sample_at((later * options_.ranks + options_.rank) * per_step + i)); other != block)
        return other;
  return block;
}

// Number of the rank's stream positions before `position`.
std::int64_t BlockOrder::count_before(std::int64_t position, int rank) const
{
  const auto batch = options_.batch_per_rank, global_batch = batch * options_.ranks;
  return position / global_batch * batch + std::clamp<std::int64_t>(position % global_batch - rank * batch, 0, batch);
}

std::int64_t BlockOrder::sample_at(std::int64_t position)
{
  if (position / options_.samples != epoch_) load_epoch(position / options_.samples);
  const auto place = begin_ + count_before(position, options_.rank) - first_;
  if (!options_.shuffle) return place;
  // The file's last block may be shorter than the others, and lies anywhere in the epoch's sequence.
  const auto full = options_.samples_per_block, length = options_.samples - (blocks_ - 1) * full;
  const auto short_begin = short_place_ * full;
  const bool is_after = place >= short_begin + length;
  const auto sequence =
      is_after ? short_place_ + 1 + (place - short_begin - length) / full : std::min(place / full, short_place_);
  const auto within = is_after ? (place - short_begin - length) % full : place - sequence * full;
  const auto block = order_of_blocks_[static_cast<std::size_t>(sequence)];
  if (block != block_) load_block(block);
  return block * full + permutation_[static_cast<std::size_t>(within)];
}

void BlockOrder::load_epoch(std::int64_t epoch)
{
  epoch_ = epoch;
  block_ = -1;
  const auto begin = epoch * options_.samples, end = begin + options_.samples;
  begin_ = 0;
  for (int rank = 0; rank < options_.rank; ++rank) begin_ += count_before(end, rank) - count_before(begin, rank);
  first_ = count_before(begin, options_.rank);
  if (!options_.shuffle) return;
  permute(order_of_blocks_, blocks_, sub_key(static_cast<std::uint64_t>(options_.seed), static_cast<std::uint64_t>(epoch)));
  short_place_ = std::ranges::find(order_of_blocks_, blocks_ - 1) - order_of_blocks_.begin();
}

void BlockOrder::load_block(std::int64_t block)
{
  block_ = block;
  const auto key = sub_key(static_cast<std::uint64_t>(options_.seed), static_cast<std::uint64_t>(epoch_));
  const auto count = block_of(block * options_.samples_per_block).size();
  permute(permutation_, count, sub_key(~key, static_cast<std::uint64_t>(block)));
}

SampleRange shard(std::int64_t n, int rank, int ranks)
{
  // Computes rn/P without overflow of r*n: n = qP + m gives rq + rm/P.
  const std::int64_t quotient = n / ranks, rest = n % ranks;
  const auto start = [&](std::int64_t r) { return r * quotient + r * rest / ranks; };
  return {start(rank), start(rank + 1)};
}

} // namespace dt::data
