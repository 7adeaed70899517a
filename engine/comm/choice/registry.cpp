#include "core/lookup.hpp"
#include "core/spec/names.hpp"
#include "core/spec/run_spec.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/comm/allreduce/hierarchical.hpp"
#include "engine/comm/allreduce/scheduled_allreduce.hpp"
#include "engine/comm/choice/dynamic.hpp"

#include <array>

namespace dt::comm {

using Make = std::unique_ptr<Allreduce>(const AllreduceOptions&, Communicator&);
Make make_mpi, make_coded; // defined in allreduce/

namespace {

struct Entry {
  const char* name;
  Make* make;
};

template<class Kind> std::unique_ptr<Allreduce> make(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<Kind>(options, comm);
}

constexpr std::array entries{
    Entry{"mpi", make_mpi},
    Entry{"ring", make_ring},
    Entry{"halving-doubling", make_halving_doubling},
    Entry{"tree", make_tree},
    Entry{"hierarchical", make<HierarchicalAllreduce>},
    Entry{"topology-aware", make_topology_aware},
    Entry{"gloo", make<GlooAllreduce>},
    Entry{"dynamic", make<DynamicAllreduce>},
};

} // namespace

std::unique_ptr<Allreduce> make_allreduce(const AllreduceOptions& options, Communicator& comm)
{
  auto complete = options;
  if (complete.topology.node.empty()) complete.topology = topology_of_hosts(comm, 0);
  const auto& entry = lookup(entries, "allreduce", options.algorithm);
  if (is_coded(options.wire)) return make_coded(options, comm);
  return entry.make(complete, comm);
}

std::vector<std::string> registered_allreduces()
{
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::comm
