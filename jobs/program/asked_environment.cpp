#include "jobs/program/asked_environment.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/program/environment.hpp"
#include "core/program/interpreter.hpp"
#include "core/text.hpp"
#include "jobs/launch/batch_script.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/launch/last_words.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr double patience_s = 60;
constexpr std::string_view mark_of_answer = "dtctl-environment ", no_id = "-";

// The folder of the recipe, from which the program's files are copied.
std::string program_folder(const RunSpec& run)
{
  const auto& files = run.program.files;
  return files.empty() ? std::string(".") : files.front().substr(0, files.front().find("/./"));
}

// The environment of a job, for `env`.
std::vector<std::string> clean_environment()
{
  std::vector<std::string> words{"env", "-i"};
  for (const auto& [name, value] : environment_to_keep()) words.push_back(name + "=" + value);
  return words;
}

// Nothing if the line is no answer of `dtjob environment`.
std::optional<AskedEnvironment> answer_in(std::string_view line)
{
  if (!line.starts_with(mark_of_answer)) return std::nullopt;
  line.remove_prefix(mark_of_answer.size());
  const auto id = line.substr(0, line.find(' '));
  const auto why = line.substr(std::min(line.size(), id.size() + 1));
  return AskedEnvironment{id == no_id ? "" : std::string(id), std::string(why)};
}

// The script says which of its lines has failed: "dtctl: set-up line 1 failed: … (exit code 1)".
std::string reason(const CommandResult& result)
{
  if (result.timed_out) return fmt::format("the set-up lines took more than {:.0f} s", patience_s);
  if (auto own = last_words(result.err, "").own; !own.empty()) return own;
  return result.err.empty() ? fmt::format("exit code {}", result.exit_code) : printable(last_line(result.err));
}

} // namespace

std::string answer_line(const std::vector<std::string>& command, const std::filesystem::path& environments)
{
  const auto found = describe_program(command, environments);
  return fmt::format("{}{} {}\n", mark_of_answer, found.id.empty() ? no_id : found.id, printable(found.unknown));
}

std::vector<std::string> environment_inputs(const RunSpec& run)
{
  auto inputs = leading_words(run.program.command);
  inputs.push_back(program_folder(run));
  for (const auto* list : {&run.resources.setup_before, &run.resources.modules, &run.resources.setup, &run.resources.wrapper}) {
    inputs.emplace_back("\n"); // between the lists
    inputs.insert(inputs.end(), list->begin(), list->end());
  }
  inputs.push_back(run.resources.container.image);
  for (const auto& [name, value] : run.resources.env) inputs.push_back(name + "=" + value);
  return inputs;
}

AskedEnvironment ask_environment(const RunSpec& run, const std::string& agent, const std::filesystem::path& environments)
{
  if (!run.resources.wrapper.empty())
    return {{}, fmt::format("resources.wrapper ({}) starts the program", printable(run.resources.wrapper.front()))};
  if (run.has_container()) return {{}, fmt::format("it is in a container ({})", printable(run.resources.container.image))};
  auto script = preparation_script(run, *make_launcher(run.resources.launcher)) + "step='cannot start dtjob'\nexec";
  const std::vector<std::string> question{
      agent, "environment", "--folder", program_folder(run), "--environments", environments.string()};
  for (const auto& word : question) script += " " + shell_quote(word);
  for (const auto& word : leading_words(run.program.command)) script += " " + shell_quote(word);
  auto words = clean_environment();
  // The script comes through a pipe, because it may hold secrets (resources.env); what it starts reads nothing.
  words.insert(words.end(), {"bash", "-c", "eval \"$(cat)\" < /dev/null"});
  try {
    const auto result = run_command(words, patience_s, script + "\n");
    if (auto answer = result.ok() ? answer_in(printable(last_line(result.out))) : std::nullopt) return *answer;
    return {{}, reason(result)};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

} // namespace dt::jobs
