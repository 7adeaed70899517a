// `decentralized-easgd`: elastic averaging without a server. Every rank holds a replica of the centre. [Li2021]
#pragma once

#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/strategy.hpp"

namespace dt::sync {

class DecentralizedEasgd : public Strategy {
 public:
  explicit DecentralizedEasgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch, because every rank trains its own model.
  double step(Replica& replica, PhaseClock& clock) override;
  bool meets(const Replica& replica) const override { return is_exchange(parts_.sync, replica.step().number); }
  // The replicas of the centre are equal, because all ranks add the same sum.
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
  std::unique_ptr<comm::Allreduce> allreduce_;
  std::vector<Range> messages_; // ranges that are summed one after another
  comm::Floats centre_, difference_;
};

} // namespace dt::sync
