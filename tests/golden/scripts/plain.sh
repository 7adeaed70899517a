#!/bin/bash
# Starts one attempt of a run. `dtjob run` and `dtjob batch` call this script with the attempt's folder as its argument.
# ../../spec.json describes the run.
trap 'printf "dtctl: %s (exit code %d) [job %.6s]\n" "$step" "$?" "$DTCTL_JOB_TOKEN" >&2' EXIT
step='cannot set the variables of the launcher'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_DYNAMIC=false OMP_NUM_THREADS=1 OMP_PROC_BIND=false || exit
step='cannot start dtjob'
exec /usr/bin/dtjob launch --one-node --no-network-cards mpirun -np 2 --map-by ppr:2:node --bind-to none /usr/bin/dtjob bind --cores 1 /usr/bin/dtengine run --attempt "$1" --data /home/user/.local/share/dtctl/data/digits
