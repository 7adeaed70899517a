#include "core/error.hpp"
#include "engine/data/reading/loader.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

namespace dt::data {
namespace {

// Sample i is the pixels i and -i with label i; reading sample `broken` fails. A slow one takes its time over a sample, so that a
// batch is asked for while it is being read.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::int64_t samples, std::int64_t broken = -1, bool is_slow = false)
      : samples_(samples), broken_(broken), is_slow_(is_slow)
  {
  }
  std::int64_t size() const override { return samples_; }
  std::int64_t channels() const override { return 1; }
  std::int64_t height() const override { return 1; }
  std::int64_t width() const override { return 2; }
  std::int64_t classes() const override { return samples_; }
  SampleRead read(const SampleRequest& request, float* image) const override
  {
    const auto index = request.index;
    if (index == broken_) throw std::runtime_error("sample cannot be read");
    image[0] = image[1] = -1;
    if (is_slow_) std::this_thread::sleep_for(std::chrono::microseconds(200));
    image[0] = static_cast<float>(index);
    image[1] = -static_cast<float>(index);
    return {static_cast<std::int32_t>(index)};
  }

 private:
  std::int64_t samples_, broken_;
  bool is_slow_;
};

BatchLoader::Options options(std::int64_t batch_per_rank, int rank, int ranks, std::int64_t prefetch = 2)
{
  BatchLoader::Options result;
  result.batch_per_rank = batch_per_rank;
  result.rank = rank;
  result.ranks = ranks;
  result.prefetch = prefetch;
  return result;
}

// The labels a loader gives over so many steps, after checking that the images belong to them.
std::vector<std::int32_t> labels_of(BatchLoader& loader, std::int64_t steps)
{
  std::vector<std::int32_t> labels;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto& batch = loader.next();
    REQUIRE(batch.images.size() == 2 * batch.labels.size());
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      REQUIRE(batch.images[2 * i] == static_cast<float>(batch.labels[i]));
      REQUIRE(batch.images[2 * i + 1] == -static_cast<float>(batch.labels[i]));
    }
    labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
  }
  return labels;
}

// What P ranks get, step by step, rank by rank.
std::vector<std::int32_t> labels_of_ranks(const Source& source, std::int64_t batch_per_rank, int ranks, std::int64_t steps)
{
  std::vector<std::unique_ptr<BatchLoader>> loaders;
  for (int rank = 0; rank < ranks; ++rank)
    loaders.push_back(std::make_unique<BatchLoader>(source, options(batch_per_rank, rank, ranks)));
  std::vector<std::int32_t> labels;
  for (std::int64_t step = 0; step < steps; ++step)
    for (auto& loader : loaders) {
      const auto part = labels_of(*loader, 1);
      labels.insert(labels.end(), part.begin(), part.end());
    }
  return labels;
}

} // namespace

TEST_CASE("P ranks together get what one rank with the whole batch gets, in the same order")
{
  const CountingSource source(101);
  for (const auto& [global_batch, ranks] : {std::tuple{16, 2}, {16, 4}, {24, 3}, {7, 7}, {64, 16}, {150, 5}}) {
    CAPTURE(global_batch, ranks);
    BatchLoader one(source, options(global_batch, 0, 1));
    CHECK(labels_of_ranks(source, global_batch / ranks, ranks, 30) == labels_of(one, 30));
  }
}

TEST_CASE("every epoch visits every sample once over all ranks, also when the batch does not divide the set")
{
  for (const auto& [samples, batch_per_rank, ranks] :
       {std::tuple{40, 5, 2}, {41, 5, 2}, {13, 4, 3}, {7, 10, 2}, {100, 3, 17}, {1, 2, 2}}) {
    CAPTURE(samples, batch_per_rank, ranks);
    constexpr std::int64_t epochs = 3;
    const std::int64_t global_batch = batch_per_rank * ranks, steps = (epochs * samples + global_batch - 1) / global_batch;
    const auto labels = labels_of_ranks(CountingSource(samples), batch_per_rank, ranks, steps);
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      std::vector<std::int32_t> seen(labels.begin() + epoch * samples, labels.begin() + (epoch + 1) * samples);
      std::sort(seen.begin(), seen.end());
      for (std::int32_t i = 0; i < samples; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
    }
  }
}

TEST_CASE("reading ahead changes nothing but the time")
{
  const CountingSource source(53);
  BatchLoader plain(source, options(8, 1, 3, 0));
  const auto expected = labels_of(plain, 50);
  for (std::int64_t prefetch : {1, 2, 7, 100}) {
    CAPTURE(prefetch);
    BatchLoader loader(source, options(8, 1, 3, prefetch));
    CHECK(labels_of(loader, 50) == expected);
  }
}

TEST_CASE("a batch stays as it is until the next one is asked for, while others are read ahead")
{
  const CountingSource source(1000);
  BatchLoader loader(source, options(16, 0, 1, 1));
  for (int step = 0; step < 200; ++step) {
    const auto& batch = loader.next();
    const auto copy = batch.labels;
    std::this_thread::yield();
    REQUIRE(batch.labels == copy);
  }
}

TEST_CASE("what the reading thread threw comes out of next, after the whole batches and every time it is asked again")
{
  const CountingSource source(10, 7);
  for (std::int64_t prefetch : {0, 1, 4}) {
    CAPTURE(prefetch);
    auto unshuffled = options(3, 0, 1, prefetch);
    unshuffled.shuffle = false;
    BatchLoader loader(source, unshuffled);
    CHECK(labels_of(loader, 2) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
    CHECK_THROWS_WITH(loader.next(), "sample cannot be read");
    CHECK_THROWS_WITH(loader.next(), "sample cannot be read");
  }
}

TEST_CASE("batches come in order when the caller and the reading thread take turns at reading them")
{
  const CountingSource source(977);
  BatchLoader plain(source, options(5, 0, 1, 0)), loader(source, options(5, 0, 1, 1));
  const auto expected = labels_of(plain, 2000);
  std::vector<std::int32_t> labels;
  for (int step = 0; step < 2000; ++step) {
    if (step % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20)); // the thread gets ahead
    const auto part = labels_of(loader, 1);
    labels.insert(labels.end(), part.begin(), part.end());
  }
  CHECK(labels == expected);
}

TEST_CASE("a batch that is asked for while it is being read is waited for")
{
  const CountingSource source(1000, -1, true);
  auto unshuffled = options(2, 0, 1, 2);
  unshuffled.shuffle = false;
  BatchLoader loader(source, unshuffled);
  std::vector<std::int32_t> expected(80);
  std::iota(expected.begin(), expected.end(), 0);
  std::vector<std::int32_t> labels;
  while (labels.size() < expected.size()) {
    std::this_thread::sleep_for(std::chrono::microseconds(300)); // the thread is amid the next batch
    const auto part = labels_of(loader, 1);
    labels.insert(labels.end(), part.begin(), part.end());
  }
  CHECK(labels == expected);
}

TEST_CASE("a loader can be dropped at any moment: before the first batch, amid reading ahead, after a failure")
{
  const CountingSource good(1000), bad(10, 0);
  for (int i = 0; i < 50; ++i) {
    const BatchLoader untouched(good, options(64, 0, 1, 4));
    BatchLoader used(good, options(64, 0, 1, 4));
    labels_of(used, i % 5);
    const BatchLoader failed(bad, options(4, 0, 1, 2));
  }
}

TEST_CASE("a loader refuses options that make no sense")
{
  const CountingSource source(10);
  CHECK_THROWS_WITH(BatchLoader(source, options(0, 0, 1)),
                    "A loader was asked for batches of 0 from step 0 on, 2 ahead by 1 threads, for rank 0 of 1.");
  for (const auto& senseless : {options(4, 2, 2), options(4, 0, 1, -1)})
    CHECK_THROWS_WITH(BatchLoader(source, senseless), Catch::StartsWith("A loader was asked for batches of 4 "));
  CHECK_THROWS_WITH(BatchLoader(CountingSource(0), options(4, 0, 1)),
                    "An order of 0 samples was asked for; there must be at least one.");
}

} // namespace dt::data
