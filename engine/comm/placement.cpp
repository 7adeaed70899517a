#include "engine/comm/placement.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::comm {
namespace {

std::string remedy(const RankThreads& threads)
{
  return fmt::format("Give the job more cores or other binding (resources.launcher_args), lower resources.ranks_per_node or "
                     "resources.threads_per_rank, {}{}or set resources.oversubscribe: true (timings then mean little).",
                     threads.decode > 0 ? "lower data.decode_threads, " : "",
                     threads.communication > 0 ? "take sync.progress: poll, " : "");
}

// The ranks of one host, and the cores that any of them may use.
struct Node {
  std::size_t ranks = 0;
  std::set<int> cores;
};

std::map<std::string, Node> nodes_of(const std::vector<RankPlace>& places)
{
  std::map<std::string, Node> nodes;
  for (const auto& place : places) {
    auto& node = nodes[place.host];
    ++node.ranks;
    node.cores.insert(place.cores.begin(), place.cores.end());
  }
  return nodes;
}

// Gives the rank a core, moving others to another core of theirs if need be (an augmenting path of the matching).
bool place_rank(std::size_t rank, std::span<const RankPlace> places, std::map<int, std::size_t>& owners, std::set<int>& tried)
{
  for (const int core : places[rank].cores) {
    if (!tried.insert(core).second) continue;
    const auto owner = owners.find(core);
    if (owner != owners.end() && !place_rank(owner->second, places, owners, tried)) continue;
    owners[core] = rank;
    return true;
  }
  return false;
}

} // namespace

bool have_own_cores(std::span<const RankPlace> places)
{
  std::map<int, std::size_t> owners; // rank of each core
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    std::set<int> tried;
    if (!place_rank(rank, places, owners, tried)) return false;
  }
  return true;
}

int node_count(const std::vector<RankPlace>& places) { return static_cast<int>(nodes_of(places).size()); }

void require_cores(const std::vector<RankPlace>& places, const RankThreads& threads)
{
  const auto needed = static_cast<std::size_t>(threads.compute + threads.communication + threads.decode);
  const auto compute = counted(static_cast<std::size_t>(threads.compute), "thread");
  const auto others = [&](std::string_view each) {
    std::string text;
    if (threads.communication > 0) text += fmt::format(" and {} more{} for sync.progress: thread", threads.communication, each);
    if (threads.decode > 0) text += fmt::format(" and {} more{} for data.decode_threads", threads.decode, each);
    return text;
  };
  for (std::size_t r = 0; r < places.size(); ++r)
    if (needed > places[r].cores.size())
      throw Error(ErrorKind::run,
                  fmt::format("Rank {} on {} may use {} (mask {}), but needs {}: {} for resources.threads_per_rank{}. {}", r,
                              places[r].host, counted(places[r].cores.size(), "core"), mask_text(places[r].cores), needed,
                              compute, others(""), remedy(threads)));
  for (const auto& [host, node] : nodes_of(places))
    if (node.ranks * needed > node.cores.size())
      throw Error(ErrorKind::run,
                  fmt::format("The {} on {} share {} (mask {}), but need {}: {} each{}. {}", counted(node.ranks, "rank"), host,
                              counted(node.cores.size(), "core"), mask_text({node.cores.begin(), node.cores.end()}),
                              node.ranks * needed, compute, others(" each"), remedy(threads)));
}

} // namespace dt::comm
