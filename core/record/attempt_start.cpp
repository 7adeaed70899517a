#include "core/record/attempt_start.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace dt {

AttemptFolder require_attempt(const std::filesystem::path& path)
{
  AttemptFolder attempt(path);
  if (attempt.number() == 0)
    throw Error(ErrorKind::usage,
                "--attempt must name <run folder>/attempts/<number>, not " + printable(attempt.path().string()) + ".");
  return attempt;
}

void require_unaltered(const PlannedRun& run, const std::filesystem::path& path)
{
  const auto key = run_key(run.spec, run.engine_build, run.data_id, run.start_id, run.environment_id);
  if (key == run.key) return;
  throw Error(ErrorKind::run,
              fmt::format("{} was altered after the run was planned: its key is {}, but its content has the key {}. "
                          "Submit the recipe again: it becomes a new run.",
                          path.string(), printable(run.key), key));
}

std::optional<int> successor_of(const AttemptFolder& attempt)
{
  try {
    return fenced_by(attempt);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string fenced_off(int successor) { return fmt::format("fenced off by attempt {}: it writes nothing more", successor); }

std::string already_started(const AttemptFolder& attempt)
{
  return fmt::format(
      "{} exists: this attempt was started before, by another process. Nothing was written; to try again, make a new "
      "attempt (dtctl retry).",
      attempt.begin().string());
}

} // namespace dt
