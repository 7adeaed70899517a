#include "engine/data/reading/block_window.hpp"

#include <pthread.h>
#include <sched.h>

namespace dt::data {

const Block& AwaitedBlock::get()
{
  const std::lock_guard lock(mutex_);
  if (!block_) block_ = source_.fetch(samples_); // after an exception, the next caller tries again
  return *block_;
}

BlockWindow::BlockWindow(const Source& source, bool has_thread) : source_(source)
{
  if (has_thread) thread_ = std::thread([this] { run(); });
}

BlockWindow::~BlockWindow()
{
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<AwaitedBlock> BlockWindow::find(SampleRange samples)
{
  const std::lock_guard lock(mutex_);
  return find_locked(samples);
}

std::shared_ptr<AwaitedBlock> BlockWindow::find_locked(SampleRange samples)
{
  auto& known = known_[samples.begin];
  auto block = known.lock();
  if (!block) {
    std::erase_if(known_, [&](const auto& entry) { return entry.first != samples.begin && entry.second.expired(); });
    block = std::make_shared<AwaitedBlock>(source_, samples);
    known_[samples.begin] = block;
  }
  return block;
}

void BlockWindow::read_ahead(SampleRange samples)
{
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ahead_ = find_locked(samples);
    is_wanted_ = true;
  }
  changed_.notify_all();
}

void BlockWindow::run()
{
  // SCHED_BATCH: waking this thread must not preempt the computing thread on a shared core. Errors are ignored.
  const sched_param no_priority{};
  ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &no_priority);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || is_wanted_; });
    if (stopping_) return;
    is_wanted_ = false;
    const auto block = ahead_;
    lock.unlock();
    try {
      block->get();
    } catch (...) { // whoever needs the block reads it again and gets the error
    }
    lock.lock();
  }
}

} // namespace dt::data
