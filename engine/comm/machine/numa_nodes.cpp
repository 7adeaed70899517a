#include "engine/comm/machine/numa_nodes.hpp"

#include <memory>
#include <type_traits>

#include <hwloc.h>

namespace dt::comm {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Machine = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

struct Free {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, Free>;

// Caches are left out; groups must stay, because NUMA nodes hang on them.
Machine loaded(const std::string& synthetic)
{
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  Machine topology(made);
  hwloc_topology_set_cache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (!synthetic.empty() && hwloc_topology_set_synthetic(made, synthetic.c_str()) != 0) return nullptr;
  return hwloc_topology_load(made) == 0 ? std::move(topology) : nullptr;
}

} // namespace

std::vector<int> numa_nodes_of(const std::vector<int>& cores, const std::string& synthetic)
{
  const auto topology = loaded(synthetic);
  if (!topology) return {};
  const Bitmap mask(hwloc_bitmap_alloc()), nearest(hwloc_bitmap_alloc());
  for (const int core : cores) hwloc_bitmap_set(mask.get(), static_cast<unsigned>(core));
  hwloc_bitmap_and(mask.get(), mask.get(), hwloc_topology_get_complete_cpuset(topology.get()));
  if (hwloc_bitmap_iszero(mask.get())) return {};
  hwloc_cpuset_to_nodeset(topology.get(), mask.get(), nearest.get());
  std::vector<int> nodes;
  for (int node = hwloc_bitmap_first(nearest.get()); node >= 0; node = hwloc_bitmap_next(nearest.get(), node))
    nodes.push_back(node);
  return nodes;
}

} // namespace dt::comm
