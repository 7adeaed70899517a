// `decentralized-easgd`: elastic averaging without a server. Every rank holds a replica of the centre. [Li2021]
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/vectors.hpp"
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/exchanges.hpp"
#include "engine/sync/exchange/isolated.hpp"
#include "engine/sync/strategy.hpp"

namespace dt::sync {
namespace {

class DecentralizedEasgd : public Strategy {
 public:
  explicit DecentralizedEasgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch, because every rank trains its own model.
  double step(Replica& replica, PhaseClock& clock) override;
  bool meets(const Replica& replica) const override { return is_exchange(parts_.sync, replica.step().number); }
  // The replicas of the centre are equal, because all ranks add the same sum.
  std::vector<StrategyState> state() override { return {{"centre", centre_.host(), false}}; }
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
  OwnVector centre_, difference_;
};

DecentralizedEasgd::DecentralizedEasgd(const StrategyParts& parts)
    : parts_(parts), allreduce_(comm::make_allreduce(parts.allreduce(), parts.comm))
{
}

void DecentralizedEasgd::start(Replica& replica)
{
  parts_.comm.broadcast(replica.weights());
  centre_ = OwnVector(comm::copy_of(weights_of(replica).read()), replica);
  difference_ = OwnVector(comm::Floats(centre_.size()), replica);
  messages_ = plan_buckets(replica.tensors(), centre_.size(), bucket_bytes(parts_.sync));
}

double DecentralizedEasgd::step(Replica& replica, PhaseClock& clock)
{
  constexpr bool paper_after = true; // [Li2021]: the difference uses the weights after the local step
  const bool after = is_elastic_after(parts_.sync, paper_after);

  // g <- gradient of the loss at W over this rank's batch
  parts_.comm.activity().enter(comm::Doing::works, "computes gradients");
  const BatchLoss loss = replica.compute();
  // W <- opt(W, g)
  if (after) update(replica, clock);
  if (is_exchange(parts_.sync, replica.step().number)) exchange(replica, clock);
  if (!after) update(replica, clock);
  return loss.mean;
}

void DecentralizedEasgd::update(Replica& replica, PhaseClock& clock)
{
  clock.begin_update();
  replica.update();
  clock.end_update();
}

void DecentralizedEasgd::exchange(Replica& replica, PhaseClock& clock)
{
  // d <- alpha (W - Wc); W <- W - d
  clock.begin_update();
  split_off_difference(difference_, weights_of(replica), centre_, elastic_rate(parts_.sync, replica.step().learning_rate));
  clock.end_update();

  // d <- sum_i d^i
  parts_.comm.activity().enter(comm::Doing::waits, "waits for the sum of elastic differences");
  clock.begin_communication();
  for (const auto& message : messages_) sum_over_ranks(*allreduce_, parts_.comm, difference_.at(message));
  allreduce_->end_step();
  clock.end_communication();

  // Wc <- Wc + d
  clock.begin_update();
  add(centre_, difference_);
  clock.end_update();
}

void DecentralizedEasgd::read_centre(Replica&, std::span<float> centre) { comm::copy_to(centre_.read(), centre); }

double DecentralizedEasgd::isolated_communication_s(Replica& replica)
{
  return measure_isolated_sums_s(parts_.comm, *allreduce_, messages_, replica) / static_cast<double>(parts_.sync.period);
}

std::vector<std::pair<std::string, std::string>> DecentralizedEasgd::facts() const { return allreduce_->facts(); }

} // namespace

std::unique_ptr<Strategy> make_decentralized_easgd(const StrategyParts& parts)
{
  return std::make_unique<DecentralizedEasgd>(parts);
}

} // namespace dt::sync
