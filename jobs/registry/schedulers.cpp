#include "jobs/registry/schedulers.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/names.hpp"
#include "jobs/local/kind.hpp"
#include "jobs/slurm/kind.hpp"

#include <array>

namespace dt::jobs {

std::span<const SchedulerKind* const> scheduler_kinds()
{
  static const local::LocalKind local;
  static const slurm::SlurmKind slurm;
  static const std::array<const SchedulerKind*, 2> kinds{&local, &slurm};
  return kinds;
}

const SchedulerKind& scheduler_kind(const std::string& name)
{
  for (const auto* kind : scheduler_kinds())
    if (kind->name() == name) return *kind;
  throw Error(ErrorKind::recipe, unknown_name("scheduler", name, strings_of(scheduler_names())));
}

} // namespace dt::jobs
