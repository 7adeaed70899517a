#include "jobs/batch_script.hpp"

#include "core/error.hpp"
#include "core/spec/run_key.hpp"
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

// Quotes a value as one shell word. Refuses NUL bytes, because no program argument can contain them.
std::string quoted(std::string_view value, std::string_view key)
{
  if (value.find('\0') != std::string_view::npos)
    throw Error(ErrorKind::recipe, std::string(key) + " contains a NUL byte, which cannot be passed to a program; remove it.");
  return shell_quote(value);
}

std::string set_line(const std::string& name, const std::string& value, std::string_view key)
{
  if (!is_identifier(name))
    throw Error(
        ErrorKind::recipe,
        std::string(key) + ": `" + printable(name) +
            "` is not a valid name of an environment variable; use letters, digits and `_`, and do not begin with a digit.");
  return "dtctl_set " + name + " " + quoted(value, std::string(key) + "." + name) + "\n";
}

// The first part of every job script. It comes before all code that can fail: it records the job's end and passes signals to the
// ranks.
constexpr std::string_view frame =
    R"sh(dtctl_launcher='' dtctl_launching='' dtctl_asked='' dtctl_interrupted='' dtctl_launches=0 dtctl_setup=''

# The attempt's last record, whole or absent.
dtctl_end() {
  local code=$?
  trap - EXIT
  if [[ -n $dtctl_setup && -z $dtctl_asked ]]; then printf 'dtctl: %s (exit code %d)\n' "$dtctl_setup" "$code" >&2; fi
  printf 'exit %d %(%s)T\n' "$code" -1 > "$dtctl_attempt/.end.$$" && mv -f -- "$dtctl_attempt/.end.$$" "$dtctl_attempt/end" ||
    echo "dtctl: the end of the job (exit code $code) could not be recorded in $dtctl_attempt" >&2
  exit "$code"
}

# A run that is cancelled or out of time is ended: SIGHUP makes mpirun and srun kill their ranks. Any other run is told to write a
# checkpoint first: SIGUSR1, which mpirun and srun pass on to the ranks.
dtctl_tell() {
  local signal=USR1
  if [[ $1 != USR1 && (-e $dtctl_attempt/cancel || -e $dtctl_attempt/stop_reason) ]]; then signal=HUP; fi
  kill -s "$signal" "$dtctl_launcher" 2> /dev/null
}

# Asked to stop: the ranks are told, and the script lives on until they are gone.
dtctl_stop() {
  dtctl_interrupted=1 dtctl_asked+=" $1"
  if [[ -n $dtctl_launcher ]]; then
    dtctl_tell "$1"
  elif [[ -z $dtctl_launching ]]; then
    [[ -e $dtctl_attempt/cancel || ($1 != USR1 && -e $dtctl_attempt/stop_reason) ]] || dtctl_stopped_short
    exit "$2"
  fi
}

# SIGUSR1 first: with a trap for EXIT bash catches every signal that would end it, and who looks whether SIGUSR1 is caught
# would take that for an ear.
dtctl_guard() {
  trap 'dtctl_stop USR1 75' USR1
  trap 'dtctl_stop TERM 143' TERM
  trap 'dtctl_stop INT 130' INT
  trap 'dtctl_stop TERM 129' HUP
  trap dtctl_end EXIT
}

dtctl_fail() {
  dtctl_setup=''
  printf 'dtctl: %s (exit code %d)\n' "$2" "$1" >&2
  exit "$1"
}

dtctl_set() { export "$1=$2" || dtctl_fail $? "cannot set the environment variable $1"; }

dtctl_put() { printf '%s\n' "$2" > "$dtctl_attempt/.$1.$$" && mv -f -- "$dtctl_attempt/.$1.$$" "$dtctl_attempt/$1"; }

# Told to stop, and ended without the ranks' own record of it: before the first step, or before the checkpoint was written. The
# step is the last that the heartbeat told, the checkpoint the last that was written on the way.
dtctl_stopped_short() {
  local beat='' step=0 steps=0 file number checkpoint='' latest=-1
  [[ ! -e $dtctl_attempt/heartbeat ]] || beat=$(< "$dtctl_attempt/heartbeat")
  if [[ $beat =~ ^beat\ [^\ ]+\ ([0-9]+)\ ([0-9]+) ]]; then step=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]}; fi
  for file in "$dtctl_attempt"/checkpoints/step-*.h5; do
    number=${file##*/step-} number=${number%.h5}
    if [[ $number =~ ^[0-9]+$ ]] && ((10#$number > latest)); then latest=$((10#$number)) checkpoint=${file##*/}; fi
  done
  dtctl_put preempted.json "{\"schema\": 1, \"unix_s\": $(date +%s), \"step\": $step, \"steps\": $steps, \"checkpoint\": \"$checkpoint\", \"signal\": \"SIG${dtctl_asked##* }\"}"
  dtctl_stopped
}

# Exit code 75: to be tried again. DTCTL_REQUEUE says that the scheduler would do so if it were asked.
dtctl_stopped() {
  if [[ ${DTCTL_REQUEUE:-0} == 1 && ! -e $dtctl_attempt/cancel ]]; then dtctl_put requeue "$(date +%s)"; fi
  exit 75
}

dtctl_guard
)sh";

constexpr std::string_view find_modules = R"(
if ! command -v module > /dev/null; then
  for dtctl_file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh "$MODULESHOME/init/bash"; do
    if [[ -r $dtctl_file ]]; then . "$dtctl_file"; break; fi
  done
fi
)";

// Arguments of dtctl_needs: a run's folder, and the run's short key for messages.
constexpr std::string_view predecessors = R"(
# A job may start when those before it have ended; only their results say that they ended well.
dtctl_needs() {
  local attempt latest=0 text=''
  for attempt in "$1"/attempts/*/; do
    attempt=${attempt%/} attempt=${attempt##*/}
    [[ $attempt =~ ^[0-9]+$ ]] && ((attempt > latest)) && latest=$attempt
  done
  [[ ! -e $1/attempts/$latest/result.json ]] || text=$(< "$1/attempts/$latest/result.json")
  [[ $text != *'"throughput"'* || $text == *'"fenced_by"'* ]] || return
  dtctl_put stop_reason "not run: run $2 did not succeed"
  dtctl_fail 1 "not run: run $2 did not succeed"
}
)";

constexpr std::string_view after_launch = R"sh(
dtctl_has_result() { [[ -s $dtctl_attempt/result.json && $(< "$dtctl_attempt/result.json") != *'"fenced_by"'* ]]; }

dtctl_has_stepped() {
  local beat=''
  [[ ! -e $dtctl_attempt/heartbeat ]] || beat=$(< "$dtctl_attempt/heartbeat")
  [[ $beat =~ ^beat\ [^\ ]+\ 0*[1-9] ]] && return
  [[ -e $dtctl_attempt/events.log ]] && grep -q '^step ' "$dtctl_attempt/events.log"
}

# A signal of our own interrupts `wait`; the ranks' answer to it is still to come.
dtctl_wait() {
  local code
  dtctl_code=127
  while :; do
    dtctl_interrupted=''
    wait "$dtctl_launcher"
    code=$?
    ((code == 127)) || dtctl_code=$code
    [[ -n $dtctl_interrupted ]] || break
  done
  dtctl_launcher=''
}

# Died before its first step, by nobody's will and without a word of its own: MPI's start-up, a node that was not ready.
dtctl_may_launch_again() {
  local word
  ((dtctl_code != 0 && dtctl_code != 126 && dtctl_code != 127 && dtctl_launches < dtctl_tries)) || return
  [[ -z $dtctl_asked ]] || return
  for word in cancel stop_reason error.json result.json preempted.json; do [[ ! -e $dtctl_attempt/$word ]] || return; done
  ! dtctl_has_stepped
}

# Ended because it was told to stop, not by an error or a crash of its own. A run that is ended at its time limit has timed out.
dtctl_was_cut_short() {
  [[ -n $dtctl_asked && ! -e $dtctl_attempt/cancel && ! -e $dtctl_attempt/error.json ]] || return
  case $dtctl_code in 132 | 133 | 134 | 135 | 136 | 139) return 1 ;; esac # SIGILL, TRAP, ABRT, BUS, FPE, SEGV
  [[ $dtctl_asked != *TERM* || ! -e $dtctl_attempt/stop_reason ]]
}

# A node of the job is gone, in the words of Open MPI or srun. Slurm does not start a job again whose script has ended by itself,
# so where it may be started again the script asks for it.
dtctl_has_lost_a_node() {
  local word
  for word in cancel stop_reason error.json; do [[ ! -e $dtctl_attempt/$word ]] || return; done
  tail -c 8192 -- "$dtctl_attempt/stderr" 2> /dev/null | grep -qE 'has lost communication with a remote daemon|Node failure on '
}

# What the earlier launch has left makes room for the next one's.
dtctl_clear() {
  [[ ! -e $dtctl_attempt/begin.json ]] || mv -- "$dtctl_attempt/begin.json" "$dtctl_attempt/begin.$dtctl_launches.json"
  rm -f -- "$dtctl_attempt"/{events.log,heartbeat,probe.json,reserve}
}

# Once, with all that can go wrong; the next try is the caller's.
dtctl_launch_once() {
  dtctl_launching=1
  dtctl_launch &
  dtctl_launcher=$!
  [[ -z $dtctl_asked ]] || dtctl_tell "${dtctl_asked##* }"
  dtctl_wait
  dtctl_launches=$((dtctl_launches + 1))
  printf 'launch %d %(%s)T %d\n' "$dtctl_launches" -1 "$dtctl_code" >> "$dtctl_attempt/launches"
}

dtctl_launch_once
while dtctl_may_launch_again; do
  printf 'launch %d ended with exit code %d before the first step and is tried again\n' "$dtctl_launches" "$dtctl_code" >&2
  dtctl_clear
  sleep "$dtctl_launches"
  [[ -n $dtctl_asked ]] || dtctl_launch_once
done
if dtctl_has_result; then exit "$dtctl_code"; fi
if [[ -e $dtctl_attempt/preempted.json ]]; then dtctl_stopped; fi
if dtctl_was_cut_short; then dtctl_stopped_short; fi
if ((dtctl_code != 0)) && [[ ${DTCTL_REQUEUE:-0} == 1 ]] && dtctl_has_lost_a_node; then dtctl_put requeue "$(date +%s)"; fi
((dtctl_code != 0)) || dtctl_fail 1 'the ranks ended with exit code 0 but left no result'
exit "$dtctl_code"
)sh";

// Contains no text that depends on the run, so that all runs of a sweep can share one file.
std::string head(const ScriptInput& input)
{
  return "#!/bin/bash\n# One attempt at a run: the folder that is named, or the one this lies in. What it trains: "
         "../../spec.json\n\n"
         "dtctl_attempt=${1:-$(cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" && pwd)}\nreadonly dtctl_attempt dtctl_tries=" +
         std::to_string(input.run.spec.resources.launch_tries) + "\n";
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

// `eval` confines a syntax error to its line: an open quote cannot swallow the rest of the script. A line may also end the script
// itself (`exit`, `set -e`), so dtctl_end reports the line that is in dtctl_setup.
std::string setup(const std::vector<std::string>& lines)
{
  if (lines.empty()) return {};
  std::string text = "\n";
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += "dtctl_setup=" + shell_quote("set-up line " + std::to_string(i + 1) + " failed: " + printable(lines[i])) + "\neval " +
            quoted(lines[i], "resources.setup") + " || dtctl_fail $? \"$dtctl_setup\"\n";
  return text + "dtctl_setup=''\ndtctl_guard\n";
}

std::string needs(const std::vector<std::filesystem::path>& run_folders)
{
  if (run_folders.empty()) return {};
  std::string text(predecessors);
  for (const auto& folder : run_folders)
    text += "dtctl_needs " + quoted(folder.string(), "a run's folder") + " " +
            shell_quote(short_key(folder.filename().string())) + "\n";
  return text;
}

// Uses `exec`, so that the script waits for the launcher itself and signals reach it.
std::string launch(const ScriptInput& input, const Launcher& launcher)
{
  const auto attempt = input.attempt.path().string();
  auto words = launcher.shield(input.run.spec);
  const auto command = launcher.command(input.run.spec, {input.engine, "run", "--attempt", attempt, "--data", input.data_folder});
  words.insert(words.end(), command.begin(), command.end());
  std::string text = "\ndtctl_launch() {\n  trap - USR1 TERM INT HUP EXIT\n  exec";
  for (const auto& word : words) text += " " + (word == attempt ? "\"$dtctl_attempt\"" : quoted(word, "the launch command"));
  return text + "\n}\n" + std::string(after_launch);
}

} // namespace

std::string batch_script(const ScriptInput& input, const Launcher& launcher)
{
  const auto& resources = input.run.spec.resources;
  return head(input) + std::string(frame) + needs(input.after) + exports(input.run.spec, launcher) + modules(resources.modules) +
         setup(resources.setup) + launch(input, launcher);
}

} // namespace dt::jobs
