#!/bin/bash
# Starts one attempt of a run. `dtjob run` and `dtjob batch` call this script with the attempt's folder as its argument.
# ../../spec.json describes the run.
trap 'printf "dtctl: %s (exit code %d) [job %.6s]\n" "$step" "$?" "$DTCTL_JOB_TOKEN" >&2' EXIT
step='cannot set the variables of the launcher'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_DYNAMIC=false OMP_NUM_THREADS=2 OMP_PROC_BIND=false || exit
step='cannot set the variables of resources.env'
export LINES='one
two' PLAIN=1 QUOTED='it'\''s "$HOME"' || exit
if ! command -v module > /dev/null; then
  for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh "$MODULESHOME/init/bash"; do
    if [[ -r $file ]]; then . "$file"; break; fi
  done
fi
step='module load gcc/12 failed'
module load gcc/12 || exit
step='module load it'\''s; touch /tmp/x failed'
module load 'it'\''s; touch /tmp/x' || exit
step='set-up line 1 failed: source venv/bin/activate'
eval 'source venv/bin/activate' || exit
step='set-up line 2 failed: ulimit -n 4096\x0aecho "ready"'
eval 'ulimit -n 4096
echo "ready"' || exit
step='cannot start dtjob'
exec /usr/bin/dtjob launch --one-node --no-network-cards mpirun -np 4 --map-by ppr:4:node --bind-to none --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader /usr/bin/dtjob bind --cores 2 --share /usr/bin/dtengine run --attempt "$1" --data /home/user/.local/share/dtctl/data/digits
