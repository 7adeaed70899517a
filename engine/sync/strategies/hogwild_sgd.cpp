// `hogwild-sgd`: like async-sgd, without a lock on the centre. [You2017, Hogwild SGD] [Recht2011]
//
// Updates of several workers run concurrently on the same numbers, so one update can overwrite another or be read half done; this
// is part of the algorithm. With servers, each server has sync.server_threads threads. With sync.servers: 0 every worker updates
// one centre in the memory that their node shares.
#include "engine/sync/exchange/lock_free_server.hpp"
#include "engine/sync/exchange/without_lock.hpp"
#include "engine/sync/strategies/async_sgd.hpp"

#include <memory>

namespace dt::sync {
namespace {

class HogwildSgd : public AsyncSgd {
 public:
  explicit HogwildSgd(const StrategyParts& parts) : AsyncSgd(parts, false) {}
  void start(Replica& replica) override;

 protected:
  double work(Replica& replica, PhaseClock& clock) override;
  void serve(Replica& replica, PhaseClock& clock) override;

 private:
  void answer(Replica& replica, LockFreeServer::Task& task);
  std::unique_ptr<LockFreeServer> server_; // only on a server
};

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

} // namespace

std::unique_ptr<Strategy> make_hogwild_sgd(const StrategyParts& parts) { return std::make_unique<HogwildSgd>(parts); }

} // namespace dt::sync
