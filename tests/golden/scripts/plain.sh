#!/bin/bash
# quickstart / ranks=2, repeat 0
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
dtctl_set OMP_NUM_THREADS 1
dtctl_set OMP_PROC_BIND false

mpirun -np 2 --map-by ppr:2:node --bind-to none bash -c 'threads=$1 policy=$2
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
exit 1' dtctl-bind 1 own /usr/bin/dtengine run --attempt /home/user/.local/share/dtctl/runs/0123456789abcdef0123456789abcdef/attempts/1 --data /home/user/.local/share/dtctl/data/digits &
dtctl_launcher=$!
wait "$dtctl_launcher"
dtctl_code=$?
# A signal of our own interrupts `wait`; the ranks' answer to it is still to come.
while ((dtctl_code > 128)) && kill -0 "$dtctl_launcher" 2> /dev/null; do
  wait "$dtctl_launcher"
  dtctl_code=$?
done
exit "$dtctl_code"
