#include "engine/sync/sync_easgd.hpp"

#include "core/error.hpp"
#include "engine/sync/buckets.hpp"
#include "engine/sync/centre_exchange.hpp"
#include "engine/sync/elastic.hpp"
#include "engine/sync/isolated.hpp"

#include <algorithm>

namespace dt::engine {

// Between two layers of the backward pass.
class SyncEasgd::Poller : public GradientListener {
public:
  Poller(Exchanges& exchanges, PhaseClock& clock) : exchanges_(exchanges), clock_(clock) {}
  void gradients_ready(const Stretch&) override
  {
    clock_.begin_communication();
    exchanges_.advance();
    clock_.end_communication();
  }

private:
  Exchanges& exchanges_;
  PhaseClock& clock_;
};

SyncEasgd::SyncEasgd(const StrategyParts& parts)
    : parts_(parts), after_(is_elastic_after(parts.sync, false)), beside_(parts.sync.overlap == 3), staged_(parts.sync.overlap == 1)
{
  if (beside_ && after_)
    throw Error(ErrorKind::recipe, "sync.overlap: 3 exchanges weights while the step is computed, but sync.elastic: after needs those "
                                   "from after it. Take sync.elastic: before, or sync.overlap: 2.");
  if (!beside_) parts_.sync.progress = "none"; // nothing to move on meanwhile
  exchanges_ = make_exchanges(parts_);
}

SyncEasgd::~SyncEasgd() = default;

void SyncEasgd::start(Replica& replica)
{
  parts_.comm.broadcast(replica.weights());
  exchange_ = make_exchange(replica);
  if (staged_) own_centre_.resize(replica.weights().size());
  std::ranges::copy(replica.weights(), centre().begin());
}

double SyncEasgd::step(Replica& replica, PhaseClock& clock)
{
  if (!is_exchange(parts_.sync, replica.step())) {
    const BatchLoss loss = replica.compute();
    update(replica, clock);
    return loss.mean;
  }
  if (beside_) begin_exchange(replica, clock);
  // (a) g^i <- gradient of the loss at W^i over rank i's batch
  const BatchLoss loss = compute(replica, clock);
  if (after_) update(replica, clock);
  // (b) the centre from rank 0 to all ranks, (c) sum_i W^i to rank 0
  if (!beside_) begin_exchange(replica, clock);
  end_exchange(clock);
  // (d) W^i <- W^i - alpha (W^i - Wc), beside it on rank 0 (e) Wc <- Wc + alpha (sum_i W^i - P Wc)
  average(replica, clock);
  // (d) W^i <- opt(W^i, g^i). Weight decay sees the weights after their pull.
  if (!after_) update(replica, clock);
  return loss.mean;
}

BatchLoss SyncEasgd::compute(Replica& replica, PhaseClock& clock)
{
  parts_.comm.activity().enter("computes gradients");
  Poller poller(*exchanges_, clock);
  try {
    return replica.compute(exchanges_->is_polled() ? &poller : nullptr);
  } catch (...) {
    exchanges_->clear(); // the other ranks take part in what was begun, whatever happens here
    throw;
  }
}

void SyncEasgd::begin_exchange(Replica& replica, PhaseClock& clock)
{
  const auto begin = [this, weights = replica.weights()] {
    stage(weights, exchange_->sum()); // the sum is made in place, and the weights stay
    if (staged_ && parts_.comm.is_root()) stage(own_centre_, exchange_->centre());
    return exchange_->begin();
  };
  clock.begin_communication();
  exchanges_->begin({[begin] { begin()->wait(); }, begin});
  clock.end_communication();
}

void SyncEasgd::end_exchange(PhaseClock& clock)
{
  parts_.comm.activity().enter("waits for the centre");
  clock.begin_communication();
  exchanges_->wait(0);
  if (staged_ && !parts_.comm.is_root()) stage(exchange_->centre(), own_centre_);
  exchanges_->clear();
  clock.end_communication();
}

void SyncEasgd::average(Replica& replica, PhaseClock& clock)
{
  const float alpha = elastic_rate(parts_.sync, replica.learning_rate());
  clock.begin_update();
  pull_worker(replica.weights(), centre(), alpha);
  if (parts_.comm.is_root()) pull_centre(centre(), exchange_->sum(), alpha, parts_.comm.size());
  clock.end_update();
}

void SyncEasgd::update(Replica& replica, PhaseClock& clock)
{
  clock.begin_update();
  replica.update();
  clock.end_update();
}

std::span<float> SyncEasgd::centre() { return staged_ ? std::span(own_centre_) : exchange_->centre(); }

void SyncEasgd::stage(std::span<const float> from, std::span<float> to) { std::ranges::copy(from, to.begin()); }

std::unique_ptr<CentreExchange> SyncEasgd::make_exchange(Replica& replica) const
{
  constexpr std::size_t everything = std::size_t{1} << 62;
  std::vector<Part> parts;
  const auto n = replica.weights().size();
  for (const auto& message : plan_buckets(replica.tensors(), n, parts_.sync.pack ? everything : 1))
    parts.emplace_back(message.offset, message.end());
  return std::make_unique<CentreExchange>(staged_ ? Way::tree : Way::chain, n, parts, parts_.topology, parts_.comm);
}

void SyncEasgd::read_centre(Replica&, std::span<float> centre)
{
  if (parts_.comm.is_root()) std::ranges::copy(this->centre(), centre.begin());
  parts_.comm.broadcast_record(centre);
}

double SyncEasgd::isolated_communication_s(Replica& replica)
{
  const auto own = make_exchange(replica);
  return measure_isolated_s(parts_.comm, [&] { own->begin()->wait(); }) / static_cast<double>(parts_.sync.period);
}

std::vector<std::pair<std::string, std::string>> SyncEasgd::facts() const
{
  if (const auto place = exchanges_->place(); !place.empty()) return {{"communication thread", place}};
  return {};
}

} // namespace dt::engine
