#!/bin/bash
# $(touch /tmp/x); ' / two\x0alines, repeat 0
# run 0123456789abcdef0123456789abcdef, attempt 1

readonly dtctl_attempt=/home/user/.local/share/dtctl/runs/0123456789abcdef0123456789abcdef/attempts/1
dtctl_launcher=

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

eval 'source venv/bin/activate' || dtctl_fail $? 'set-up line 1 failed: source venv/bin/activate'
eval 'ulimit -n 4096
echo "ready"' || dtctl_fail $? 'set-up line 2 failed: ulimit -n 4096\x0aecho "ready"'
dtctl_guard

mpirun -np 4 --map-by ppr:4:node --bind-to none --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader bash -c 'threads=$1 policy=$2
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
exit 1' dtctl-bind 2 share /usr/bin/dtengine run --attempt /home/user/.local/share/dtctl/runs/0123456789abcdef0123456789abcdef/attempts/1 --data /home/user/.local/share/dtctl/data/digits &
dtctl_launcher=$!
wait "$dtctl_launcher"
dtctl_code=$?
# A signal of our own interrupts `wait`; the ranks' answer to it is still to come.
while ((dtctl_code > 128)) && kill -0 "$dtctl_launcher" 2> /dev/null; do
  wait "$dtctl_launcher"
  dtctl_code=$?
done
exit "$dtctl_code"
