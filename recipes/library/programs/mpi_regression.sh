#!/bin/bash
# Compiles the program once per attempt, on its first rank of each node, and runs it.
set -euo pipefail
cd "$(dirname "$0")"
program=./mpi_regression.$(hostname)
if [ "$LOCAL_RANK" = 0 ]; then
  mpicc -O2 -I "$DTCTL_INCLUDE" -o "$program.new" mpi_regression.c -lm
  mv "$program.new" "$program"
fi
until [ -x "$program" ]; do sleep 0.05; done
exec "$program"
