// JobOverseer: stops a job that was told to stop, and writes its checkpoints.
#pragma once

#include "engine/train/overseer.hpp"

#include <atomic>

namespace dt::engine {

class JobOverseer : public Overseer {
public:
  struct Options {
    AttemptFolder attempt;
    CheckpointOwner owner;
    double checkpoint_every_s = 0; // 0: only when the job is told to stop
    bool is_root = true;           // rank 0 looks at files and clocks, and writes
  };
  explicit JobOverseer(Options options);

  // Of the signals this rank was told of; on rank 0 also of the cancelling and of the time since the last checkpoint.
  Wish wish() override;
  // On rank 0: whether it was told so, or the file `cancel` is there.
  bool is_cancelled() override;
  // Writes checkpoints/step-<n>.h5, keeps the last two, and says so on stdout. A disk that refuses is told on stderr (once,
  // for those that are written on the way) and costs no more than this checkpoint.
  void checkpoint(const TrainingProgress& progress, const Snapshot& snapshot, const Wish& agreed) override;

  // Of this attempt or an earlier one, with its path.
  std::string last_checkpoint() const override;

  // The next wish is to stop, by that signal (the last one counts). Any thread.
  void told_to_stop(int signal) { signal_.store(signal, std::memory_order_relaxed); }
  // The next wish is to cancel. Any thread.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // File name of the latest checkpoint of this attempt; empty when there is none.
  std::string latest_checkpoint() const;

private:
  void write(const TrainingProgress& progress, const Snapshot& snapshot) const;
  void complain(const TrainingProgress& progress, const std::string& cause, bool stopping);

  Options options_;
  std::atomic<int> signal_{0};
  std::atomic<bool> cancelled_{false};
  bool complained_ = false;
  double written_s_; // clock at the last checkpoint, or at the beginning
};

} // namespace dt::engine
