#include "engine/sync/strategies/async_sgd.hpp"

namespace dt::sync {

double AsyncSgd::work(Replica& replica, PhaseClock& clock)
{
  // g <- gradient of the loss over this worker's batch, at the centre as this worker last read it
  comm().activity().enter(comm::Doing::works, "computes gradients");
  const BatchLoss loss = replica.compute();

  // send g to the servers; W <- the centre, from their answers
  clock.begin_communication();
  servers().exchange(request(replica, replica.step().learning_rate), replica.gradients(), replica.weights());
  clock.end_communication();
  return loss.mean;
}

void AsyncSgd::serve(Replica& replica, PhaseClock& clock)
{
  for (std::int64_t i = 0; i < workers(); ++i) {
    // first come, first served
    clock.begin_communication();
    const Request request = servers().next();
    servers().receive(request, replica.gradients());
    clock.end_communication();

    // centre <- opt(centre, g), at the learning rate of the worker's step
    clock.begin_update();
    replica.apply(servers().part(), replica.weights(), replica.gradients(), request.rate);
    log().add(request);
    clock.end_update();

    clock.begin_communication();
    servers().answer(request, replica.weights());
    clock.end_communication();
  }
}

std::unique_ptr<Strategy> make_async_sgd(const StrategyParts& parts) { return std::make_unique<AsyncSgd>(parts); }

} // namespace dt::sync
