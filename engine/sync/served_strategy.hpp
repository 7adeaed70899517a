// ServedStrategy: what all strategies with parameter servers share.
#pragma once

#include "engine/sync/parameter_server.hpp"
#include "engine/sync/shared_centre.hpp"

#include <optional>

namespace dt::engine {

// Each server holds the centre's values of its part in its replica's weights; all else in them is of no meaning. A strategy that can
// do without servers has the centre in the memory of a node instead.
class ServedStrategy : public Strategy {
public:
  // Broadcasts rank 0's weights: to the workers, and to the servers as the centre.
  void start(Replica& replica) override;
  double step(Replica& replica, PhaseClock& clock) override;
  bool is_asynchronous() const override { return true; }
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  std::vector<StrategyState> state() override;
  // All workers exchange once with all servers, which update nothing.
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::int32_t> staleness() const override;
  // That this rank made of the centre, in their order.
  const std::vector<ServedUpdate>& updates() const { return log_.updates(); }

protected:
  // A recipe error without servers, unless the strategy can do without.
  ServedStrategy(const StrategyParts& parts, Cut cut, bool needs_servers = true);
  // A worker's step; returns the mean loss of its batch.
  virtual double work(Replica& replica, PhaseClock& clock) = 0;
  // A server's: one exchange for every worker, or with a worker that comes more often in another's place.
  virtual void serve(Replica& replica, PhaseClock& clock) = 0;

  const StrategyParts& parts() const { return parts_; }
  Communicator& comm() const { return parts_.comm; }
  std::int64_t workers() const { return static_cast<std::int64_t>(parts_.roles.workers.size()); }
  // This worker's request of the step in progress.
  Request request(const Replica& replica, double rate) const { return {parts_.roles.index, replica.step(), rate}; }
  ParameterServers& servers() { return *servers_; }
  // Null when there are servers.
  SharedCentre* shared() { return shared_.get(); }
  UpdateLog& log() { return log_; }
  // Ahead of this worker's own update of the shared centre.
  void log_shared_update(const Replica& replica);

private:
  void read_shared(std::span<float> centre);
  void exchange_once(std::span<const float> sent, std::span<float> received);
  StrategyParts parts_;
  Cut cut_;
  std::optional<ParameterServers> servers_; // from start() on
  std::unique_ptr<SharedCentre> shared_;    // likewise
  UpdateLog log_;
};

} // namespace dt::engine
