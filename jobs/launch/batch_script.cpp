#include "jobs/launch/batch_script.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "jobs/launch/container.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

bool is_identifier(std::string_view name)
{
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Quotes a value as one shell word. Refuses NUL bytes, because no program argument can contain them.
std::string quoted(std::string_view value, std::string_view key)
{
  if (value.find('\0') != std::string_view::npos)
    throw Error(ErrorKind::recipe, std::string(key) + " contains a NUL byte, which cannot be passed to a program; remove it.");
  return shell_quote(value);
}

std::string assignment(const std::string& name, const std::string& value, const std::string& key)
{
  if (!is_identifier(name))
    throw Error(
        ErrorKind::recipe,
        key + ": `" + printable(name) +
            "` is not a valid name of an environment variable; use letters, digits and `_`, and do not begin with a digit.");
  return " " + name + "=" + quoted(value, key + "." + name);
}

// A command of the script. If it fails or ends the script (`exit`, `set -e`), the trap prints `failure` with the exit code.
std::string step(const std::string& failure, const std::string& command)
{
  return "step=" + shell_quote(failure) + "\n" + command + " || exit\n";
}

template<class Variables> std::string exports(const Variables& variables, const std::string& key)
{
  if (variables.empty()) return {};
  std::string command = "export";
  for (const auto& [name, value] : variables) command += assignment(name, value, key);
  return step("cannot set the variables of " + key, command);
}

// Contains no text that depends on the run, so that all runs of a sweep can share one file. The trap writes a line like
// own_line() (jobs/launch/last_words.hpp).
constexpr std::string_view head = R"sh(#!/bin/bash
# Starts one attempt of a run. `dtjob run` and `dtjob batch` call this script with the attempt's folder as its argument.
# ../../spec.json describes the run.
trap 'printf "dtctl: %s (exit code %d) [job %.6s]\n" "$step" "$?" "$DTCTL_JOB_TOKEN" >&2' EXIT
)sh";

std::string modules(const std::vector<std::string>& names)
{
  if (names.empty()) return {};
  std::string text(find_modules);
  for (const auto& name : names)
    text += step("module load " + printable(name) + " failed", "module load " + quoted(name, "resources.modules"));
  return text;
}

// `eval` confines a syntax error to its line: an open quote cannot swallow the rest of the script.
std::string setup(const std::vector<std::string>& lines, std::string_view what, std::string_view key)
{
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += step(fmt::format("{} {} failed: {}", what, i + 1, printable(lines[i])), "eval " + quoted(lines[i], key));
  return text;
}

// What `dtjob bind` becomes. Command and wrapper of the user's own program are in spec.json, which it reads.
std::vector<std::string> words_of_rank(const ScriptInput& input)
{
  const auto attempt = input.attempt.path().string();
  if (input.run.spec.is_own_program()) return {"--attempt", attempt};
  auto words = input.run.spec.resources.wrapper;
  for (const auto& word :
       {input.program, std::string("run"), std::string("--attempt"), attempt, std::string("--data"), input.data_folder})
    words.push_back(word);
  return words;
}

std::string launch(const ScriptInput& input, const Launcher& launcher)
{
  const auto& spec = input.run.spec;
  const auto attempt = input.attempt.path().string();
  std::vector<std::string> words{input.agent, "launch"};
  if (launcher.blocks_sigterm(spec) && !spec.is_simulated()) words.emplace_back("--block-sigterm");
  if (spec.resources.nodes == 1 && !spec.is_simulated()) {
    words.emplace_back("--one-node");
    // A program of the user may need transports of its own, for the memory of GPUs for example.
    if (!spec.is_own_program()) words.emplace_back("--no-network-cards");
  }
  auto launched = spec;
  for (const auto& word : pyxis_options(spec, {input.home, input.data_folder, {}}, input.agent))
    launched.resources.launcher_args.push_back(word);
  // A simulation is one process, which needs no launcher of ranks and reads no data.
  const auto command = spec.is_simulated() ? std::vector<std::string>{input.program, "run", "--attempt", attempt}
                                           : launcher.command(launched, input.agent, words_of_rank(input));
  words.insert(words.end(), command.begin(), command.end());
  std::string text = "step='cannot start dtjob'\nexec";
  for (const auto& word : words) text += " " + (word == attempt ? "\"$1\"" : quoted(word, "the launch command"));
  return text + "\n";
}

} // namespace

const std::string_view find_modules = R"sh(if ! command -v module > /dev/null; then
  for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh "$MODULESHOME/init/bash"; do
    if [[ -r $file ]]; then . "$file"; break; fi
  done
fi
)sh";

std::string preparation_script(const RunSpec& run, const Launcher& launcher)
{
  const auto& resources = run.resources;
  return std::string(head) + exports(launcher.environment(run), "the launcher") + exports(resources.env, "resources.env") +
         setup(resources.setup_before, "resources.setup_before: line", "resources.setup_before") + modules(resources.modules) +
         setup(resources.setup, "set-up line", "resources.setup");
}

std::string batch_script(const ScriptInput& input, const Launcher& launcher)
{
  return preparation_script(input.run.spec, launcher) + launch(input, launcher);
}

} // namespace dt::jobs
