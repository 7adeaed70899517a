#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/sync/sync_sgd.hpp"

#include <array>

namespace dt::engine {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Strategy> (*make)(const SyncSpec&, Communicator&);
};

template<class Kind> std::unique_ptr<Strategy> make(const SyncSpec& sync, Communicator& comm)
{
  return std::make_unique<Kind>(sync, comm);
}

constexpr std::array entries{
    Entry{"sync-sgd", make<SyncSgd>},
};

} // namespace

std::unique_ptr<Strategy> make_strategy(const SyncSpec& sync, Communicator& comm)
{
  for (const auto& entry : entries)
    if (sync.strategy == entry.name) return entry.make(sync, comm);
  throw Error(ErrorKind::recipe,
              "There is no strategy `" + printable(sync.strategy) + "`; there are: " + join(registered_strategies(), ", ") + ".");
}

std::vector<std::string> registered_strategies()
{
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::engine
