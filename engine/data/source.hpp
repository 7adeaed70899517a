// Data: sources of labelled images, the order in which ranks read them, and prefetching. Independent of MPI and strategies.
#pragma once

#include "core/spec/run_spec.hpp"

#include "core/range.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::data {

// A labelled set of images with one shape, held in memory as bytes or generated when read.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t channels() const = 0;
  virtual std::int64_t height() const = 0;
  virtual std::int64_t width() const = 0;
  virtual std::int64_t classes() const = 0;
  // Reads sample `index`: channels x height x width floats, normalised with the source's own constants. Returns its label. May be
  // called from several threads.
  virtual std::int32_t read(std::int64_t index, float* image) const = 0;
};

struct Sources {
  std::unique_ptr<Source> train, test;
};

// Opens the data set spec.name (one of data_names()) from its folder. Throws a recipe error with file and cause for a missing,
// truncated or foreign file, and if train_samples exceeds the number of samples; an environment error if a file cannot be read.
Sources open_sources(const DataSpec& spec, const std::filesystem::path& folder, std::int64_t seed);
std::vector<std::string> registered_data();

// The order of the samples; equal on every rank. The stream consists of one permutation of the set per epoch (0, 1, …), so every
// epoch visits every sample once and no batch is short. Stream position p is sample (p mod N) of epoch p / N.
class SampleOrder {
 public:
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

struct Batch {
  std::vector<float> images; // batch x C x H x W
  std::vector<std::int32_t> labels;
};

// A rank's batches: in step s with global batch G, rank r of P gets stream positions sG + [rG/P, (r+1)G/P). A background thread
// reads up to `prefetch` batches ahead (0: next() reads). next() reads a batch itself if the thread has not begun it, so a rank
// never waits for a thread that gets no core.
class BatchLoader {
 public:
  struct Options {
    std::int64_t batch_per_rank = 64;
    int rank = 0, ranks = 1;
    bool shuffle = true;
    std::int64_t seed = 1;
    std::int64_t prefetch = 2;
    std::int64_t first_step = 0; // step of the first batch; for a resumed run
  };
  BatchLoader(const Source& source, const Options& options); // source must outlive the loader
  ~BatchLoader();
  // The next batch, valid until the following call. Rethrows an error of the reading thread.
  const Batch& next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Rank r's contiguous share of n samples: [rn/P, (r+1)n/P). The shares are disjoint and cover all samples.
SampleRange shard(std::int64_t n, int rank, int ranks);

} // namespace dt::data
