// BatchLoader: a rank's batches, read ahead by threads.
#pragma once

#include "engine/data/source.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace dt::data {

struct Batch {
  std::vector<float> images; // batch x C x H x W
  std::vector<std::int32_t> labels;
};

// A rank's batches, in one of the orders of engine/data/reading/order.hpp. Up to `prefetch` batches are read ahead by `threads`
// threads (prefetch 0: next() reads). Where samples lie in blocks of a file, one more thread reads the next block while the
// current one is used; it needs no core of its own, because it only waits for the file system. next() reads what no thread has
// begun, so a rank never waits for a thread that gets no core.
class BatchLoader {
 public:
  struct Options {
    std::int64_t batch_per_rank = 64;
    int rank = 0, ranks = 1;
    bool shuffle = true;
    DataOrder order = DataOrder::automatic;           // samples, or blocks if the source has blocks
    std::int64_t block_bytes = std::int64_t{8} << 20; // mean size of a block
    std::int64_t seed = 1;
    std::int64_t prefetch = 2;
    std::int64_t threads = 1;
    std::int64_t first_step = 0; // step of the first batch; for a resumed run
  };
  BatchLoader(const Source& source, const Options& options); // source must outlive the loader
  ~BatchLoader();
  // The next batch, valid until the following call. Rethrows an error of a reading thread.
  const Batch& next();
  // Samples of the batches so far that could not be decoded and were replaced.
  std::int64_t replaced_samples() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dt::data
