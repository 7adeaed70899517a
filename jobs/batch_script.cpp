#include "jobs/batch_script.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string_view>

namespace dt::jobs {
namespace {

bool is_identifier(std::string_view name)
{
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// A value as one shell word. No program can be given a NUL byte, so none may be asked for.
std::string quoted(std::string_view value, std::string_view key)
{
  if (value.find('\0') != std::string_view::npos)
    throw Error(ErrorKind::recipe, std::string(key) + " holds a NUL byte, which cannot be handed to a program; remove it.");
  return shell_quote(value);
}

std::string set_line(const std::string& name, const std::string& value, std::string_view key)
{
  if (!is_identifier(name))
    throw Error(ErrorKind::recipe,
                std::string(key) + ": `" + printable(name) +
                    "` is not the name of an environment variable; use letters, digits and `_`, no digit first.");
  return "dtctl_set " + name + " " + quoted(value, std::string(key) + "." + name) + "\n";
}

// What every job needs before anything can go wrong: the record of its end, and signals passed on to the ranks.
constexpr std::string_view frame = R"(dtctl_launcher=

# The attempt's last record, whole or absent.
dtctl_end() {
  local code=$?
  trap - EXIT
  printf 'exit %d %(%s)T\n' "$code" -1 > "$dtctl_attempt/.end.$$" && mv -f -- "$dtctl_attempt/.end.$$" "$dtctl_attempt/end" ||
    echo "dtctl: the end of the job (exit code $code) could not be recorded in $dtctl_attempt" >&2
  exit "$code"
}

# Asked to stop: the ranks are told, and the script lives on until they are gone.
dtctl_stop() {
  [[ -n $dtctl_launcher ]] || exit "$2"
  kill -s "$1" "$dtctl_launcher" 2> /dev/null
}

dtctl_guard() {
  trap dtctl_end EXIT
  trap 'dtctl_stop TERM 143' TERM
  trap 'dtctl_stop INT 130' INT
  trap 'dtctl_stop TERM 129' HUP
}

dtctl_fail() {
  printf 'dtctl: %s (exit code %d)\n' "$2" "$1" >&2
  exit "$1"
}

dtctl_set() { export "$1=$2" || dtctl_fail $? "cannot set the environment variable $1"; }

dtctl_guard
)";

constexpr std::string_view find_modules = R"(
if ! command -v module > /dev/null; then
  for dtctl_file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh "$MODULESHOME/init/bash"; do
    if [[ -r $dtctl_file ]]; then . "$dtctl_file"; break; fi
  done
fi
)";

constexpr std::string_view wait_for_ranks = R"(dtctl_launcher=$!
wait "$dtctl_launcher"
dtctl_code=$?
# A signal of our own interrupts `wait`; the ranks' answer to it is still to come.
while ((dtctl_code > 128)) && kill -0 "$dtctl_launcher" 2> /dev/null; do
  wait "$dtctl_launcher"
  dtctl_code=$?
done
exit "$dtctl_code"
)";

std::string head(const ScriptInput& input)
{
  const auto& spec = input.run.spec;
  auto title = spec.name + (spec.label.empty() ? "" : " / " + spec.label) + ", repeat " + std::to_string(spec.repeat);
  return "#!/bin/bash\n# " + printable(title) + "\n# run " + input.run.key + ", attempt " +
         std::to_string(input.attempt.number()) +
         "\n\nreadonly dtctl_attempt=" + quoted(input.attempt.path().string(), "the attempt's folder") + "\n";
}

std::string exports(const RunSpec& spec, const Launcher& launcher)
{
  std::string text = "\n";
  for (const auto& [name, value] : launcher.environment(spec)) text += set_line(name, value, "the launcher");
  for (const auto& [name, value] : spec.resources.env) text += set_line(name, value, "resources.env");
  return text;
}

std::string modules(const std::vector<std::string>& names)
{
  if (names.empty()) return {};
  std::string text(find_modules);
  for (const auto& name : names)
    text += "module load " + quoted(name, "resources.modules") + " || dtctl_fail $? " +
            shell_quote("module load " + printable(name) + " failed") + "\n";
  return text;
}

// A line's own syntax errors end with it: `eval` keeps an open quote from swallowing the rest of the script.
std::string setup(const std::vector<std::string>& lines)
{
  if (lines.empty()) return {};
  std::string text = "\n";
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += "eval " + quoted(lines[i], "resources.setup") + " || dtctl_fail $? " +
            shell_quote("set-up line " + std::to_string(i + 1) + " failed: " + printable(lines[i])) + "\n";
  return text + "dtctl_guard\n";
}

std::string launch(const ScriptInput& input, const Launcher& launcher)
{
  const auto words = launcher.command(
      input.run.spec, {input.engine, "run", "--attempt", input.attempt.path().string(), "--data", input.data_folder});
  std::string text = "\n";
  for (const auto& word : words) text += quoted(word, "the launch command") + " ";
  return text + "&\n" + std::string(wait_for_ranks);
}

} // namespace

std::string batch_script(const ScriptInput& input, const Launcher& launcher)
{
  const auto& resources = input.run.spec.resources;
  return head(input) + std::string(frame) + exports(input.run.spec, launcher) + modules(resources.modules) +
         setup(resources.setup) + launch(input, launcher);
}

} // namespace dt::jobs
