#!/usr/bin/env bash
# check_tarball.sh local|slurm|pytorch|engine ROOTS TARBALL…: unpacks the tarballs in the empty home of an ordinary user, and runs a study there.
# Prints how long it took, in seconds, and bytes.
#
#   local    on Debian 11, which has glibc 2.31, without MPI and compiler: a program of the user, on the machine's cores
#   slurm    on a login node without MPI and compiler: the same, on two nodes of the private Slurm
#   pytorch  on Debian 12 with PyTorch, without MPI and compiler: torchrun's ranks train by diloco
#   engine   on Debian 12 with Open MPI, both tarballs: LeNet on two ranks, and a simulated study
set -euo pipefail
form=$1 roots=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
for tarball; do
  [ -r "$tarball" ] || { echo "check_tarball: there is no $tarball; scripts/package makes it" >&2; exit 1; }
done
declare -A machines=([local]=bullseye [slurm]=login [pytorch]=torch [engine]=mpi)
machine=${machines[$form]}
root_tar=$("$here/roots" $machine "$roots")
unshare --mount --pid --fork true 2>/dev/null || { echo "check_tarball: this machine allows no namespaces" >&2; exit 77; }

work=$(mktemp -d /tmp/dtctl-tarball.XXXXXX)
cluster=$here/../cluster/cluster
export DTCTL_CLUSTER=$work/cluster
clean_up() {
  [ "$form" != slurm ] || "$cluster" stop >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
chmod 755 "$work"
mkdir "$work/root" "$work/home"
tar -xf "$root_tar" -C "$work/root"
mkdir "$work/root/tarballs"
cp "$@" "$work/root/tarballs"
chown nobody "$work/home"
if [ "$form" = slurm ]; then
  "$cluster" start --nodes 2 --no-namespaces >/dev/null
  mkdir -p "$work/root$work/cluster"
fi

# The home has the same path on the login node and on the nodes, as a shared file system gives it.
mkdir -p "$work/root$work/home"
cat >"$work/root/enter" <<'ENTER'
set -euo pipefail
root=$1 work=$2 form=$3
mount --bind "$work/home" "$root$work/home"
[ "$form" != slurm ] || mount --bind "$work/cluster" "$root$work/cluster"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
for device in null zero urandom; do
  [ -e "$root/dev/$device" ] || touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
environment=(PATH=/usr/bin:/bin "HOME=$work/home" LANG=C.UTF-8)
[ "$form" != slurm ] || environment+=("SLURM_CONF=$work/cluster/etc/slurm.conf")
exec chroot --userspec=nobody:nogroup "$root" /usr/bin/env -i "${environment[@]}" /bin/bash /visit "$form"
ENTER
cp "$here/visit" "$work/root/visit"
unshare --mount --pid --fork --kill-child bash "$work/root/enter" "$work/root" "$work" "$form"
