#include "engine/data/reading/loader.hpp"

#include "core/error.hpp"
#include "core/maths/random.hpp"
#include "engine/data/out_of_memory.hpp"
#include "engine/data/reading/block_window.hpp"
#include "engine/data/reading/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace dt::data {
namespace {

void check(const BatchLoader::Options& options)
{
  if (options.batch_per_rank < 1 || options.prefetch < 0 || options.threads < 1 || options.ranks < 1 || options.rank < 0 ||
      options.rank >= options.ranks || options.first_step < 0)
    throw Error(ErrorKind::internal,
                fmt::format("A loader was asked for batches of {} from step {} on, {} ahead by {} threads, for rank {} of {}.",
                            options.batch_per_rank, options.first_step, options.prefetch, options.threads, options.rank,
                            options.ranks));
}

// Samples that one thread reads before it looks for other work: enough that looking costs nothing beside reading.
std::size_t samples_per_piece(const Source& source)
{
  constexpr std::int64_t floats = 65536;
  return static_cast<std::size_t>(std::max<std::int64_t>(1, floats / (source.channels() * source.height() * source.width())));
}

// The samples of a rank's steps, and the blocks in which they lie.
class RankOrder {
 public:
  RankOrder(const Source& source, const BatchLoader::Options& options)
      : in_samples_(source.size(), options.shuffle, options.seed), first_position_(options.rank * options.batch_per_rank),
        global_batch_(options.batch_per_rank * options.ranks)
  {
    const bool has_blocks = options.order == DataOrder::automatic ? source.has_blocks() : options.order != DataOrder::samples;
    if (!has_blocks) return;
    const BlockOrder::Options in_blocks{.samples = source.size(),
                                        .samples_per_block = std::max<std::int64_t>(
                                            1, options.block_bytes / std::max<std::int64_t>(1, source.bytes_per_sample())),
                                        .shuffle = options.shuffle && options.order != DataOrder::file,
                                        .seed = options.seed,
                                        .batch_per_rank = options.batch_per_rank,
                                        .rank = options.rank,
                                        .ranks = options.ranks};
    in_blocks_.emplace(in_blocks);
    ahead_.emplace(in_blocks);
  }

  std::int64_t position(std::int64_t step) const { return step * global_batch_ + first_position_; }
  void fill(std::int64_t step, std::span<std::int64_t> indices)
  {
    in_blocks_ ? in_blocks_->fill(step, indices) : in_samples_.fill(position(step), indices);
  }
  bool has_blocks() const { return in_blocks_.has_value(); }
  SampleRange block_of(std::int64_t index) const { return in_blocks_->block_of(index); }
  SampleRange block_after(std::int64_t step) { return ahead_->block_after(step); }

 private:
  SampleOrder in_samples_;
  std::optional<BlockOrder> in_blocks_, ahead_; // `ahead_` looks into later steps and would make `in_blocks_` go back
  std::int64_t first_position_, global_batch_;
};

// A batch in the ring buffer, with its state.
struct Slot {
  Batch batch;
  std::vector<std::int64_t> indices;
  std::vector<std::shared_ptr<AwaitedBlock>> blocks; // that of each sample; empty if the source has none
  std::int64_t position = 0;                         // in the stream, of the first sample
  std::size_t begun = 0, done = 0;                   // samples
  std::int64_t replaced = 0;                         // samples
  std::exception_ptr failure;                        // the first error while reading the batch

  bool is_begun() const { return begun == indices.size(); }
  bool is_done() const { return done == indices.size(); }
};

// Samples [begin, end) of a slot that one thread reads.
struct Piece {
  Slot* slot = nullptr;
  std::size_t begin = 0, end = 0;
};

} // namespace

// Batches are opened in order, and their samples are claimed in pieces: by the threads in advance, or by the caller if it needs a
// batch of which pieces are left. So no rank waits for a thread that gets no core (a rank pinned to one core, a busy machine).
struct BatchLoader::Impl {
 public:
  Impl(const Source& source, const Options& options)
      : source_(source), order_(source, options), batch_(static_cast<std::size_t>(options.batch_per_rank)),
        piece_(samples_per_piece(source)), first_step_(options.first_step),
        chance_(sub_key(static_cast<std::uint64_t>(options.seed), varied)),
        window_(source, options.prefetch > 0 && order_.has_blocks() && source.has_blocks()),
        slots_(static_cast<std::size_t>(options.prefetch) + 1)
  {
    if (options.prefetch == 0) return;
    try {
      threads_.reserve(static_cast<std::size_t>(options.threads));
      for (std::int64_t i = 0; i < options.threads; ++i) threads_.emplace_back([this] { read_ahead(); });
    } catch (...) { // those that were started use the other members
      stop();
      throw;
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stop(); }

  const Batch& next()
  {
    std::unique_lock lock(mutex_);
    returned_ = taken_; // the batch returned before is free now
    changed_.notify_all();
    if (opened_ == taken_) open();
    Slot& slot = slots_[taken_ % slots_.size()];
    while (!slot.is_begun()) {
      const auto piece = claim(slot);
      lock.unlock();
      read(piece);
      lock.lock();
    }
    changed_.wait(lock, [&] { return slot.is_done(); });
    if (slot.failure) std::rethrow_exception(slot.failure);
    ++taken_;
    replaced_ += slot.replaced;
    return slot.batch;
  }
  std::int64_t replaced_samples() const { return replaced_; }

 private:
  static constexpr std::uint64_t varied = 0x76617279; // part of the seed for cropping and mirroring

  void stop()
  {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void read_ahead()
  {
    // SCHED_BATCH: waking this thread must not preempt the computing caller on a shared core. Errors are ignored.
    const sched_param no_priority{};
    ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &no_priority);
    while (const auto piece = claim_ahead()) read(*piece);
  }

  // The next unclaimed piece, once its slot is free; nothing when the loader is being destroyed.
  std::optional<Piece> claim_ahead()
  {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      for (auto batch = taken_; batch < opened_; ++batch)
        if (auto& slot = slots_[batch % slots_.size()]; !slot.is_begun()) return claim(slot);
      if (opened_ - returned_ < slots_.size() && !has_failed_)
        open();
      else
        changed_.wait(lock);
    }
    return std::nullopt;
  }

  // Begins the next batch. If that fails, the batch is one without samples whose failure next() throws, whichever thread has
  // called this; no further batches are begun. The caller must hold the mutex.
  void open()
  {
    Slot& slot = slots_[opened_ % slots_.size()];
    const auto step = first_step_ + static_cast<std::int64_t>(opened_++);
    try {
      open(slot, step);
    } catch (...) {
      slot.indices.clear();
      slot.blocks.clear();
      slot.failure = failure_of([&] { return fmt::format("the batch of step {} ({} samples)", step, batch_); });
      has_failed_ = true;
      changed_.notify_all();
    }
  }

  void open(Slot& slot, std::int64_t step)
  {
    slot.begun = slot.done = 0;
    slot.replaced = 0;
    slot.failure = nullptr;
    slot.position = order_.position(step);
    slot.indices.resize(batch_);
    order_.fill(step, slot.indices);
    slot.batch.images.resize(batch_ * image_floats());
    slot.batch.labels.resize(batch_);
    if (order_.has_blocks() && source_.has_blocks()) find_blocks(slot, step);
  }

  // The caller must hold the mutex.
  void find_blocks(Slot& slot, std::int64_t step)
  {
    slot.blocks.clear();
    for (const auto index : slot.indices) {
      const auto block = order_.block_of(index);
      if (!current_ || current_->samples() != block) current_ = window_.find(block);
      slot.blocks.push_back(current_);
    }
    if (announced_ == current_->samples()) return;
    announced_ = current_->samples();
    window_.read_ahead(order_.block_after(step));
  }

  // The next samples of a slot that nobody reads. The caller must hold the mutex.
  Piece claim(Slot& slot)
  {
    const Piece piece{&slot, slot.begun, std::min(slot.begun + piece_, slot.indices.size())};
    slot.begun = piece.end;
    return piece;
  }

  // The caller must not hold the mutex: until they are read, the piece's samples belong to the reading thread.
  void read(const Piece& piece)
  {
    std::exception_ptr failure;
    std::int64_t replaced = 0;
    try {
      for (auto i = piece.begin; i < piece.end; ++i) replaced += read_sample(*piece.slot, i) ? 1 : 0;
    } catch (...) {
      failure = failure_of([&] { return fmt::format("reading samples for the batch at position {}", piece.slot->position); });
    }
    const std::lock_guard lock(mutex_);
    if (failure && !piece.slot->failure) piece.slot->failure = failure;
    piece.slot->done += piece.end - piece.begin;
    piece.slot->replaced += replaced;
    changed_.notify_all();
  }

  // Returns whether the sample was replaced.
  bool read_sample(Slot& slot, std::size_t i) const
  {
    const SampleRequest request{.index = slot.indices[i],
                                .block = slot.blocks.empty() ? nullptr : &slot.blocks[i]->get(),
                                .is_varied = true,
                                .chance = sub_key(chance_, static_cast<std::uint64_t>(slot.position) + i)};
    const auto sample = source_.read(request, slot.batch.images.data() + i * image_floats());
    slot.batch.labels[i] = sample.label;
    return sample.is_replaced;
  }

  std::size_t image_floats() const { return static_cast<std::size_t>(source_.channels() * source_.height() * source_.width()); }

  const Source& source_;
  std::mutex mutex_; // protects the members below, except samples that are being read
  std::condition_variable changed_;
  RankOrder order_;
  const std::size_t batch_, piece_; // samples
  const std::int64_t first_step_;
  const std::uint64_t chance_;
  BlockWindow window_;
  std::shared_ptr<AwaitedBlock> current_;             // block of the last sample of the last batch that was opened
  SampleRange announced_;                             // block for whose successor the window was asked
  std::vector<Slot> slots_;                           // batch n is in slot n modulo the number of slots
  std::size_t opened_ = 0, taken_ = 0, returned_ = 0; // numbers of batches so far
  std::int64_t replaced_ = 0;                         // samples of the batches that were taken; for the caller of next() only
  bool stopping_ = false, has_failed_ = false;        // has_failed_: a batch could not be begun
  std::vector<std::thread> threads_;                  // last member: they use all others
};

BatchLoader::BatchLoader(const Source& source, const Options& options)
{
  check(options);
  impl_ = std::make_unique<Impl>(source, options);
}

BatchLoader::~BatchLoader() = default;

const Batch& BatchLoader::next() { return impl_->next(); }
std::int64_t BatchLoader::replaced_samples() const { return impl_->replaced_samples(); }

} // namespace dt::data
