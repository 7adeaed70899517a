#include "cli/runs/attempt_history.hpp"

#include "core/text.hpp"

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
  if (p.steps == 0) return fmt::format("stopped on {} at step {}", p.signal, p.step); // of the user's own program
  return fmt::format("stopped on {} at step {} of {}, {}", p.signal, p.step, p.steps,
                     p.checkpoint.empty() ? "without a checkpoint" : "checkpoint " + p.checkpoint);
}

// How the attempt ended; the most specific evidence comes first.
std::string end_words(const AttemptRecord& attempt)
{
  if (attempt.preemption) return preemption_words(*attempt.preemption);
  if (const auto& error = attempt.error) return fmt::format("rank {} on {}: {}", error->rank, error->host, error->cause);
  if (attempt.cancel) return "cancelled";
  if (attempt.stop_reason) return "stopped: " + attempt.stop_reason->line();
  return attempt.end ? fmt::format("ended with exit code {}", attempt.end->exit_code) : "";
}

} // namespace

std::string history_of(const AttemptRecord& attempt)
{
  std::vector<std::string> parts;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) parts.push_back(part);
  };
  if (const auto& submission = attempt.submission; submission && submission->restart > 0)
    add(fmt::format("restart {} of its job", submission->restart));
  if (const auto& result = attempt.result; result && result->resumed_step > 0)
    add(fmt::format("continued from step {}", result->resumed_step));
  if (attempt.launches.size() > 1) add(launch_words(attempt.launches));
  const auto how = attempt.divergence.empty() ? "" : ", but " + std::string(diverged_word) + attempt.divergence;
  add(attempt.has_result ? "succeeded" + how : end_words(attempt));
  if (attempt.requeue_asked) add("dtctl asked the scheduler to start it again");
  if (attempt.fenced_by) add(fmt::format("attempt {} replaced it", *attempt.fenced_by));
  return join(parts, "; ");
}

} // namespace dt::cli
