#include "engine/sync/served_strategy.hpp"

#include "core/error.hpp"
#include "engine/comm/clock.hpp"

#include <algorithm>

namespace dt::engine {

ServedStrategy::ServedStrategy(const StrategyParts& parts, Cut cut, bool needs_servers)
    : parts_(parts), cut_(cut), log_(parts.roles.workers.size())
{
  if (needs_servers && parts.roles.servers.empty())
    throw Error(ErrorKind::recipe, "The strategy `" + parts.sync.strategy + "` needs a parameter server: give sync.servers of at least 1.");
}

void ServedStrategy::start(Replica& replica)
{
  servers_.emplace(parts_, replica, cut_);
  comm().broadcast(replica.weights());
}

double ServedStrategy::step(Replica& replica, PhaseClock& clock)
{
  if (!parts_.roles.is_server) return work(replica, clock);
  serve(replica, clock);
  return not_measured;
}

void ServedStrategy::read_centre(Replica& replica, std::span<float> centre)
{
  for (std::size_t s = 0; s < servers_->parts().size(); ++s) {
    const auto part = servers_->parts()[s];
    const auto values = centre.subspan(part.offset, part.size);
    const int server = parts_.roles.servers[s];
    if (comm().rank() == server) std::ranges::copy(replica.weights().subspan(part.offset, part.size), values.begin());
    comm().broadcast_record(values, server);
  }
}

double ServedStrategy::isolated_communication_s(Replica& replica)
{
  if (parts_.roles.servers.empty()) return not_measured;
  const auto counted = comm().traffic();
  std::vector<float> sent(replica.weights().size()), received(sent.size());
  time_of_exchanges(sent, received); // connections are made and pages touched
  std::vector<double> times(3);
  for (auto& time : times) time = time_of_exchanges(sent, received);
  comm().barrier(); // no step's request may be taken for one of these
  comm().traffic() = counted;
  std::ranges::sort(times);
  return times[1] / static_cast<double>(parts_.sync.period);
}

double ServedStrategy::time_of_exchanges(std::span<const float> sent, std::span<float> received)
{
  comm().barrier();
  const double begin = monotonic_s();
  if (!parts_.roles.is_server) servers_->exchange({parts_.roles.index, 0, 0}, sent, received);
  for (std::int64_t i = 0; parts_.roles.is_server && i < workers(); ++i) {
    const auto request = servers_->next();
    servers_->receive(request, received);
    servers_->answer(request, received);
  }
  return monotonic_s() - begin;
}

std::vector<std::int32_t> ServedStrategy::staleness() const
{
  std::vector<std::int32_t> all;
  for (const auto& update : log_.updates()) all.push_back(update.staleness);
  return all;
}

} // namespace dt::engine
