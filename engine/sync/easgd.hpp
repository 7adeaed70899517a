// `easgd`: elastic averaging SGD as first proposed: a parameter server exchanges weights with the workers in turn, one at a time
// (easgd-hpc, Original EASGD).
#pragma once

#include "engine/sync/served_strategy.hpp"

#include <vector>

namespace dt::engine {

// Every tau = sync.period steps, with alpha = eta rho, the worker whose turn it is and the server do
//   W^i <- W^i - eta (g^i + rho (W^i - centre))
//   centre <- centre + eta rho (W^i - centre)
// both with the W^i and the centre from before the step; with sync.elastic: after, with the W^i from after the local step.
class Easgd : public ServedStrategy {
public:
  explicit Easgd(const StrategyParts& parts) : Easgd(parts, true) {}
  void start(Replica& replica) override;

protected:
  Easgd(const StrategyParts& parts, bool needs_servers);
  double work(Replica& replica, PhaseClock& clock) override;
  void serve(Replica& replica, PhaseClock& clock) override;
  // The request that is served as the turn-th of a round: worker i + 1's never before worker i's.
  virtual Request next(std::int64_t turn) { return servers().next_of(turn); }
  // A worker's part of an exchange: gives W to the centre; d <- alpha (W - centre).
  virtual void meet_centre(Replica& replica, PhaseClock& clock, float alpha, std::span<float> d);
  // A worker's buffer for the centre as it found it.
  std::span<float> centre_read() { return centre_; }

private:
  bool after_;
  std::vector<float> centre_, difference_; // of a worker; empty on a server
};

} // namespace dt::engine
