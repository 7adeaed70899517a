// JobOverseer: turns signals and orders into requests to stop, and writes the job's checkpoints.
#pragma once

#include "engine/train/agreement/overseer.hpp"

#include <atomic>

namespace dt::train {

class JobOverseer : public Overseer {
 public:
  struct Options {
    AttemptFolder attempt;
    CheckpointOwner owner;
    double checkpoint_every_s = 0; // 0: only when the job must stop
    bool is_root = true;           // rank 0 checks files and clocks, and writes
  };
  explicit JobOverseer(Options options);

  // This rank's request from its signals; on rank 0 also from cancellation and from the time since the last checkpoint.
  Request request() override;
  // On rank 0: whether cancel() was called or the file `cancel` exists. False on the other ranks.
  bool is_cancelled() override;
  // Writes checkpoints/step-<n>.safetensors, keeps the last two, and reports it on stdout. A failed write is reported on stderr
  // (for periodic checkpoints only once) and loses only this checkpoint.
  void checkpoint(const TrainingProgress& progress, const Snapshot& snapshot, const Request& agreed) override;

  // Path of the latest checkpoint of this attempt or an earlier one.
  std::string last_checkpoint() const override;

  // Makes the next request a stop because of this signal; the last signal counts. May be called from any thread.
  void told_to_stop(int signal) { signal_.store(signal, std::memory_order_relaxed); }
  // Makes the next request a cancellation. May be called from any thread.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // File name of the latest checkpoint of this attempt; empty if there is none.
  std::string latest_checkpoint() const;

 private:
  void write(const TrainingProgress& progress, const Snapshot& snapshot) const;
  void complain(const TrainingProgress& progress, const std::string& cause, bool stopping);

  Options options_;
  std::atomic<int> signal_{0};
  std::atomic<bool> cancelled_{false};
  bool complained_ = false;
  double written_s_; // clock at the last checkpoint, or at construction
};

} // namespace dt::train
