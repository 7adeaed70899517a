// What a recipe's strategy asks of its other keys.
#include "recipes/sync_checks.hpp"

namespace dt::recipes {
namespace {

using Problems = std::vector<Problem>;

std::string text(std::int64_t value) { return std::to_string(value); }

void check_servers(const RunSpec& spec, Problems& problems)
{
  if (spec.servers() == 0 || spec.workers() > 0) return;
  problems.push_back({{"sync.servers", "study.ranks", "study.nodes", "resources.ranks_per_node", "resources.nodes"},
                      "`" + spec.sync.strategy + "` with " + text(spec.sync.servers) + " parameter servers (`sync.servers`) needs at least " +
                          text(spec.sync.servers + 1) + " ranks, and there are " + text(spec.ranks())});
}

void check_elastic_rate(const RunSpec& spec, Problems& problems)
{
  if (spec.sync.alpha > 0 && spec.sync.rho > 0)
    problems.push_back({{"sync.alpha", "sync.rho"}, "give one of `sync.alpha` and `sync.rho`: alpha = learning rate x rho"});
}

} // namespace

void find_sync_problems(const RunSpec& spec, std::vector<Problem>& problems)
{
  check_servers(spec, problems);
  check_elastic_rate(spec, problems);
}

} // namespace dt::recipes
