#include "core/error.hpp"
#include "engine/data/source.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

namespace dt::engine {
namespace {

void check(const BatchLoader::Options& options)
{
  if (options.batch_per_rank < 1 || options.prefetch < 0 || options.ranks < 1 || options.rank < 0 ||
      options.rank >= options.ranks)
    throw Error(ErrorKind::internal, fmt::format("A loader was asked for batches of {}, {} ahead, for rank {} of {}.",
                                                 options.batch_per_rank, options.prefetch, options.rank, options.ranks));
}

// Reads a rank's batches one after another.
class BatchReader {
 public:
  BatchReader(const Source& source, const BatchLoader::Options& options)
      : source_(source), order_(source.size(), options.shuffle, options.seed),
        global_batch_(options.batch_per_rank * options.ranks), position_(shard(global_batch_, options.rank, options.ranks).begin),
        indices_(static_cast<std::size_t>(options.batch_per_rank))
  {
  }

  void read(Batch& batch)
  {
    const auto image = static_cast<std::size_t>(source_.channels() * source_.height() * source_.width());
    batch.images.resize(indices_.size() * image);
    batch.labels.resize(indices_.size());
    order_.fill(position_, indices_);
    for (std::size_t i = 0; i < indices_.size(); ++i)
      batch.labels[i] = source_.read(indices_[i], batch.images.data() + i * image);
    position_ += global_batch_;
  }

 private:
  const Source& source_;
  SampleOrder order_;
  std::int64_t global_batch_, position_;
  std::vector<std::int64_t> indices_;
};

// A thread that keeps up to `ahead` batches ready. Slots go round: the caller holds one, the rest are ready or being read.
class Prefetcher {
 public:
  Prefetcher(BatchReader& reader, std::int64_t ahead)
      : reader_(reader), slots_(static_cast<std::size_t>(ahead) + 1), thread_([this] { run(); })
  {
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  ~Prefetcher()
  {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  const Batch& next()
  {
    std::unique_lock lock(mutex_);
    returned_ = taken_; // the batch handed out before is free now
    changed_.notify_all();
    changed_.wait(lock, [&] { return read_ > taken_ || failure_; });
    if (read_ == taken_) std::rethrow_exception(failure_);
    return slot(taken_++);
  }

 private:
  Batch& slot(std::size_t number) { return slots_[number % slots_.size()]; }

  void run()
  {
    try {
      while (wait_for_free_slot()) {
        reader_.read(slot(read_)); // only this thread moves read_, and the slot is nobody else's
        const std::lock_guard lock(mutex_);
        ++read_;
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  bool wait_for_free_slot()
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || read_ - returned_ < slots_.size(); });
    return !stopping_;
  }

  BatchReader& reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Batch> slots_;
  std::size_t read_ = 0, taken_ = 0, returned_ = 0; // batches so far
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_; // last: it uses all the others
};

} // namespace

struct BatchLoader::Impl {
  Impl(const Source& source, const Options& options) : reader(source, options)
  {
    if (options.prefetch > 0) prefetcher = std::make_unique<Prefetcher>(reader, options.prefetch);
  }
  BatchReader reader;
  Batch batch; // without a thread
  std::unique_ptr<Prefetcher> prefetcher;
};

BatchLoader::BatchLoader(const Source& source, const Options& options)
{
  check(options);
  impl_ = std::make_unique<Impl>(source, options);
}

BatchLoader::~BatchLoader() = default;

const Batch& BatchLoader::next()
{
  if (impl_->prefetcher) return impl_->prefetcher->next();
  impl_->reader.read(impl_->batch);
  return impl_->batch;
}

} // namespace dt::engine
