// Overseer: who may interrupt a training between two steps. This one never does.
#pragma once

#include "engine/train/checkpoint.hpp"
#include "engine/train/snapshot.hpp"

#include <string>

namespace dt::engine {

class Overseer {
public:
  // What one rank wants; what any rank wants is done by all.
  struct Wish {
    bool time_limit = false; // SIGUSR1 came
    bool preemption = false; // SIGTERM came
    bool cancel = false;     // stop without a checkpoint
    bool checkpoint = false; // write one and go on
    bool stops() const { return time_limit || preemption || cancel; }
  };
  virtual ~Overseer() = default;
  // This rank's wish now. Local and cheap.
  virtual Wish wish() { return {}; }
  // Whether the job was cancelled. Asked when all ranks have agreed to stop: the signal that one of them was told by may be how
  // the cancelling reached the job, later than this rank's wish. Local.
  virtual bool is_cancelled() { return false; }
  // To write a checkpoint, because of what all ranks wish together. Collective.
  virtual void checkpoint(const TrainingProgress& /*progress*/, const Snapshot& /*snapshot*/, const Wish& /*agreed*/) {}
  // The checkpoint of this run that a training which went wrong could go back to; empty when there is none. Any rank.
  virtual std::string last_checkpoint() const { return {}; }
};

} // namespace dt::engine
