// The order in which the ranks read the samples. Every order is a pure function of seed, step and rank, so a resumed run
// continues it, and every epoch contains every sample once, for any number of ranks and any batch.
//
// The stream of a run is the sequence of its epochs. In step s with global batch G = P b, rank r gets the positions
// sG + rb … sG + (r+1)b - 1 of the stream. Position p belongs to epoch p / N.
#pragma once

#include "core/maths/range.hpp"
#include "core/spec/choices.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dt::data {

// One permutation of all samples per epoch.
class SampleOrder {
 public:
  // shuffle false: every epoch has the samples in the order of the file.
  SampleOrder(std::int64_t samples, bool shuffle, std::int64_t seed);
  // Returns the samples at stream positions [begin, begin + indices.size()). It stores the permutation of one epoch only, so read
  // forwards.
  void fill(std::int64_t begin, std::span<std::int64_t> indices);

 private:
  void load_epoch(std::int64_t epoch);
  std::int64_t samples_;
  bool shuffle_;
  std::int64_t seed_, epoch_ = -1;
  std::vector<std::int64_t> permutation_;
};

// The order of one rank that reads contiguous blocks. In each epoch the blocks of the file (samples_per_block consecutive
// samples; the last one may be shorter) are put in random order, and the samples of each block too. The resulting sequence is
// divided into one contiguous part per rank. Rank r's part has as many samples as the epoch has stream positions of rank r; these
// take the part's samples in order. So a rank reads a few blocks from begin to end, and shares at most its first and its last one
// with other ranks.
class BlockOrder {
 public:
  struct Options {
    std::int64_t samples = 0, samples_per_block = 1;
    bool shuffle = true; // false: blocks and samples stay in the order of the file
    std::int64_t seed = 1;
    std::int64_t batch_per_rank = 1;
    int rank = 0, ranks = 1;
  };
  explicit BlockOrder(const Options& options);
  // Returns the rank's samples of a step. Stores what belongs to one epoch and one block only, so read forwards.
  void fill(std::int64_t step, std::span<std::int64_t> indices);
  // The samples of the block that contains sample `index`.
  SampleRange block_of(std::int64_t index) const;
  // The block that the rank reads after the one with which its batch of `step` ends.
  SampleRange block_after(std::int64_t step);

 private:
  std::int64_t count_before(std::int64_t position, int rank) const;
  std::int64_t sample_at(std::int64_t position);
  void load_epoch(std::int64_t epoch);
  void load_block(std::int64_t block);

  Options options_;
  std::int64_t blocks_; // in the file
  std::int64_t epoch_ = -1;
  std::int64_t begin_ = 0; // of the rank's part in the sequence of the epoch
  std::int64_t first_ = 0; // stream positions of the rank before the epoch
  std::vector<std::int64_t> order_of_blocks_;
  std::int64_t short_place_ = 0; // place of the file's last block in order_of_blocks_
  std::int64_t block_ = -1;      // whose permutation is loaded
  std::vector<std::int64_t> permutation_;
};

} // namespace dt::data
