#include "core/lookup.hpp"
#include "engine/sync/strategies/async_measgd.hpp"
#include "engine/sync/strategies/async_msgd.hpp"
#include "engine/sync/strategies/decentralized_easgd.hpp"
#include "engine/sync/strategies/hogwild_easgd.hpp"
#include "engine/sync/strategies/hogwild_sgd.hpp"
#include "engine/sync/strategies/hsgd.hpp"
#include "engine/sync/strategies/local_sgd.hpp"
#include "engine/sync/strategies/sync_easgd.hpp"
#include "engine/sync/strategies/sync_sgd.hpp"

#include <array>

namespace dt::sync {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Strategy> (*make)(const StrategyParts&);
};

template<class Kind> std::unique_ptr<Strategy> make(const StrategyParts& parts) { return std::make_unique<Kind>(parts); }

constexpr std::array entries{
    Entry{"sync-sgd", make<SyncSgd>},
    Entry{"hsgd", make<Hsgd>},
    Entry{"local-sgd", make<LocalSgd>},
    Entry{"sync-easgd", make<SyncEasgd>},
    Entry{"decentralized-easgd", make<DecentralizedEasgd>},
    Entry{"async-sgd", make<AsyncSgd>},
    Entry{"async-msgd", make<AsyncMsgd>},
    Entry{"hogwild-sgd", make<HogwildSgd>},
    Entry{"easgd", make<Easgd>},
    Entry{"async-easgd", make<AsyncEasgd>},
    Entry{"async-measgd", make<AsyncMeasgd>},
    Entry{"hogwild-easgd", make<HogwildEasgd>},
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
