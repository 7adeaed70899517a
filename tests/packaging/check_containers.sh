#!/usr/bin/env bash
# check_containers.sh ROOTS: builds packaging/Containerfile on an image of Debian 12 that mmdebstrap made, and trains in a container of it;
# runs %post and %test of packaging/dtctl.def in a fresh Debian 12, because Debian has no Apptainer. Needs scripts/package deb.
set -euo pipefail
roots=$(realpath -m "$1")
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
fail() { echo "check_containers: $*" >&2; exit 1; }
command -v buildah >/dev/null || { echo "check_containers: buildah is not installed; scripts/dependencies test installs it" >&2; exit 77; }
root_tar=$("$here/roots" bookworm "$roots")
unshare --mount --pid --fork true 2>/dev/null || { echo "check_containers: this machine allows no namespaces" >&2; exit 77; }
ls "$source"/build/package/dtctl_*.deb "$source"/build/package/dtctl-engine_*.deb >/dev/null || fail "there are no packages; scripts/package deb makes them"

work=$(mktemp -d)
image() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
clean_up() {
  image rm --all >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
mkdir -p "$roots/archives/partial"

base=$(image from scratch)
image add --quiet "$base" "$root_tar" / >/dev/null
image commit --quiet "$base" localhost/debian:bookworm >/dev/null
image rm "$base" >/dev/null
# So that packages are downloaded once: the image's own rule would delete them.
printf 'APT::Keep-Downloaded-Packages "true";\nAPT::Sandbox::User "root";\n' >"$work/apt.conf"
image build --isolation chroot --build-arg BASE=localhost/debian:bookworm --volume "$roots/archives:/var/cache/apt/archives" \
  --volume "$work/apt.conf:/etc/apt/apt.conf.d/99test:ro" --file "$source/packaging/Containerfile" --tag dtctl "$source" >"$work/log" 2>&1 ||
  { tail -n 30 "$work/log" >&2; fail "the image was not built"; }
container=$(image from localhost/dtctl)
cat >"$work/tiny.yaml" <<'RECIPE'
version: 1
name: tiny
model: {name: lenet}
data: {name: synthetic, train_samples: 256, test_samples: 64}
train: {global_batch: 32, steps: 10, warmup_steps: 2}
RECIPE
image copy "$container" "$work/tiny.yaml" /work/tiny.yaml >/dev/null
image run --isolation chroot "$container" dtctl sweep tiny.yaml --wait || fail "no training in the container"
image run --isolation chroot "$container" dtctl results tiny

mkdir -p "$work/root/packages"
tar -xf "$root_tar" -C "$work/root"
cp "$source"/build/package/*.deb "$work/root/packages"
cp /etc/resolv.conf "$work/root/etc/resolv.conf"
cp "$work/apt.conf" "$work/root/etc/apt/apt.conf.d/99test"
section() { sed -n "/^%$1\$/,/^%/{/^%/d;p}" "$source/packaging/dtctl.def"; }
{ echo 'set -e'; section post; section test; } >"$work/root/visit"
grep -q 'dtctl validate' "$work/root/visit" || fail "packaging/dtctl.def has no sections %post and %test"
cat >"$work/enter" <<'ENTER'
set -euo pipefail
mount --bind "$2" "$1/var/cache/apt/archives"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh /visit
ENTER
unshare --mount --pid --fork --kill-child bash "$work/enter" "$work/root" "$roots/archives" >"$work/log" 2>&1 ||
  { tail -n 30 "$work/log" >&2; fail "the commands of packaging/dtctl.def fail"; }
echo "check_containers: Containerfile and dtctl.def work"
