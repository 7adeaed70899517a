// The strategies by name: a line for each with the function that makes it, which is defined in strategies/.
#include "core/lookup.hpp"
#include "engine/sync/strategy.hpp"

#include <array>

namespace dt::sync {

using Make = std::unique_ptr<Strategy>(const StrategyParts&);
Make make_sync_sgd, make_hsgd, make_local_sgd, make_diloco, make_sync_easgd, make_decentralized_easgd, make_async_sgd,
    make_hogwild_sgd, make_easgd, make_async_easgd, make_hogwild_easgd;

namespace {

struct Entry {
  const char* name;
  Make* make;
};

constexpr std::array entries{
    Entry{"sync-sgd", make_sync_sgd},
    Entry{"hsgd", make_hsgd},
    Entry{"local-sgd", make_local_sgd},
    Entry{"diloco", make_diloco},
    Entry{"sync-easgd", make_sync_easgd},
    Entry{"decentralized-easgd", make_decentralized_easgd},
    Entry{"async-sgd", make_async_sgd},
    // [You2017, Async MSGD] V <- mu V - eta g; centre <- centre + V. The velocity belongs to the update rule, which the servers
    // apply: one velocity for the gradients of all workers. It is a sum of steps (Velocity::of_steps), so that a worker's eta
    // scales only its own gradients. The rule that the trainer makes is the only difference to async-sgd.
    Entry{"async-msgd", make_async_sgd},
    Entry{"hogwild-sgd", make_hogwild_sgd},
    Entry{"easgd", make_easgd},
    Entry{"async-easgd", make_async_easgd},
    // [You2017, Async MEASGD] V^i <- mu V^i - eta g^i; W^i <- W^i + V^i - eta rho (W^i - centre). The velocity belongs to the
    // worker's update rule, as a sum of steps; the rule is the only difference to async-easgd.
    Entry{"async-measgd", make_async_easgd},
    Entry{"hogwild-easgd", make_hogwild_easgd},
};

} // namespace

std::unique_ptr<Strategy> make_strategy(const StrategyParts& parts)
{
  return lookup(entries, "strategy", parts.sync.strategy).make(parts);
}

std::vector<std::string> registered_strategies()
{
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::sync
