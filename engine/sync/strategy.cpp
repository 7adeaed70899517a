#include "engine/sync/strategy.hpp"

#include "core/error.hpp"
#include "engine/comm/topology_probe.hpp"

namespace dt::engine {

void Strategy::read_centre(Replica&, std::span<float>) { throw Error(ErrorKind::internal, "this strategy has no centre"); }

double Strategy::isolated_communication_s(Replica&) { return not_measured; }

StrategyParts make_parts(const RunSpec& spec, Communicator& comm, const std::filesystem::path& cache)
{
  const auto topology =
      spec.sync.topology == "probe" ? probe_topology(comm) : topology_of_hosts(comm, spec.resources.nodes_per_supernode);
  return {spec.sync, comm, topology, make_roles(spec.sync, topology, comm.rank()), cache,
          spec.resources.threads_per_rank, spec.resources.oversubscribe};
}

} // namespace dt::engine
