#include "cli/answers/failures.hpp"

#include "cli/runs/tuned_points.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/program/printed_text.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "jobs/follow/hold_back.hpp"
#include "jobs/launch/last_words.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace dt::cli {
namespace {

constexpr std::size_t quoted_lines = 10; // of a failed run's standard error

// Whether it is dtctl's own line, and the cause says the same.
bool is_told(std::string_view line, std::string_view cause)
{
  constexpr std::string_view own = "dtctl: ";
  if (!line.starts_with(own)) return false;
  const auto sentence = line.substr(own.size(), line.rfind(" (exit code ") - own.size());
  return cause.find(printable(std::string(sentence))) != std::string_view::npos;
}

} // namespace

std::string last_lines(const AttemptFolder& attempt, std::string_view cause)
{
  try {
    const auto submission = read_submission(attempt);
    const auto text = without_secrets(std::string_view(shown_text(read_file_if_exists(attempt.err()).value_or(""))));
    auto lines = jobs::program_lines(trim(text), submission ? submission->token : "");
    std::erase_if(lines, [&](const auto& line) { return is_told(line, cause); });
    if (lines.size() > quoted_lines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(quoted_lines));
    return join(lines, "\n");
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<Failure> failures_of(const Home& home, const std::vector<RunView>& runs)
{
  std::vector<Failure> failures;
  std::map<std::pair<RunState, std::string>, std::size_t> places;
  const auto ordinary = ordinary_outcomes(runs);
  for (const auto& run : runs) {
    const auto& row = run.row;
    if (!is_final(row.state) || row.state == RunState::succeeded || ordinary.contains(row.key)) continue;
    const auto [place, is_new] = places.try_emplace({row.state, jobs::kind_of_cause(row.cause)}, failures.size());
    if (is_new)
      failures.push_back(
          {.state = row.state,
           .name = row.name,
           .key = row.key,
           .cause = row.cause,
           .evidence = run.live ? run.live->verdict.evidence : "",
           .last_lines = row.attempt > 0 ? last_lines(AttemptFolder(home.run(row.key), row.attempt), row.cause) : ""});
    ++failures[place->second].runs;
  }
  return failures;
}

} // namespace dt::cli
