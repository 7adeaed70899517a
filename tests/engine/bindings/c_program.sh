#!/usr/bin/env bash
# c_program.sh CC MPIEXEC LIBRARY_FOLDER HEADER_FOLDER: compiles c_program.c against the library, and runs it under some strategies.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -std=c11 -Wall -Wextra -pedantic -Werror -I"$4" -o "$folder/program" "$(dirname "$0")/c_program.c" -L"$3" -ldtctl_sync -lm -Wl,-rpath,"$3"
unset DTCTL_SPEC DTCTL_REPORT
for settings in "sync.strategy=sync-sgd" "sync.strategy=sync-sgd sync.progress=none" "sync.strategy=local-sgd sync.period=2" "sync.strategy=hsgd" \
  "sync.strategy=decentralized-easgd sync.period=2" "sync.strategy=sync-easgd"; do
  "$2" --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 2 "$folder/program" "$settings"
done
# A setting that does not exist is refused with the nearest one.
words=$("$2" --allow-run-as-root --oversubscribe -np 1 "$folder/program" "sync.perod=2" 2>&1) && exit 1
[[ $words == *"did you mean \`sync.period\`"* ]]
