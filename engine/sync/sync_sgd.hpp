// `sync-sgd`: synchronous SGD, the form all papers compare with. P ranks of batch b equal one rank of batch Pb.
#pragma once

#include "engine/sync/gradient_sums.hpp"

namespace dt::engine {

class SyncSgd : public Strategy {
public:
  explicit SyncSgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  double step(Replica& replica, PhaseClock& clock) override;
  double isolated_communication_s(Replica& replica) override { return sums_.isolated_s(replica); }
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_.facts(); }

private:
  Communicator& comm_;
  std::unique_ptr<Allreduce> allreduce_;
  GradientSums sums_;
};

} // namespace dt::engine
