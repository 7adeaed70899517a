#include "jobs/program/program_copies.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/program/program_files.hpp"
#include "jobs/machine/quick_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace dt::jobs {
namespace {

bool has_steps(const AttemptFolder& attempt, int number)
{
  std::error_code none;
  const auto bytes = std::filesystem::file_size(AttemptFolder(attempt.run_folder(), number).events(), none);
  return !none && bytes > 0;
}

} // namespace

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

void note_beginning(const AttemptFolder& attempt)
{
  const auto has_trained = [&](int number) { return has_steps(attempt, number); };
  const auto folder = attempt.run_folder() / "keep";
  const bool is_empty = !is_there(folder) || std::filesystem::is_empty(folder);
  if (is_empty || std::ranges::none_of(attempt_numbers(attempt.run_folder()), has_trained))
    write_file_quick(attempt.path_of(AttemptFile::anew), "");
}

int continued_attempt(const AttemptFolder& attempt)
{
  return is_there(attempt.path_of(AttemptFile::anew)) ? 1 : attempt.number();
}

} // namespace dt::jobs
