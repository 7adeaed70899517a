// `decentralized-easgd` (swFLOW): elastic averaging without a server. Every rank holds a replica of the centre.
#pragma once

#include "engine/sync/strategy.hpp"

namespace dt::engine {

class DecentralizedEasgd : public Strategy {
public:
  explicit DecentralizedEasgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch: every rank has a model of its own.
  double step(Replica& replica, PhaseClock& clock) override;
  // The centre's replicas are equal, for all ranks add the same sum.
  std::vector<StrategyState> state() override { return {{"centre", centre_, false}}; }
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override;

private:
  void update(Replica& replica, PhaseClock& clock);
  void exchange(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  std::unique_ptr<Allreduce> allreduce_;
  std::vector<Stretch> messages_; // summed one after another
  std::vector<float> centre_, difference_;
};

} // namespace dt::engine
