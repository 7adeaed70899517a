#!/usr/bin/env bash
# check_packages.sh BUILD ROOTS: makes the Debian packages of a build, lets lintian judge them, and installs, uses and removes them in a
# fresh Debian 12. Packages that they depend on are downloaded once, into ROOTS/archives.
set -euo pipefail
build=$(realpath "$1") roots=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "check_packages: $*" >&2; exit 1; }
command -v lintian >/dev/null || { echo "check_packages: lintian is not installed; scripts/dependencies test installs it" >&2; exit 77; }
root_tar=$("$here/roots" bookworm "$roots")
unshare --mount --pid --fork true 2>/dev/null || { echo "check_packages: this machine allows no namespaces" >&2; exit 77; }

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/cpack") >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log" >&2; fail "cpack failed"; }
packages=("$work"/cpack/*.deb)
[ ${#packages[@]} -eq 3 ] || fail "cpack made ${#packages[@]} packages instead of 3: ${packages[*]##*/}"
lintian --suppress-tags-from-file "$here/lintian-suppressed" --fail-on error,warning "${packages[@]}" || fail "lintian does not accept the packages"

mkdir -p "$roots/archives/partial" "$work/root"
tar -xf "$root_tar" -C "$work/root"
mkdir "$work/root/packages"
cp "${packages[@]}" "$work/root/packages"
cp /etc/resolv.conf "$work/root/etc/resolv.conf"
cp "$here/install_and_remove" "$work/root/visit"
cat >"$work/enter" <<'ENTER'
set -euo pipefail
root=$1 archives=$2
mount --bind "$archives" "$root/var/cache/apt/archives"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 bash /visit
ENTER
unshare --mount --pid --fork --kill-child bash "$work/enter" "$work/root" "$roots/archives"
