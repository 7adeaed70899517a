// Data: sources of labelled images, the order in which ranks take them, and reading ahead. Knows no MPI and no strategy.
#pragma once

#include "core/run_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// A labelled set of images of one shape, held in memory as bytes or made on the fly.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t channels() const = 0;
  virtual std::int64_t height() const = 0;
  virtual std::int64_t width() const = 0;
  virtual std::int64_t classes() const = 0;
  // Sample `index`: channels x height x width floats, normalised by the source's own constants; returns its label.
  // Safe to call from several threads.
  virtual std::int32_t read(std::int64_t index, float* image) const = 0;
};

struct Sources {
  std::unique_ptr<Source> train, test;
};

// The set of that name (of data_names()) from its folder. A recipe error that names file and cause for a missing, truncated or
// foreign file, and when train_samples asks for more than there are; an environment error when a file cannot be read.
Sources open_sources(const DataSpec& spec, const std::filesystem::path& folder, std::int64_t seed);
std::vector<std::string> registered_data();

// The order of the samples, equal on every rank. The stream is one permutation of the set after another (epoch 0, 1, …), so
// every epoch visits every sample once and no batch is short; position p is sample (p mod N) of epoch p / N.
class SampleOrder {
 public:
  SampleOrder(std::int64_t samples, bool shuffle, std::int64_t seed);
  // Samples at stream positions [begin, begin + indices.size()). Needs state of one epoch at a time: go forwards.
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

// A rank's batches: at step s of global batch G, rank r of P takes stream positions sG + [rG/P, (r+1)G/P). A background
// thread reads `prefetch` batches ahead (0: none, read in next()); a batch that it has not begun when it is needed is read in
// next(), so nobody waits for a thread that gets no core.
class BatchLoader {
 public:
  struct Options {
    std::int64_t batch_per_rank = 64;
    int rank = 0, ranks = 1;
    bool shuffle = true;
    std::int64_t seed = 1;
    std::int64_t prefetch = 2;
    std::int64_t first_step = 0; // the first batch is that of this step: where a run is taken up again
  };
  BatchLoader(const Source& source, const Options& options); // source must outlive it
  ~BatchLoader();
  // The next batch; valid until the following call. Rethrows what the reading thread threw.
  const Batch& next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Rank r's contiguous share of n samples: [rn/P, (r+1)n/P). Disjoint, and together all of them.
struct Range {
  std::int64_t begin, end;
};
Range shard(std::int64_t n, int rank, int ranks);

} // namespace dt::engine
