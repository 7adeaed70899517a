// `hogwild-easgd`: like async-easgd, without a lock on the centre. [You2017, Hogwild EASGD]
//
// Elastic differences of several workers are added to the same numbers concurrently, so one addition can overwrite another; this
// is part of the algorithm. With servers, each server has sync.server_threads threads. With sync.servers: 0 the centre lies in
// the memory that the workers' node shares.
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/lock_free_server.hpp"
#include "engine/sync/exchange/without_lock.hpp"
#include "engine/sync/strategies/easgd.hpp"

#include <memory>

namespace dt::sync {
namespace {

class HogwildEasgd : public Easgd {
 public:
  explicit HogwildEasgd(const StrategyParts& parts) : Easgd(parts, false) {}
  void start(Replica& replica) override;

 protected:
  void serve(Replica& replica, PhaseClock& clock) override;
  void meet_centre(Replica& replica, PhaseClock& clock, float alpha, const Vector& d) override;

 private:
  void answer(Replica& replica, LockFreeServer::Task& task);
  std::unique_ptr<LockFreeServer> server_; // only on a server
};

void HogwildEasgd::start(Replica& replica)
{
  Easgd::start(replica);
  if (parts().roles.is_server)
    server_ = std::make_unique<LockFreeServer>(parts().sync.server_threads, replica.weights().size(),
                                               [this, &replica](LockFreeServer::Task& task) { answer(replica, task); });
}

void HogwildEasgd::meet_centre(Replica& replica, PhaseClock& clock, float alpha, const Vector& d)
{
  if (shared() == nullptr) return Easgd::meet_centre(replica, clock, alpha, d);
  clock.begin_update();
  log_shared_update(replica);
  // d <- alpha (W - centre), with the centre as this worker reads it
  read_without_lock(shared()->values(), centre_read().host());
  take_difference(d, weights_of(replica), centre_read(), alpha);
  // centre <- centre + d; other workers may do the same concurrently
  add_without_lock(shared()->values(), d.read());
  clock.end_update();
}

void HogwildEasgd::serve(Replica& replica, PhaseClock& clock)
{
  if (!is_exchange(parts().sync, replica.step().number)) return;
  clock.begin_communication();
  server_->serve(workers(), servers(), log());
  clock.end_communication();
}

// Runs in a thread of the server.
void HogwildEasgd::answer(Replica& replica, LockFreeServer::Task& task)
{
  const auto in_part = [part = servers().part()](std::span<float> values) { return values_at(values, part); };
  const auto centre = in_part(replica.weights()), weights = in_part(task.received), found = in_part(task.answer),
             d = in_part(task.scratch);
  // the answer to the worker: the centre as this thread reads it
  read_without_lock(centre, found);
  // d <- alpha (W^i - centre), as the worker computes it from the answer
  take_difference(d, weights, found, static_cast<float>(task.request.rate));
  // centre <- centre + d; other threads may do the same concurrently
  add_without_lock(centre, d);
}

} // namespace

std::unique_ptr<Strategy> make_hogwild_easgd(const StrategyParts& parts) { return std::make_unique<HogwildEasgd>(parts); }

} // namespace dt::sync
