// `sync-sgd`: synchronous SGD, the baseline of all papers. P ranks with batch b compute the same as one rank with batch Pb.
#pragma once

#include "engine/sync/exchange/gradient_sums.hpp"

namespace dt::sync {

class SyncSgd : public Strategy {
 public:
  explicit SyncSgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  double step(Replica& replica, PhaseClock& clock) override;
  void begin_measuring() override { sums_.begin_measuring(); }
  std::vector<BucketRecord> buckets() const override { return sums_.buckets(); }
  double isolated_communication_s(Replica& replica) override { return sums_.isolated_s(replica); }
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_.facts(); }

 private:
  comm::Communicator& comm_;
  std::unique_ptr<comm::Allreduce> allreduce_;
  GradientSums sums_;
};

} // namespace dt::sync
