#!/bin/bash
# One attempt at a run: the folder that is named, or the one this lies in. What it trains: ../../spec.json

dtctl_attempt=${1:-$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)}
readonly dtctl_attempt dtctl_tries=3
dtctl_launcher='' dtctl_launching='' dtctl_asked='' dtctl_interrupted='' dtctl_launches=0 dtctl_setup=''

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

dtctl_set OMPI_ALLOW_RUN_AS_ROOT 1
dtctl_set OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
dtctl_set OMP_DYNAMIC false
dtctl_set OMP_NUM_THREADS 2
dtctl_set OMP_PROC_BIND false
dtctl_set LINES 'one
two'
dtctl_set PLAIN 1
dtctl_set QUOTED 'it'\''s "$HOME"'

if ! command -v module > /dev/null; then
  for dtctl_file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh "$MODULESHOME/init/bash"; do
    if [[ -r $dtctl_file ]]; then . "$dtctl_file"; break; fi
  done
fi
module load gcc/12 || dtctl_fail $? 'module load gcc/12 failed'
module load 'it'\''s; touch /tmp/x' || dtctl_fail $? 'module load it'\''s; touch /tmp/x failed'

dtctl_setup='set-up line 1 failed: source venv/bin/activate'
eval 'source venv/bin/activate' || dtctl_fail $? "$dtctl_setup"
dtctl_setup='set-up line 2 failed: ulimit -n 4096\x0aecho "ready"'
eval 'ulimit -n 4096
echo "ready"' || dtctl_fail $? "$dtctl_setup"
dtctl_setup=''
dtctl_guard

dtctl_launch() {
  trap - USR1 TERM INT HUP EXIT
  exec mpirun -np 4 --map-by ppr:4:node --bind-to none --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader bash -c 'threads=$1 policy=$2
shift 2
cores=()
while read -r name ranges; do
  [[ $name == Cpus_allowed_list: ]] || continue
  IFS=, read -ra ranges <<< "$ranges"
  for range in "${ranges[@]}"; do
    for ((core = ${range%-*}; core <= ${range#*-}; ++core)); do cores+=("$core"); done
  done
done < /proc/self/status
local_rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${SLURM_LOCALID:?no launcher has said which rank of its node this is}}
mine=("${cores[@]:local_rank * threads:threads}")
if ((${#mine[@]} == threads)); then
  list=$(IFS=,; printf %s "${mine[*]}")
  exec taskset --cpu-list "$list" "$@"
fi
[[ $policy == share ]] && exec "$@"
printf "dtctl: rank %d needs %d cores of its own, but the %d cores of the mask on this node are not enough for all ranks\n" \
  "${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}" "$threads" "${#cores[@]}" >&2
exit 126' dtctl-bind 2 share /usr/bin/dtengine run --attempt "$dtctl_attempt" --data /home/user/.local/share/dtctl/data/digits
}

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
