// `sync-easgd`: elastic averaging with all workers at once; deterministic. [You2017, Sync EASGD]
//
// The three forms of the paper (sync.overlap), and what they are here:
//   1  A tree broadcasts the centre from rank 0 and sums the weights to rank 0, in place of P serial transfers. The paper keeps
//      the centre in host memory and the weights on the devices; here both go through staging buffers (our reading for CPUs).
//   2  All weights stay with the compute device, so nothing is staged. Our addition: every rank also keeps a replica of the
//      centre, so that one allreduce of the weights (sync.allreduce) replaces sum and broadcast, with the same number of bytes.
//      All ranks then update their replicas alike.
//   3  Like 2, but the exchange runs while the gradients are computed: it needs only the weights from before the step.
#pragma once

#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/exchanges.hpp"

namespace dt::sync {

class CentreExchange;

class SyncEasgd : public Strategy {
 public:
  // Throws a recipe error for overlap 3 together with sync.elastic: after. Collective.
  explicit SyncEasgd(const StrategyParts& parts);
  ~SyncEasgd() override;
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch, because every rank trains its own model.
  double step(Replica& replica, PhaseClock& clock) override;
  bool meets(const Replica& replica) const override { return is_exchange(parts_.sync, replica.step().number); }
  // Form 1: only rank 0's buffer is the centre; the other ranks overwrite theirs before they read it. Forms 2 and 3: all are
  // equal.
  std::vector<StrategyState> state() override { return {{"centre", centre_, false}}; }
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  class Poller;
  BatchLoss compute(Replica& replica, PhaseClock& clock);
  void begin_exchange(Replica& replica, PhaseClock& clock);
  void begin_allreduce(std::span<const float> weights);
  void end_exchange(PhaseClock& clock);
  void average(Replica& replica, PhaseClock& clock);
  void update(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  bool after_, beside_;
  std::vector<Range> messages_;
  comm::Floats centre_, sum_;
  std::unique_ptr<CentreExchange> tree_;       // form 1
  std::unique_ptr<comm::Allreduce> allreduce_; // forms 2 and 3
  std::unique_ptr<Exchanges> exchanges_;       // last member: its thread uses the others
};

} // namespace dt::sync
