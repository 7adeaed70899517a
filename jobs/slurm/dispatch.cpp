#include "jobs/slurm/dispatch.hpp"

#include "core/text.hpp"

#include <string_view>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

constexpr std::string_view identity = R"sh(
readonly dtctl_restart=${SLURM_RESTART_COUNT:-0}
readonly dtctl_index=${SLURM_ARRAY_TASK_ID:-}
dtctl_job=${SLURM_JOB_ID:-}
[[ -z $dtctl_index ]] || dtctl_job=${SLURM_ARRAY_JOB_ID:-}_$dtctl_index
readonly dtctl_job
readonly dtctl_host=${HOSTNAME//[^A-Za-z0-9._-]/}
dtctl_child='' dtctl_stop='' dtctl_interrupted='' dtctl_code=0 dtctl_again='' dtctl_attempt='' dtctl_limit_s=0

dtctl_say() { TZ=UTC0 printf '%(%F %T)T job %s restart %s on %s: %s\n' -1 "$dtctl_job" "$dtctl_restart" "$dtctl_host" "$1"; }

dtctl_fail() {
  dtctl_say "$1" >&2
  exit 1
}
)sh";

constexpr std::string_view signals = R"sh(
# The traps of job.sh are set. Until then a signal would end it without a word.
dtctl_listens() {
  local words name mask=0
  mapfile -d '' -t words < "/proc/$1/cmdline"
  [[ ${words[1]:-} == */job.sh ]] || return 1
  while read -r name words; do [[ $name != SigCgt: ]] || mask=$words; done < "/proc/$1/status"
  ((16#$mask & 512))
} 2> /dev/null

dtctl_pass() {
  local try
  for ((try = 0; try < 100; ++try)); do
    if dtctl_listens "$2"; then
      kill -s "$1" "$2" 2> /dev/null
      return
    fi
    kill -0 "$2" 2> /dev/null || return
    sleep 0.1
  done
}

dtctl_told() {
  dtctl_interrupted=1
  [[ $dtctl_stop == TERM ]] || dtctl_stop=$1
  dtctl_say "told to stop by SIG$1"
  # Slurm warns up to a minute early. Any earlier, and it is not the time limit that the job is warned of.
  if [[ $1 == USR1 && -n $dtctl_child && $dtctl_ladder == 0 ]] && ((SECONDS + dtctl_signal_ahead + 60 >= dtctl_limit_s)); then
    printf 'time_limit\n' > "$dtctl_attempt/stop_reason"
  fi
  [[ -z $dtctl_child ]] || dtctl_pass "$1" "$dtctl_child"
}
trap 'dtctl_told USR1' USR1
trap 'dtctl_told TERM' TERM

# A signal of our own interrupts `wait`; the child's answer to it is still to come.
dtctl_wait() {
  local code
  dtctl_code=127
  while :; do
    dtctl_interrupted=
    wait "$1"
    code=$?
    ((code == 127)) || dtctl_code=$code
    [[ -n $dtctl_interrupted ]] || return
  done
}
)sh";

constexpr std::string_view claims = R"sh(
# Creates file $1 with the line $2, unless it is there. The link decides, also on network file systems that answer twice.
dtctl_create() {
  local temporary=${1%/*}/.${1##*/}.$dtctl_host.$$ created=1
  if ! { printf '%s\n' "$2" > "$temporary" && sync -- "$temporary"; }; then
    rm -f -- "$temporary"
    return 2
  fi
  ln -- "$temporary" "$1" 2> /dev/null
  [[ $temporary -ef $1 ]] && created=0
  rm -f -- "$temporary"
  sync -- "${1%/*}"
  [[ -e $1 ]] || return 2
  return "$created"
}

dtctl_owner() {
  printf '{"schema": 1, "pid": %d, "host": "%s", "token": "%s", "job_id": "%s", "restart": %d, "unix_s": %(%s)T}' \
    "$$" "$dtctl_host" "$1" "$dtctl_job" "$dtctl_restart" -1
}

# Where an attempt's result.json stands: nothing, a fence, or a result.
dtctl_result() {
  local text
  if ! [[ -e $1/result.json ]]; then echo nothing; return; fi
  text=$(< "$1/result.json")
  if [[ $text == *'"fenced_by"'* ]]; then echo fence; else echo result; fi
}

# The attempt was made for this token: an attempt withdrawn, or made again for another submission, is not ours to run.
dtctl_is_ours() {
  [[ -r $1/submission.json && -r $1/job.sh && $(< "$1/submission.json") == *"\"token\": \"$2\""* ]]
}

# The owner is an earlier start of this same job.
dtctl_is_earlier_self() {
  local text
  text=$(< "$1/owner.json")
  [[ $text == *"\"token\": \"$2\""* && $text == *"\"job_id\": \"$dtctl_job\""* ]] || return 1
  [[ $text =~ \"restart\":\ ([0-9]+) ]] && ((BASH_REMATCH[1] < dtctl_restart))
}

# A ladder's run that was not cut off: it ended, or reached a time limit of its own after which it is not to be started again.
dtctl_has_ended_by_itself() {
  [[ -e $1/end && ! -e $1/requeue ]] || return
  [[ ! -e $1/preempted.json || (-e $1/stop_reason && $(< "$1/stop_reason") == time_limit) ]]
}

# Puts attempt $2, a claimed copy of attempt $1, into place; false when it is there already or something failed.
dtctl_replace() {
  local new=${1%/*}/.next.$dtctl_host.$$ done=1
  mkdir -- "$new" && cp -- "$1/job.sh" "$new/job.sh" &&
    sed -E -e "s/\"attempt\": *[0-9]+/\"attempt\": ${2##*/}/" -e "s/\"restart\": *[0-9]+/\"restart\": $dtctl_restart/" \
      "$1/submission.json" > "$new/submission.json" &&
    dtctl_create "$new/owner.json" "$(dtctl_owner "$3")" && sync -- "$new"/* && ! [[ -e $2 ]] && mv -T -- "$new" "$2" && done=0
  rm -rf -- "$new"
  sync -- "${1%/*}"
  return "$done"
}

# Finds the attempt that this job is to run, from attempt $1 of token $2 on, and claims it: dtctl_attempt.
dtctl_take() {
  local attempt=$1 token=$2 next state
  while :; do
    dtctl_is_ours "$attempt" "$token" || { dtctl_say "$attempt is not there for $token any more: nothing is run"; return 1; }
    [[ ! -e $attempt/cancel ]] || { dtctl_say "$attempt was cancelled: nothing is run"; return 1; }
    state=$(dtctl_result "$attempt")
    [[ $state != result ]] || { dtctl_say "$attempt has a result: nothing is left to do"; return 1; }
    if [[ $state == nothing ]] && ! [[ -e $attempt/owner.json ]]; then
      dtctl_create "$attempt/owner.json" "$(dtctl_owner "$token")"
      case $? in
        0)
          rm -f -- "$attempt/stop_reason" # of a start that was stopped before this attempt's turn
          dtctl_attempt=$attempt
          return 0
          ;;
        2) dtctl_fail "$attempt cannot be claimed: owner.json cannot be written (is the disk full or read-only?)" ;;
      esac
    fi
    [[ -e $attempt/owner.json ]] || { dtctl_say "$attempt was fenced off before it began: nothing is run"; return 1; }
    dtctl_is_earlier_self "$attempt" "$token" || { dtctl_say "$attempt is somebody else's: nothing is run"; return 1; }
    if [[ $dtctl_ladder == 1 ]] && dtctl_has_ended_by_itself "$attempt"; then
      dtctl_say "$attempt has ended by itself: nothing is run"
      return 1
    fi
    next=${attempt%/*}/$((10#${attempt##*/} + 1))
    if [[ -e $next ]]; then
      attempt=$next
      continue
    fi
    dtctl_create "$attempt/result.json" "{\"schema\": 1, \"fenced_by\": ${next##*/}}"
    case $(dtctl_result "$attempt") in
      result) continue ;;
      nothing) dtctl_fail "$attempt cannot be fenced off: result.json cannot be written (is the disk full or read-only?)" ;;
    esac
    if dtctl_replace "$attempt" "$next" "$token"; then
      dtctl_say "$attempt is fenced off; $next takes its place"
      dtctl_attempt=$next
      return 0
    fi
    [[ -e $next ]] || dtctl_fail "$next cannot be made (is the disk full or read-only?)"
  done
}
)sh";

constexpr std::string_view running = R"sh(
# job.sh records its own end; when it was killed, this is all that can still be said. A ladder's run that was killed with its job
# gets no end: with one it would count as ended by itself when the job is started again.
dtctl_record_end() {
  [[ ! -e $1/end && -e $1/job.sh ]] || return
  [[ $dtctl_ladder == 0 || -z $dtctl_stop || -e $1/stop_reason || -e $1/cancel ]] || return
  dtctl_say "$1: job.sh left no end; its exit code was $2"
  printf 'exit %d %(%s)T\n' "$2" -1 > "$1/.end.$$" && mv -f -- "$1/.end.$$" "$1/end"
}

# A ladder's run has its own time limit, which Slurm knows nothing of. $1: job.sh's process, $2: limit in seconds, $3: attempt.
# It waits by reading what nobody writes: with no child of its own it can be killed without leaving one.
dtctl_limit() {
  local ahead=0 never
  trap - TERM USR1
  exec {never}<> <(:)
  ((dtctl_signal_ahead >= $2)) || ahead=$dtctl_signal_ahead
  read -r -t "$(($2 - ahead))" -u "$never"
  printf 'time_limit\n' > "$3/stop_reason"
  if ((ahead > 0)); then
    dtctl_pass USR1 "$1"
    read -r -t "$ahead" -u "$never"
  fi
  dtctl_pass TERM "$1"
  read -r -t 30 -u "$never"
  kill -s KILL -- "-$1"
} > /dev/null 2>&1

# The first $1 nodes of the job, for mpirun; srun is told their number.
dtctl_narrow() {
  local hosts
  hosts=$(scontrol show hostnames "${SLURM_JOB_NODELIST:-}") || dtctl_fail "scontrol does not tell the job's nodes"
  head -n "$1" <<< "$hosts" > "$dtctl_attempt/hosts"
  (($(grep -c . "$dtctl_attempt/hosts") == $1)) || dtctl_fail "$dtctl_attempt needs $1 nodes, and the job has fewer: $hosts"
  export OMPI_MCA_orte_default_hostfile=$dtctl_attempt/hosts
}

# Runs the claimed dtctl_attempt of token $1 on $2 nodes, at most $3 seconds when it is a ladder's.
dtctl_run() {
  local attempt=$dtctl_attempt timer=''
  dtctl_limit_s=$3
  export DTCTL_JOB_TOKEN=$1 DTCTL_JOB_ID=$dtctl_job DTCTL_REQUEUE=$((dtctl_requeue > dtctl_restart))
  [[ $dtctl_ladder == 0 ]] || dtctl_narrow "$2"
  dtctl_say "runs $attempt"
  # A session of its own, so that what is left of it can be ended as a whole.
  setsid bash "$attempt/job.sh" "$attempt" < /dev/null >> "$attempt/stdout" 2>> "$attempt/stderr" &
  dtctl_child=$!
  [[ -z $dtctl_stop ]] || dtctl_pass "$dtctl_stop" "$dtctl_child"
  if [[ $dtctl_ladder == 1 ]]; then
    dtctl_limit "$dtctl_child" "$3" "$attempt" &
    timer=$!
    disown "$timer"
  fi
  dtctl_wait "$dtctl_child"
  dtctl_child=
  [[ -z $timer ]] || kill -s KILL "$timer" 2> /dev/null
  dtctl_record_end "$attempt" "$dtctl_code"
  [[ ! -e $attempt/requeue ]] || dtctl_again=$attempt
  dtctl_say "$attempt has ended with exit code $dtctl_code"
}

# Told to stop before the turn of attempt $1: it waits for the next start, or it is said why there is none.
dtctl_skip() {
  if ((dtctl_requeue > dtctl_restart)); then
    dtctl_again=${dtctl_again:-$1}
  elif [[ -d $1 && ! -e $1/owner.json ]]; then
    printf 'not started: its job was told to stop by SIG%s before its turn came\n' "$dtctl_stop" > "$1/stop_reason"
  fi
}

# Who was ended by scancel is not to come back; ahead of a time limit or within the grace of a preemption the job still runs.
dtctl_requeue_job() {
  local state
  state=$(squeue --noheader --jobs="$dtctl_job" --format=%T 2>&1)
  if [[ $state == RUNNING || $state == PREEMPTED ]] && scontrol requeue "$dtctl_job"; then
    dtctl_say 'asked Slurm to start this job again'
    return
  fi
  dtctl_say "is not started again by this script; Slurm says: $state"
  # In a ladder the marker stays: it says that the run was cut off, should Slurm start the job again by itself.
  [[ $dtctl_ladder == 1 ]] || rm -f -- "$dtctl_again/requeue"
}
)sh";

constexpr std::string_view main_part = R"sh(
readonly dtctl_line='^([0-9]+) ([jal][0-9a-f]{16}\.[0-9]+) ([0-9]+) ([0-9]+) (/.+/attempts/[0-9]+)$'

# One line of `tasks`: index, token, nodes, time limit in seconds, attempt.
dtctl_task() {
  local token=${BASH_REMATCH[2]} nodes=${BASH_REMATCH[3]} limit=${BASH_REMATCH[4]} attempt=${BASH_REMATCH[5]}
  if [[ -n $dtctl_stop ]]; then
    dtctl_skip "$attempt"
  elif dtctl_take "$attempt" "$token"; then
    dtctl_run "$token" "$nodes" "$limit"
    ((dtctl_worst != 0)) || dtctl_worst=$dtctl_code
  fi
}

[[ -n $dtctl_job && $dtctl_job != _* ]] || dtctl_fail 'this script is for Slurm to run: SLURM_JOB_ID is not set'
mapfile -t dtctl_tasks 2> /dev/null < "$dtctl_batch/tasks" ||
  dtctl_fail "$dtctl_batch/tasks cannot be read; the runs of this batch were not started"
dtctl_worst=0 dtctl_found=0
for dtctl_text in "${dtctl_tasks[@]}"; do
  [[ $dtctl_text =~ $dtctl_line ]] || dtctl_fail "$dtctl_batch/tasks: a line is damaged, and nothing is run for it: $dtctl_text"
  [[ $dtctl_ladder == 1 || -z $dtctl_index || ${BASH_REMATCH[1]} == "$dtctl_index" ]] || continue
  [[ ${BASH_REMATCH[2]} == ?"${dtctl_batch##*/}.${BASH_REMATCH[1]}" ]] ||
    dtctl_fail "$dtctl_batch/tasks: a line is of another batch, and nothing is run for it: $dtctl_text"
  dtctl_found=1
  dtctl_task
  [[ $dtctl_ladder == 1 ]] || break
done
((dtctl_found)) || dtctl_fail "$dtctl_batch/tasks has no line for task ${dtctl_index:-0}; nothing is run"
[[ -z $dtctl_again ]] || dtctl_requeue_job
exit "$dtctl_worst"
)sh";

} // namespace

std::string dispatch_script(const DispatchInput& input)
{
  return fmt::format(
             "#!/bin/bash\n# Starts the run{} of a batch. Written by dtctl; jobs/slurm/dispatch.hpp tells its rules.\nset -u\n"
             "readonly dtctl_batch={}\nreadonly dtctl_ladder={:d} dtctl_requeue={} dtctl_signal_ahead={}\n",
             input.ladder ? "s" : "", shell_quote(input.batch_folder.string()), input.ladder, input.requeue,
             input.signal_ahead_s) +
         std::string(identity) + std::string(signals) + std::string(claims) + std::string(running) + std::string(main_part);
}

} // namespace dt::jobs::slurm
