// Sources of labelled images, independent of MPI and strategies.
#pragma once

#include "core/maths/range.hpp"
#include "core/spec/run_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace dt::data {

// The stored bytes of consecutive samples, read at once.
class Block {
 public:
  virtual ~Block() = default;
};

// What to read.
struct SampleRequest {
  std::int64_t index = 0;
  const Block* block = nullptr; // the block of fetch() that holds the sample; null: the source reads the sample alone
  bool is_varied = false;       // crop and mirror the image by chance, as the recipe says for training
  std::uint64_t chance = 0;     // key of the random numbers for that
};

// What was read.
struct SampleRead {
  std::int32_t label = 0;
  bool is_replaced = false; // the sample cannot be decoded, and another one was read in its place (data.corrupt: skip)
};

// A labelled set of images that have one shape once they are read. Its functions may be called from several threads.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t channels() const = 0;
  virtual std::int64_t height() const = 0;
  virtual std::int64_t width() const = 0;
  virtual std::int64_t classes() const = 0;

  // Reads a sample: channels x height x width floats, normalised with the source's own constants.
  virtual SampleRead read(const SampleRequest& request, float* image) const = 0;
  // Reads a sample unvaried. Returns its label.
  std::int32_t read(std::int64_t index, float* image) const { return read({.index = index}, image).label; }

  // Mean number of stored bytes of a sample.
  virtual std::int64_t bytes_per_sample() const { return channels() * height() * width(); }
  // Whether samples lie in a file, so that blocks of them can be read ahead.
  virtual bool has_blocks() const { return false; }
  // Reads the bytes of these samples from the file. Only if has_blocks().
  virtual std::shared_ptr<const Block> fetch(SampleRange) const { return nullptr; }
};

struct Sources {
  std::unique_ptr<Source> train, test;
};

// Opens the data set spec.name (one of data_names()). place: its folder; the file of a packed set. Throws a recipe error with
// file and cause for a missing, truncated or foreign file, and if train_samples exceeds the number of samples; an environment
// error if a file cannot be read.
Sources open_sources(const DataSpec& spec, const std::filesystem::path& place, std::int64_t seed);
std::vector<std::string> registered_data();

// Rank r's contiguous share of n samples: [rn/P, (r+1)n/P). The shares are disjoint and cover all samples.
SampleRange shard(std::int64_t n, int rank, int ranks);

} // namespace dt::data
