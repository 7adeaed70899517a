#include "cli/runs/attempt_story.hpp"

#include "core/file.hpp"
#include "core/text.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string launch_words(const std::vector<Launch>& launches)
{
  std::vector<std::string> codes;
  for (const auto& launch : launches) codes.push_back(std::to_string(launch.exit_code));
  return fmt::format("launched {} times (exit codes {})", launches.size(), join(codes, ", "));
}

std::string preemption_words(const Preemption& p)
{
  return fmt::format("stopped on {} at step {} of {}, {}", p.signal, p.step, p.steps,
                     p.checkpoint.empty() ? "without a checkpoint" : "checkpoint " + p.checkpoint);
}

// How the attempt ended; the most specific evidence comes first.
std::string end_words(const AttemptFolder& attempt)
{
  if (const auto preemption = read_preemption(attempt)) return preemption_words(*preemption);
  if (const auto error = read_error(attempt)) return fmt::format("rank {} on {}: {}", error->rank, error->host, error->cause);
  if (is_there(attempt.cancel())) return "cancelled";
  if (const auto reason = read_file_if_exists(attempt.stop_reason())) return "stopped: " + std::string(trim(*reason));
  const auto end = read_end(attempt);
  return end ? fmt::format("ended with exit code {}", end->exit_code) : "";
}

} // namespace

std::string story_of(const AttemptFolder& attempt)
{
  std::vector<std::string> parts;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) parts.push_back(part);
  };
  const auto submission = read_submission(attempt);
  const auto [result, fenced_by] = read_outcome(attempt);
  const auto launches = read_launches(attempt);
  if (submission && submission->restart > 0) add(fmt::format("restart {} of its job", submission->restart));
  if (result && result->resumed_step > 0) add(fmt::format("continued from step {}", result->resumed_step));
  if (launches.size() > 1) add(launch_words(launches));
  add(result ? "succeeded" : end_words(attempt));
  if (is_there(attempt.requeue())) add("dtctl asked the scheduler to start it again");
  if (fenced_by) add(fmt::format("attempt {} replaced it", *fenced_by));
  return join(parts, "; ");
}

} // namespace dt::cli
