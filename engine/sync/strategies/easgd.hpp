// `easgd`: the original elastic averaging SGD. A parameter server exchanges weights with the workers in turn, one at a time.
// [You2017, Original EASGD]
#pragma once

#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/exchange/served_strategy.hpp"
#include "engine/sync/vector.hpp"

namespace dt::sync {

// Every tau = sync.period steps, with alpha = eta rho, each worker in its turn and the server compute
//   W^i <- W^i - eta (g^i + rho (W^i - centre))
//   centre <- centre + eta rho (W^i - centre)
// Both use W^i and the centre from before the step. With sync.elastic: after, both use W^i from after the local step.
class Easgd : public ServedStrategy {
 public:
  explicit Easgd(const StrategyParts& parts) : Easgd(parts, true) {}
  void start(Replica& replica) override;

 protected:
  Easgd(const StrategyParts& parts, bool needs_servers);
  double work(Replica& replica, PhaseClock& clock) override;
  void serve(Replica& replica, PhaseClock& clock) override;
  // Receives the request to serve as number `turn` of a round. Here worker i + 1 never comes before worker i.
  virtual Request next(std::int64_t turn) { return servers().next_of(turn); }
  // A worker's side of an exchange: sends W to the centre; d <- alpha (W - centre).
  virtual void meet_centre(Replica& replica, PhaseClock& clock, float alpha, const Vector& d);
  // A worker's buffer with the centre as it last read it.
  Vector centre_read() { return centre_; }

 private:
  bool after_;
  OwnVector centre_, difference_; // only on a worker; empty on a server
  comm::Floats received_;         // only on a server, from its first exchange on: the weights of the worker that it serves
};

} // namespace dt::sync
