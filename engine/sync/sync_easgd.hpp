// `sync-easgd` (You, Buluç, Demmel: Scaling Deep Learning on GPU and Knights Landing clusters): elastic averaging with all workers
// at once, deterministic. The centre is rank 0's; every rank has the copy that it was last sent.
//
// The paper's three forms, and what they are here:
//   1  a tree broadcasts the centre and sums the weights, in place of P serial transfers. The paper keeps the centre in the host's
//      memory and weights on the devices; here both pass through staging buffers (our reading on CPUs).
//   2  all weights stay where they are computed with: no staging of the centre. On CPUs that saves two copies; so messages also go
//      along a chain of the hosts in chunks (ours), as the devices' direct links let the paper's do.
//   3  as 2, and the exchange runs while the gradients are computed: it needs only the weights from before the step.
#pragma once

#include "engine/sync/exchanges.hpp"

namespace dt::engine {

class CentreExchange;

class SyncEasgd : public Strategy {
public:
  // A recipe error for overlap 3 with elastic terms of the weights after the step. Collective.
  explicit SyncEasgd(const StrategyParts& parts);
  ~SyncEasgd() override;
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch: every rank has a model of its own.
  double step(Replica& replica, PhaseClock& clock) override;
  // Rank 0's is the centre. The others' are read by nobody before rank 0's reaches them.
  std::vector<StrategyState> state() override { return {{"centre", centre(), false}}; }
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override;

private:
  class Poller;
  BatchLoss compute(Replica& replica, PhaseClock& clock);
  void begin_exchange(Replica& replica, PhaseClock& clock);
  void end_exchange(PhaseClock& clock);
  void average(Replica& replica, PhaseClock& clock);
  void update(Replica& replica, PhaseClock& clock);
  std::span<float> centre();
  std::unique_ptr<CentreExchange> make_exchange(Replica& replica) const;
  static void stage(std::span<const float> from, std::span<float> to);

  StrategyParts parts_;
  bool after_, beside_, staged_;
  std::unique_ptr<CentreExchange> exchange_; // made by start()
  std::vector<float> own_centre_;            // form 1: apart from what is sent and received
  std::unique_ptr<Exchanges> exchanges_;     // last: its thread uses the rest
};

} // namespace dt::engine
