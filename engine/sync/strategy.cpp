#include "engine/sync/strategy.hpp"

#include "core/error.hpp"
#include "core/record/field.hpp"
#include "core/spec/names.hpp"
#include "engine/comm/machine/library.hpp"
#include "engine/comm/topology_probe.hpp"
#include "engine/sync/progress.hpp"

namespace dt::sync {

void Strategy::read_centre(Replica&, std::span<float>) { throw Error(ErrorKind::internal, "this strategy has no centre"); }

double Strategy::isolated_communication_s(Replica&) { return not_measured; }

StrategyParts make_parts(const RunSpec& given, comm::Communicator& comm, const std::filesystem::path& cache)
{
  auto spec = given;
  if (!comm::has_mpi() && is_library_call(spec.sync.allreduce)) spec.sync.allreduce = "ring";
  const auto topology = spec.sync.topology == TopologySource::probe
                            ? comm::probe_topology(comm)
                            : comm::topology_of_hosts(comm, spec.resources.nodes_per_supernode);
  auto sync = spec.sync;
  const auto progress = choose_progress(spec, sync.progress == ProgressMode::automatic ? comm::gather_places(comm)
                                                                                       : std::vector<comm::RankPlace>());
  sync.progress = progress.mode;
  return {.sync = sync,
          .comm = comm,
          .topology = topology,
          .roles = make_roles(spec.sync, topology, comm.rank()),
          .cache = cache,
          .threads = spec.resources.threads_per_rank,
          .oversubscribe = spec.resources.oversubscribe,
          .noise_every = spec.train.noise_scale,
          .sums_in_pass = spec.model.batch_norm == BatchNormSamples::synchronized,
          .progress_words = progress.words};
}

} // namespace dt::sync
