// ScratchPool: memory that threads need while they read a sample, kept for the next sample.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace dt::data {

// May be used from several threads.
template<class Scratch> class ScratchPool {
 public:
  // Gives the object back when it is destroyed.
  class Lease {
   public:
    Lease(ScratchPool& pool, std::unique_ptr<Scratch> scratch) : pool_(pool), scratch_(std::move(scratch)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease()
    {
      const std::lock_guard lock(pool_.mutex_);
      try {
        pool_.free_.push_back(std::move(scratch_));
      } catch (const std::bad_alloc&) { // the object is freed; the next one to need one makes a new one
      }
    }
    Scratch& operator*() const { return *scratch_; }
    Scratch* operator->() const { return scratch_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Scratch> scratch_;
  };

  // An object that nobody uses; a new one if there is none.
  Lease lease()
  {
    std::unique_ptr<Scratch> scratch;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        scratch = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!scratch) scratch = std::make_unique<Scratch>();
    return Lease(*this, std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

} // namespace dt::data
