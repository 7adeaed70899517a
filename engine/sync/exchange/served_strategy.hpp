// ServedStrategy: base class of all strategies with parameter servers.
#pragma once

#include "engine/sync/exchange/parameter_server.hpp"
#include "engine/sync/exchange/shared_centre.hpp"

#include <optional>

namespace dt::sync {

// Each server keeps the centre's values of its part in its replica's weights; the rest of these weights has no meaning. A
// strategy that can run without servers then keeps the centre in the shared memory of a node.
class ServedStrategy : public Strategy {
 public:
  // Broadcasts rank 0's weights: workers start from them, and servers use them as the centre.
  void start(Replica& replica) override;
  double step(Replica& replica, PhaseClock& clock) override;
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  std::vector<StrategyState> state() override;
  // Workers never wait for each other, only for servers.
  bool meets(const Replica&) const override { return false; }
  // Measures the exchange of the first worker alone with all servers, which update nothing. not_measured on other ranks, so a
  // worker's longer exchange in a step is time in the servers' queues.
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::int32_t> staleness() const override;
  // The updates of the centre that this rank made, in order.
  const std::vector<ServedUpdate>& updates() const { return log_.updates(); }

 protected:
  // Throws a recipe error if there are no servers, unless needs_servers is false.
  ServedStrategy(const StrategyParts& parts, Cut cut, bool needs_servers = true);
  // A worker's step. Returns the mean loss of its batch.
  virtual double work(Replica& replica, PhaseClock& clock) = 0;
  // A server's step: as many exchanges as there are workers. A fast worker may take the place of a slower one.
  virtual void serve(Replica& replica, PhaseClock& clock) = 0;

  const StrategyParts& parts() const { return parts_; }
  comm::Communicator& comm() const { return parts_.comm; }
  std::int64_t workers() const { return static_cast<std::int64_t>(parts_.roles.workers.size()); }
  // This worker's request for the current step.
  Request request(const Replica& replica, double rate) const { return {parts_.roles.index, replica.step().number, rate}; }
  ParameterServers& servers() { return *servers_; }
  // Null if there are servers.
  SharedCentre* shared() { return shared_.get(); }
  UpdateLog& log() { return log_; }
  // Logs this worker's own update of the shared centre. Call it just before the update.
  void log_shared_update(const Replica& replica);

 private:
  void read_shared(std::span<float> centre);
  bool is_first_worker() const { return !parts_.roles.is_server && parts_.roles.index == 0; }
  void exchange_once(std::span<const float> sent, std::span<float> received);
  StrategyParts parts_;
  Cut cut_;
  std::optional<ParameterServers> servers_; // set by start()
  std::unique_ptr<SharedCentre> shared_;    // set by start(), if there are no servers
  UpdateLog log_;
};

} // namespace dt::sync
