#include "engine/sync/strategies/easgd.hpp"

#include "engine/sync/exchange/elastic.hpp"

namespace dt::sync {

Easgd::Easgd(const StrategyParts& parts, bool needs_servers)
    : ServedStrategy(parts, Cut::floats, needs_servers), after_(is_elastic_after(parts.sync, false))
{
}

void Easgd::start(Replica& replica)
{
  ServedStrategy::start(replica);
  if (parts().roles.is_server) return;
  const auto size = weights_of(replica).size();
  centre_ = OwnVector(comm::Floats(size), replica);
  difference_ = OwnVector(comm::Floats(size), replica);
}

double Easgd::work(Replica& replica, PhaseClock& clock)
{
  const bool exchanges = is_exchange(parts().sync, replica.step().number);
  const float alpha = elastic_rate(parts().sync, replica.step().learning_rate);

  // g <- gradient of the loss at W over this worker's batch
  comm().activity().enter(comm::Doing::works, "computes gradients");
  const BatchLoss loss = replica.compute();

  // d <- alpha (W - centre), with W from before the local step
  if (exchanges && !after_) meet_centre(replica, clock, alpha, difference_);

  // W <- opt(W, g)
  clock.begin_update();
  replica.update();
  clock.end_update();

  // the same with W from after the local step
  if (exchanges && after_) meet_centre(replica, clock, alpha, difference_);

  // W <- W - d
  clock.begin_update();
  if (exchanges) subtract(weights_of(replica), difference_);
  clock.end_update();
  return loss.mean;
}

void Easgd::meet_centre(Replica& replica, PhaseClock& clock, float alpha, const Vector& d)
{
  clock.begin_communication();
  servers().exchange(request(replica, alpha), weights_of(replica).read(), centre_.host());
  clock.end_communication();

  clock.begin_update();
  take_difference(d, weights_of(replica), centre_, alpha);
  clock.end_update();
}

void Easgd::serve(Replica& replica, PhaseClock& clock)
{
  if (!is_exchange(parts().sync, replica.step().number)) return;
  const auto part = servers().part();
  const auto centre = values_at(replica.weights(), part);
  received_.grow(replica.weights().size());

  for (std::int64_t turn = 0; turn < workers(); ++turn) {
    // receive W^i from the worker; send it the centre
    clock.begin_communication();
    const Request request = next(turn);
    servers().receive(request, received_);
    servers().answer(request, replica.weights());
    clock.end_communication();

    // centre <- centre + alpha (W^i - centre), with alpha of the worker's step
    clock.begin_update();
    pull_centre(centre, values_at(std::span(received_), part), static_cast<float>(request.rate));
    log().add(request);
    clock.end_update();
  }
}

std::unique_ptr<Strategy> make_easgd(const StrategyParts& parts) { return std::make_unique<Easgd>(parts); }

} // namespace dt::sync
