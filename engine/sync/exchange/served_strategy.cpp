#include "engine/sync/exchange/served_strategy.hpp"

#include "core/error.hpp"
#include "core/record/field.hpp"
#include "engine/comm/vectors.hpp"
#include "engine/sync/exchange/isolated.hpp"

namespace dt::sync {

ServedStrategy::ServedStrategy(const StrategyParts& parts, Cut cut, bool needs_servers)
    : parts_(parts), cut_(cut), log_(parts.roles.workers.size())
{
  if (needs_servers && parts.roles.servers.empty())
    throw Error(ErrorKind::recipe,
                "The strategy `" + parts.sync.strategy + "` needs a parameter server: give sync.servers of at least 1.");
}

void ServedStrategy::start(Replica& replica)
{
  servers_.emplace(parts_, replica, cut_);
  comm().broadcast(replica.weights());
  if (parts_.roles.servers.empty()) shared_ = std::make_unique<SharedCentre>(parts_, replica.weights());
}

double ServedStrategy::step(Replica& replica, PhaseClock& clock)
{
  if (!parts_.roles.is_server) return work(replica, clock);
  serve(replica, clock);
  return not_measured;
}

void ServedStrategy::read_centre(Replica& replica, std::span<float> centre)
{
  if (shared_) return read_shared(centre);
  for (std::size_t s = 0; s < servers_->parts().size(); ++s) {
    const auto part = servers_->parts()[s];
    const auto values = values_at(centre, part);
    const int server = parts_.roles.servers[s];
    if (comm().rank() == server) comm::copy_to(values_at(replica.weights(), part), values);
    comm().broadcast_record(values, server);
  }
}

// The barriers ensure that no rank makes a step while another one reads.
void ServedStrategy::read_shared(std::span<float> centre)
{
  comm().barrier();
  comm::copy_to(shared_->values(), centre);
  comm().barrier();
}

std::vector<StrategyState> ServedStrategy::state()
{
  if (!shared_) return {};
  return {{.name = "centre", .values = shared_->values(), .per_rank = false}};
}

void ServedStrategy::log_shared_update(const Replica& replica)
{
  log_.add(ServedUpdate{.worker = parts_.roles.index, .staleness = shared_->begin_update(), .step = replica.step().number});
}

double ServedStrategy::isolated_communication_s(Replica& replica)
{
  if (parts_.roles.servers.empty()) return not_measured;
  comm::Floats sent(replica.weights().size()), received(sent.size());
  const double seconds = measure_isolated_s(comm(), [&] { exchange_once(sent, received); });
  comm().barrier(); // otherwise a server could take a request of the first step for one of these
  return is_first_worker() ? seconds / static_cast<double>(parts_.sync.period) : not_measured;
}

void ServedStrategy::exchange_once(std::span<const float> sent, std::span<float> received)
{
  if (is_first_worker()) return servers_->exchange({.worker = parts_.roles.index}, sent, received);
  if (!parts_.roles.is_server) return;
  const auto request = servers_->next();
  servers_->receive(request, received);
  servers_->answer(request, received);
}

std::vector<std::int32_t> ServedStrategy::staleness() const
{
  std::vector<std::int32_t> all;
  for (const auto& update : log_.updates()) all.push_back(update.staleness);
  return all;
}

} // namespace dt::sync
