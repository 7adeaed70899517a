#include "engine/sync/progress.hpp"

#include "core/spec/names.hpp"
#include "core/spec/strategy_table.hpp"
#include "engine/sync/spare_core.hpp"

namespace dt::sync {
namespace {

bool all_have_spare_core(const std::vector<comm::RankPlace>& places, std::int64_t threads_per_rank)
{
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    if (!find_spare_core(places, static_cast<int>(rank), threads_per_rank)) return false;
  return true;
}

Progress with_reason(ProgressMode mode, const std::string& reason) { return {mode, std::string(name_of(mode)) + ": " + reason}; }

} // namespace

Progress choose_progress(const RunSpec& spec, const std::vector<comm::RankPlace>& places)
{
  const auto& sync = spec.sync;
  if (sync.progress != ProgressMode::automatic) return {sync.progress, {}};
  if (places.size() == 1) return with_reason(ProgressMode::none, "there is one rank");
  // With synchronized batch norm, the computing thread makes sums during the pass, so no other thread may communicate.
  const bool may_thread = spec.model.batch_norm != BatchNormSamples::synchronized;
  if (may_thread && all_have_spare_core(places, spec.resources.threads_per_rank))
    return with_reason(ProgressMode::thread, "every rank has a core to spare");
  const std::string why = may_thread ? "not every rank has a core to spare" : "batch norm is synchronized";
  if (is_library_call(sync.allreduce) && !is_coded(sync.wire) && reads(sync.strategy, "sync.allreduce"))
    return with_reason(ProgressMode::none, why + ", and the allreduce " + sync.allreduce + " cannot be polled: nothing overlaps");
  return with_reason(ProgressMode::poll, why);
}

} // namespace dt::sync
