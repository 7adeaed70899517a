#include "core/error.hpp"
#include "engine/data/source.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace dt::data {
namespace {

void check(const BatchLoader::Options& options)
{
  if (options.batch_per_rank < 1 || options.prefetch < 0 || options.ranks < 1 || options.rank < 0 ||
      options.rank >= options.ranks || options.first_step < 0)
    throw Error(ErrorKind::internal,
                fmt::format("A loader was asked for batches of {} from step {} on, {} ahead, for rank {} of {}.",
                            options.batch_per_rank, options.first_step, options.prefetch, options.rank, options.ranks));
}

// A batch in the ring buffer, with its state.
struct Slot {
  Batch batch;
  std::vector<std::int64_t> indices;
  bool is_read = false;
  std::exception_ptr failure; // error while reading the batch
};

} // namespace

// Batches are claimed in order, and the thread that claims a batch reads it: the background thread in advance, or the caller if
// it needs a batch that nobody has claimed. So no rank waits for a background thread that gets no core (a rank pinned to one
// core, a busy machine).
struct BatchLoader::Impl {
 public:
  Impl(const Source& source, const Options& options)
      : source_(source), order_(source.size(), options.shuffle, options.seed), batch_(options.batch_per_rank),
        global_batch_(options.batch_per_rank * options.ranks), begin_(shard(global_batch_, options.rank, options.ranks).begin),
        first_step_(options.first_step), slots_(static_cast<std::size_t>(options.prefetch) + 1)
  {
    if (options.prefetch > 0) thread_ = std::thread([this] { read_ahead(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl()
  {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  const Batch& next()
  {
    std::unique_lock lock(mutex_);
    returned_ = taken_; // the batch returned before is free now
    changed_.notify_all();
    Slot& slot = slots_[taken_ % slots_.size()];
    if (claimed_ == taken_) {
      claim();
      lock.unlock();
      read(slot);
      lock.lock();
    }
    changed_.wait(lock, [&] { return slot.is_read; });
    if (slot.failure) std::rethrow_exception(slot.failure);
    ++taken_;
    return slot.batch;
  }

 private:
  void read_ahead()
  {
    // SCHED_BATCH: waking this thread must not preempt the computing caller on a shared core. Errors are ignored.
    const sched_param no_priority{};
    ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &no_priority);
    while (Slot* slot = claim_ahead()) read(*slot);
  }

  // The next unclaimed batch, once its slot is free; null when the loader is being destroyed.
  Slot* claim_ahead()
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || claimed_ - returned_ < slots_.size(); });
    return stopping_ ? nullptr : &claim();
  }

  // The caller must hold the mutex.
  Slot& claim()
  {
    Slot& slot = slots_[claimed_ % slots_.size()];
    slot.is_read = false;
    slot.indices.resize(static_cast<std::size_t>(batch_));
    const auto step = first_step_ + static_cast<std::int64_t>(claimed_++);
    order_.fill(step * global_batch_ + begin_, slot.indices);
    return slot;
  }

  // The caller must not hold the mutex: until the slot is read, it belongs to the reading thread.
  void read(Slot& slot)
  {
    try {
      read_samples(slot);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    slot.is_read = true;
    changed_.notify_all();
  }

  void read_samples(Slot& slot) const
  {
    const auto image = static_cast<std::size_t>(source_.channels() * source_.height() * source_.width());
    auto& [images, labels] = slot.batch;
    images.resize(slot.indices.size() * image);
    labels.resize(slot.indices.size());
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = source_.read(slot.indices[i], images.data() + i * image);
  }

  const Source& source_;
  std::mutex mutex_; // protects the members below, except slots that are being read
  std::condition_variable changed_;
  SampleOrder order_;
  const std::int64_t batch_, global_batch_, begin_, first_step_;
  std::vector<Slot> slots_;                            // batch n is in slot n modulo the number of slots
  std::size_t claimed_ = 0, taken_ = 0, returned_ = 0; // numbers of batches so far
  bool stopping_ = false;
  std::thread thread_; // last member: it uses all others
};

BatchLoader::BatchLoader(const Source& source, const Options& options)
{
  check(options);
  impl_ = std::make_unique<Impl>(source, options);
}

BatchLoader::~BatchLoader() = default;

const Batch& BatchLoader::next() { return impl_->next(); }

} // namespace dt::data
