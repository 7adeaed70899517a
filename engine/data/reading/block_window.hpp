// BlockWindow: the blocks of a file that a rank uses now, and the next one.
#pragma once

#include "engine/data/source.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace dt::data {

// A block that is read by whoever needs it first.
class AwaitedBlock {
 public:
  AwaitedBlock(const Source& source, SampleRange samples) : source_(source), samples_(samples) {}
  // Returns the block. If nobody has begun to read it, this call reads it; otherwise it waits. Throws the errors of
  // Source::fetch.
  const Block& get();
  SampleRange samples() const { return samples_; }

 private:
  const Source& source_;
  SampleRange samples_;
  std::mutex mutex_; // held while the block is read
  std::shared_ptr<const Block> block_;
};

// Keeps blocks alive as long as somebody holds them, and reads the next block in a thread of its own. The memory that it needs
// does not depend on the size of the file. May be used from several threads.
class BlockWindow {
 public:
  // source must outlive the window. has_thread false: nothing is read ahead.
  BlockWindow(const Source& source, bool has_thread);
  ~BlockWindow();
  BlockWindow(const BlockWindow&) = delete;
  BlockWindow& operator=(const BlockWindow&) = delete;

  // The block of these samples. The same object as before while anybody holds it.
  std::shared_ptr<AwaitedBlock> find(SampleRange samples);
  // Tells which block is needed after all that were found so far: the thread reads it.
  void read_ahead(SampleRange samples);

 private:
  void run();
  std::shared_ptr<AwaitedBlock> find_locked(SampleRange samples);

  const Source& source_;
  std::mutex mutex_; // protects the members below
  std::condition_variable changed_;
  std::map<std::int64_t, std::weak_ptr<AwaitedBlock>> known_; // by first sample
  std::shared_ptr<AwaitedBlock> ahead_;                       // kept until another one is
  bool is_wanted_ = false, stopping_ = false;
  std::thread thread_; // last member: it uses all others
};

} // namespace dt::data
