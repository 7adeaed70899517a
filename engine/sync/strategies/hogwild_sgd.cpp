#include "engine/sync/strategies/hogwild_sgd.hpp"

#include "engine/sync/exchange/without_lock.hpp"

namespace dt::sync {

void HogwildSgd::start(Replica& replica)
{
  AsyncSgd::start(replica);
  if (parts().roles.is_server)
    server_ = std::make_unique<LockFreeServer>(parts().sync.server_threads, replica.weights().size(),
                                               [this, &replica](LockFreeServer::Task& task) { answer(replica, task); });
}

double HogwildSgd::work(Replica& replica, PhaseClock& clock)
{
  if (shared() == nullptr) return AsyncSgd::work(replica, clock);
  const auto centre = shared()->values();

  // g <- gradient of the loss over this worker's batch, at the centre as this worker last read it
  comm().activity().enter(comm::Doing::works, "computes gradients");
  const BatchLoss loss = replica.compute();

  clock.begin_update();
  log_shared_update(replica);
  // centre <- centre - eta g; other workers may do the same concurrently
  apply_without_lock(replica, {0, centre.size()}, centre, replica.gradients(), replica.step().learning_rate);
  // W <- centre
  read_without_lock(centre, replica.weights());
  clock.end_update();
  return loss.mean;
}

void HogwildSgd::serve(Replica& /*replica*/, PhaseClock& clock)
{
  clock.begin_communication();
  server_->serve(workers(), servers(), log());
  clock.end_communication();
}

// Runs in a thread of the server.
void HogwildSgd::answer(Replica& replica, LockFreeServer::Task& task)
{
  const auto part = servers().part();
  // centre <- centre - eta g; other threads may do the same concurrently
  apply_without_lock(replica, part, replica.weights(), task.received, task.request.rate);
  // W^i <- centre
  read_without_lock(values_at(replica.weights(), part), values_at(std::span(task.answer), part));
}

} // namespace dt::sync
