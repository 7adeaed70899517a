// `sync-easgd`: elastic averaging with all workers at once; deterministic. [You2017, Sync EASGD]
//
// The three forms of the paper (sync.overlap), and what they are here:
//   1  A tree broadcasts the centre from rank 0 and sums the weights to rank 0, in place of P serial transfers. The paper keeps
//      the centre in host memory and the weights on the devices; here both go through staging buffers (our reading for CPUs).
//   2  All weights stay with the compute device, so nothing is staged. Our addition: every rank also keeps a replica of the
//      centre, so that one allreduce of the weights (sync.allreduce) replaces sum and broadcast, with the same number of bytes.
//      All ranks then update their replicas alike.
//   3  Like 2, but the exchange runs while the gradients are computed: it needs only the weights from before the step.
#include "core/error.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/vectors.hpp"
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/exchange/centre_exchange.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/exchanges.hpp"
#include "engine/sync/exchange/isolated.hpp"

namespace dt::sync {
namespace {

class SyncEasgd : public Strategy {
 public:
  // Throws a recipe error for overlap 3 together with sync.elastic: after. Collective.
  explicit SyncEasgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch, because every rank trains its own model.
  double step(Replica& replica, PhaseClock& clock) override;
  bool meets(const Replica& replica) const override { return is_exchange(parts_.sync, replica.step().number); }
  // Form 1: only rank 0's buffer is the centre; the other ranks overwrite theirs before they read it. Forms 2 and 3: all are
  // equal.
  std::vector<StrategyState> state() override { return {{"centre", centre_.host(), false}}; }
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  void begin_exchange(Replica& replica, PhaseClock& clock);
  void end_exchange(PhaseClock& clock);
  void average(Replica& replica, PhaseClock& clock);
  void update(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  bool after_, beside_;
  std::vector<Range> messages_;
  OwnVector centre_, sum_;
  std::unique_ptr<CentreExchange> tree_;       // form 1
  std::unique_ptr<comm::Allreduce> allreduce_; // forms 2 and 3
  std::unique_ptr<Exchanges> exchanges_;       // last member: its thread uses the others
};

SyncEasgd::SyncEasgd(const StrategyParts& parts)
    : parts_(parts), after_(is_elastic_after(parts.sync, false)), beside_(parts.sync.overlap == 3)
{
  if (beside_ && after_)
    throw Error(ErrorKind::recipe,
                "sync.overlap: 3 exchanges weights while the step is computed, but sync.elastic: after needs those "
                "from after it. Take sync.elastic: before, or sync.overlap: 2.");
  if (!beside_) parts_.sync.progress = ProgressMode::none; // no overlap, so nothing has to be advanced meanwhile
  if (parts_.sync.overlap > 1) allreduce_ = comm::make_allreduce(parts_.allreduce(), parts_.comm);
  exchanges_ = make_exchanges(parts_);
}

void SyncEasgd::start(Replica& replica)
{
  parts_.comm.broadcast(replica.weights());
  auto weights = comm::copy_of(weights_of(replica).read());
  messages_ =
      plan_buckets(replica.tensors(), weights.size(), bucket_bytes(parts_.sync, allreduce_ ? allreduce_->bucket_bytes() : 0));
  if (allreduce_) {
    sum_ = OwnVector(comm::Floats(weights.size()), replica);
    centre_ = OwnVector(std::move(weights), replica);
    return;
  }
  centre_ = OwnVector(std::move(weights)); // its tree reads and writes it
  tree_ = std::make_unique<CentreExchange>(centre_.size(), messages_, parts_.comm);
}

double SyncEasgd::step(Replica& replica, PhaseClock& clock)
{
  const bool exchanges = is_exchange(parts_.sync, replica.step().number);
  // (b) the centre to all ranks, (c) sum_i W^i: both use weights from before the step, so they may run during (a)
  if (exchanges && beside_) begin_exchange(replica, clock);
  // (a) g^i <- gradient of the loss at W^i over rank i's batch
  const BatchLoss loss = compute_beside(*exchanges_, replica, parts_.comm, clock);
  if (after_) update(replica, clock);
  if (exchanges) {
    if (!beside_) begin_exchange(replica, clock);
    end_exchange(clock);
    // (d) W^i <- W^i - alpha (W^i - Wc), (e) Wc <- Wc + alpha (sum_i W^i - P Wc)
    average(replica, clock);
  }
  // (d) W^i <- opt(W^i, g^i). The weight decay uses the weights after the elastic pull.
  if (!after_) update(replica, clock);
  return loss.mean;
}

void SyncEasgd::begin_exchange(Replica& replica, PhaseClock& clock)
{
  clock.begin_communication();
  if (allreduce_) {
    for (const auto& message : messages_)
      exchanges_->begin(sum_exchange(*allreduce_, parts_.comm, values_at(weights_of(replica), message), sum_.at(message)));
  } else {
    exchanges_->begin({[this, weights = weights_of(replica).read()] {
      comm::copy_to(weights, tree_->sum());
      if (parts_.comm.is_root()) comm::copy_to(centre_.read(), tree_->centre());
      tree_->begin()->wait();
      if (!parts_.comm.is_root()) comm::copy_to(tree_->centre(), centre_.host());
    }});
  }
  clock.end_communication();
}

void SyncEasgd::end_exchange(PhaseClock& clock)
{
  parts_.comm.activity().enter(comm::Doing::waits, "waits for the sum of weights");
  clock.begin_communication();
  for (std::size_t i = 0; i < (allreduce_ ? messages_.size() : 1); ++i) exchanges_->wait(i);
  exchanges_->clear();
  if (allreduce_) allreduce_->end_step();
  clock.end_communication();
}

void SyncEasgd::average(Replica& replica, PhaseClock& clock)
{
  const float alpha = elastic_rate(parts_.sync, replica.step().learning_rate);
  clock.begin_update();
  pull_worker(weights_of(replica), centre_, alpha);
  if (allreduce_ || parts_.comm.is_root())
    pull_centre(centre_, allreduce_ ? Vector(sum_) : Vector(tree_->sum()), alpha, parts_.comm.size());
  clock.end_update();
}

void SyncEasgd::update(Replica& replica, PhaseClock& clock)
{
  clock.begin_update();
  replica.update();
  clock.end_update();
}

void SyncEasgd::read_centre(Replica&, std::span<float> centre)
{
  comm::copy_to(centre_.read(), centre);
  if (!allreduce_) parts_.comm.broadcast_record(centre);
}

double SyncEasgd::isolated_communication_s(Replica& replica)
{
  const auto period = static_cast<double>(parts_.sync.period);
  if (allreduce_) return measure_isolated_sums_s(parts_.comm, *allreduce_, messages_, replica) / period;
  CentreExchange tree(replica.weights().size(), messages_, parts_.comm);
  return measure_isolated_s(parts_.comm, [&] { tree.begin()->wait(); }) / period;
}

std::vector<std::pair<std::string, std::string>> SyncEasgd::facts() const { return facts_of(allreduce_.get(), *exchanges_); }

} // namespace

std::unique_ptr<Strategy> make_sync_easgd(const StrategyParts& parts) { return std::make_unique<SyncEasgd>(parts); }

} // namespace dt::sync
