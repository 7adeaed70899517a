#include "cli/planning/planned_again.hpp"

#include "cli/runs/checkpoints.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"

namespace dt::cli {
namespace {

// Refuses a run whose engine build, data or initial weights have changed: its key contains them, so it would be another run.
void refuse_changed(const PlannedRun& run, Identities& identities)
{
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::usage, "run " + short_key(run.key) + " was made with another " + what +
                                      " than the current one; submit its recipe again, which creates new runs");
  };
  const bool has_copy = run.spec.is_own_program() && is_there(identities.home().program(run.engine_build));
  if (!has_copy && run.engine_build != identities.build_of(run.spec))
    refuse(run.spec.is_own_program() ? "content of program.files"
           : run.spec.is_simulated() ? "build of dtsim"
                                     : "build of dtengine");
  if (run.spec.is_simulated()) {
    if (run.data_id != identities.simulation(run.spec)) refuse("content of " + run.spec.train.compute_profile);
    return;
  }
  if (run.data_id != identities.data(run.spec.data)) refuse("content of data set " + run.spec.data.name);
  if (!run.environment_id.empty()) {
    const auto& now = identities.environment(run.spec).id;
    if (!now.empty() && now != run.environment_id) refuse("Python environment");
  }
  if (run.spec.is_own_program()) return;
  const bool begins_again = checkpoints_of(identities.home().run(run.key)).empty();
  if (begins_again && run.start_id != identities.start(run.spec.train.start_from))
    refuse("content of " + run.spec.train.start_from);
}

} // namespace

std::vector<PlannedRun> planned_again(const std::vector<std::string>& keys, Identities& identities)
{
  std::vector<PlannedRun> planned;
  for (const auto& key : keys) {
    planned.push_back(read_planned_run(identities.home().run(key)));
    refuse_changed(planned.back(), identities);
  }
  return planned;
}

} // namespace dt::cli
