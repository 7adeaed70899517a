// Overseer: interface to interrupt a training between two steps. This base class never does.
#pragma once

#include "engine/train/agreement/snapshot.hpp"
#include "engine/train/weights/checkpoint.hpp"

#include <string>

namespace dt::train {

class Overseer {
 public:
  // The request of one rank. All ranks carry out what any rank requests.
  struct Request {
    bool time_limit = false; // SIGUSR1 came
    bool preemption = false; // SIGTERM came
    bool cancel = false;     // stop without a checkpoint
    bool checkpoint = false; // write one and continue
    bool stops() const { return time_limit || preemption || cancel; }
    // A stop writes one too, unless it is a cancellation.
    bool asks_for_checkpoint() const { return !cancel && (checkpoint || stops()); }
  };
  virtual ~Overseer() = default;
  // This rank's request now. Local and fast.
  virtual Request request() { return {}; }
  // Whether the job was cancelled. Called after all ranks have agreed to stop, because the stop signal may be a consequence of a
  // cancellation that came after this rank's request. Local.
  virtual bool is_cancelled() { return false; }
  // Writes a checkpoint, as all ranks agreed. Collective.
  virtual void checkpoint(const TrainingProgress& /*progress*/, const Snapshot& /*snapshot*/, const Request& /*agreed*/) {}
  // The run's checkpoint to recommend after a failed training; empty if there is none. May be called on any rank.
  virtual std::string last_checkpoint() const { return {}; }
};

} // namespace dt::train
