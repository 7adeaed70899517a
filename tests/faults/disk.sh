#!/usr/bin/env bash
# disk.sh DTCTL: a home on a disk that is full, fills up during a run, and becomes read-only. Each must end in a sentence that
# names the cause, a true state, and a home that works again once there is room.
set -euo pipefail
dtctl=$1
work=$(mktemp -d)
disk=$work/disk
mkdir "$disk"
export XDG_CONFIG_HOME=$work/config DTCTL_CORE_LOCKS=$work/cores DTCTL_HOME=$disk/home NO_COLOR=1
mounted=no
clean_up() {
  [ "$mounted" = no ] || { pkill -9 -f "$disk" 2>/dev/null || true; sleep 0.2; umount -l "$disk"; }
  rm -rf "$work"
}
trap clean_up EXIT
broken=0
expect() { # WHAT CONDITION…
  local what=$1
  shift
  if "$@"; then echo "ok      $what"; else echo "BROKEN  $what"; broken=1; cat "$work/out" "$work/err" 2>/dev/null || true; fi
}
run() { # CODE COMMAND…: runs dtctl, keeps its streams, and compares the exit code
  local want=$1 got=0
  shift
  "$dtctl" "$@" >"$work/out" 2>"$work/err" || got=$?
  [ "$got" = "$want" ] || echo "        dtctl $* ended with $got, not $want"
  [ "$got" = "$want" ]
}
says() { grep -q "$1" "$work/out" "$work/err"; }

if [ "$(id -u)" -ne 0 ] || ! mount -t tmpfs -o size=4m tmpfs "$disk" 2>/dev/null; then
  echo "skipped: mounting a small file system is not allowed here"
  exit 77
fi
mounted=yes

recipe() { # NAME STEPS
  cat >"$work/$1.yaml" <<RECIPE
version: 1
name: $1
model: {name: lenet}
data: {name: synthetic, train_samples: 256, test_samples: 64}
train: {global_batch: 16, steps: $2, warmup_steps: 2}
RECIPE
}
recipe short 20
recipe long 200000
recipe later 21

fill() { head -c 8m /dev/zero >"$disk/ballast" 2>/dev/null || true; }
make_room() { rm -f "$disk/ballast"; }

expect "a run on a small disk succeeds" run 0 submit "$work/short.yaml" --wait

fill
expect "submitting to a full disk is an environment error" run 74 submit "$work/later.yaml"
expect "... that says so" says 'No space left on device'
make_room
expect "with room again the same submission works" run 0 submit "$work/later.yaml" --wait

expect "a long run starts" run 0 submit "$work/long.yaml"
for _ in $(seq 100); do "$dtctl" status last 2>/dev/null | grep -q "/200000" && break; sleep 0.1; done
fill
for _ in $(seq 300); do pgrep -f "dtengine run --attempt $disk" >/dev/null || break; sleep 0.1; done
make_room
expect "a disk that fills up during a run fails the run" run 1 watch last --quiet --timeout 60s
run 0 explain last || true
expect "... and the cause is told" says 'No space left on device'

fill
expect "removing a study with its runs works on a full disk" run 0 remove long --runs --yes
expect "... and says why the folders went first" says 'No space left on device'
expect "... and the database knows it" run 2 status long
make_room
expect "... and the others are as they were" run 0 results short

mount -o remount,ro "$disk"
expect "submitting to a read-only home is an environment error" run 74 submit "$work/later.yaml" --set train.seed=7
expect "... that says so" says 'Read-only file system'
expect "results can still be read" run 0 results short
mount -o remount,rw "$disk"
expect "with a writable home the same submission works" run 0 submit "$work/later.yaml" --set train.seed=7 --wait
exit "$broken"
