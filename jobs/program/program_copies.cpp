#include "jobs/program/program_copies.hpp"

#include "core/error.hpp"
#include "core/program/program_files.hpp"

#include <filesystem>
#include <system_error>

namespace dt::jobs {

void ProgramCopies::keep(const PlannedRun& run)
{
  if (!run.spec.is_own_program()) return;
  const std::lock_guard lock(mutex_);
  if (kept_.contains(run.engine_build)) return;
  keep_program(run.spec.program, run.engine_build, home_.program(run.engine_build));
  kept_.insert(run.engine_build);
}

void forget_kept(const AttemptFolder& attempt)
{
  const auto folder = attempt.run_folder() / "keep";
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) throw system_error("remove " + folder.string(), error.value());
}

} // namespace dt::jobs
