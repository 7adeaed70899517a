#include "engine/data/reading/block_window.hpp"

#include "engine/data/reading/loader.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>

#include <catch2/catch.hpp>

namespace dt::data {
namespace {

// A file of numbered samples that counts its reads and the blocks that are alive.
class CountedSource final : public Source {
 public:
  struct CountedBlock final : Block {
    CountedBlock(const CountedSource& some_source, SampleRange some_samples) : source(some_source), samples(some_samples)
    {
      const int alive = ++source.alive;
      if (alive > source.most_alive) source.most_alive = alive;
    }
    ~CountedBlock() override { --source.alive; }
    const CountedSource& source;
    SampleRange samples;
  };

  explicit CountedSource(std::int64_t samples) : samples_(samples) {}
  std::int64_t size() const override { return samples_; }
  std::int64_t channels() const override { return 1; }
  std::int64_t height() const override { return 1; }
  std::int64_t width() const override { return 1; }
  std::int64_t classes() const override { return samples_; }
  std::int64_t bytes_per_sample() const override { return 10; }
  bool has_blocks() const override { return true; }

  SampleRead read(const SampleRequest& request, float* image) const override
  {
    const auto& block = dynamic_cast<const CountedBlock&>(*request.block);
    if (!block.samples.contains(request.index)) throw std::logic_error("the sample does not lie in the block");
    *image = static_cast<float>(request.index);
    return {static_cast<std::int32_t>(request.index)};
  }

  std::shared_ptr<const Block> fetch(SampleRange samples) const override
  {
    if (samples.begin == broken) throw std::runtime_error("block cannot be read");
    auto block = std::make_shared<CountedBlock>(*this, samples);
    const std::lock_guard lock(mutex_);
    fetched_.insert(samples.begin);
    ++fetches;
    changed_.notify_all();
    return block;
  }

  // Waits until the block was read.
  void wait_for(std::int64_t begin) const
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return fetched_.contains(begin); });
  }

  std::int64_t broken = -1;
  mutable std::atomic<int> alive = 0, most_alive = 0, fetches = 0;

 private:
  std::int64_t samples_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::set<std::int64_t> fetched_;
};

TEST_CASE("the next block is read while the current one is used")
{
  const CountedSource source(100);
  BatchLoader loader(source, {.batch_per_rank = 2, .shuffle = false, .block_bytes = 200, .prefetch = 1}); // 20 samples a block
  loader.next();
  source.wait_for(20); // at most 4 of the first 20 samples were asked for
  CHECK(source.fetches == 2);
}

TEST_CASE("each block is read once an epoch, and few blocks are in memory at a time")
{
  const CountedSource source(1000);
  {
    BatchLoader loader(source, {.batch_per_rank = 10, .block_bytes = 200, .prefetch = 2, .threads = 3});
    for (int step = 0; step < 100; ++step) loader.next();
    CHECK(source.fetches >= 50);
    CHECK(source.fetches <= 53); // the next epoch's first blocks are read ahead
    CHECK(source.most_alive <= 7);
  }
  CHECK(source.alive == 0);
}

TEST_CASE("a block that cannot be read fails the batch that needs it, not the one before")
{
  CountedSource source(100);
  source.broken = 20;
  BatchLoader loader(source, {.batch_per_rank = 10, .shuffle = false, .block_bytes = 200, .prefetch = 3});
  loader.next();
  loader.next();
  CHECK_THROWS_WITH(loader.next(), "block cannot be read");
}

TEST_CASE("a block that several threads need is read once")
{
  const CountedSource source(100);
  BlockWindow window(source, false);
  const auto block = window.find({0, 50});
  CHECK(window.find({0, 50}) == block);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { block->get(); });
  for (auto& thread : threads) thread.join();
  CHECK(source.fetches == 1);
}

} // namespace
} // namespace dt::data
