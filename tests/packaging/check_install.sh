#!/usr/bin/env bash
# check_install.sh tree|packages BUILD: installs into a folder of its own (by cmake --install, or by unpacking what cpack makes),
# moves it, and from there validates a shipped recipe and trains a network; looks for completions and the manual page.
set -euo pipefail
form=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "packaging: $*" >&2; exit 1; }

if [ "$form" = tree ]; then
  cmake --install "$build" --prefix "$work/first" >/dev/null
  mv "$work/first" "$work/moved"
  prefix=$work/moved
else
  (cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/cpack" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log" >&2; fail "cpack failed"; }
  depends() { dpkg-deb -f "$work/cpack/$1"_*.deb Depends; }
  must_depend() { # PACKAGE NEEDED…
    local package=$1 needed
    shift
    for needed; do [[ $(depends "$package") == *$needed* ]] || fail "$package does not depend on $needed: $(depends "$package")"; done
  }
  must_depend dtctl libsqlite3 libyaml-cpp libre2
  must_depend dtctl-engine 'dtctl (=' openmpi-bin libdnnl
  [[ $(depends dtctl) != *slurm* ]] || fail "dtctl depends on Slurm, which many machines do not have: $(depends dtctl)"
  [[ $(depends dtctl) != *mpi* ]] || fail "dtctl depends on MPI, which programs of the user may not need: $(depends dtctl)"
  [ -z "$(depends dtctl-doc)" ] || fail "dtctl-doc depends on $(depends dtctl-doc)"
  for package in dtctl dtctl-engine dtctl-doc; do dpkg-deb -x "$work/cpack/$package"_*.deb "$work/moved"; done
  prefix=$work/moved/usr
fi

modules=$prefix/share/dtctl/program
for file in bin/dtctl bin/dtengine bin/dtjob bin/dtbench share/dtctl/recipes/quickstart.yaml share/dtctl/recipe.schema.json share/man/man1/dtctl.1 \
            share/man/man1/dtjob.1 share/man/man1/dtengine.1 share/dtctl/program/dtctl_sync.h share/doc/dtctl-doc/docs/guide/README.md \
            lib/python3/dist-packages/dtctl_report.py share/doc/dtctl/copyright \
            share/bash-completion/completions/dtctl share/zsh/vendor-completions/_dtctl share/fish/vendor_completions.d/dtctl.fish; do
  [ -e "$prefix/$file" ] || [ -e "$prefix/$file.gz" ] || fail "$file is not installed"
done

export DTCTL_HOME=$work/home XDG_CONFIG_HOME=$work/config DTCTL_CORE_LOCKS=$work/cores
unset DTCTL_ENGINE DTCTL_JOB_AGENT
cd /
[ "$("$prefix/bin/dtctl" config paths | sed -n 's/^report modules *//p')" = "$modules" ] || fail "dtctl config paths does not print $modules"
for folder in "$modules" "$prefix/lib/python3/dist-packages"; do
  PYTHONPATH=$folder python3 -c 'import dtctl_report as r, dtctl_measure.samples; r.begin(); r.step(loss=1.0); r.result()' || fail "a program that reports does not run with the module in $folder"
done
PATH=$prefix/bin:$PATH PYTHONPATH=$prefix/lib/python3/dist-packages python3 -c 'import dtctl; print(dtctl.home().path)' | grep -qx "$DTCTL_HOME" || fail "the Python package does not find the program"
"$prefix/bin/dtctl" new --defaults 2>/dev/null | head -n 1 | grep -qxF "# yaml-language-server: \$schema=$prefix/share/dtctl/recipe.schema.json" || fail "dtctl new does not name the installed schema"
"$prefix/bin/dtctl" validate quickstart >/dev/null || fail "the shipped recipe does not validate"
cat >"$work/tiny.yaml" <<'RECIPE'
version: 1
model: {name: lenet}
data: {name: synthetic, train_samples: 256, test_samples: 64}
train: {global_batch: 32, steps: 10, warmup_steps: 2}
RECIPE
"$prefix/bin/dtctl" submit "$work/tiny.yaml" --wait >/dev/null || fail "the run did not succeed"
"$prefix/bin/dtctl" results last | grep -q tiny || "$prefix/bin/dtctl" results last
if grep -q libdtctl_slurm "$build/jobs/cmake_install.cmake"; then
  { cat "$work/tiny.yaml"; echo 'resources: {scheduler: slurm}'; } >"$work/slurm.yaml"
  code=0 said=$(SLURM_CONF=$work/none "$prefix/bin/dtctl" submit "$work/slurm.yaml" 2>&1) || code=$?
  [[ $code == 3 && ($said == *"SLURM_CONF names"* || $said == *"cannot be loaded"*) ]] || fail "the module for Slurm is not found where it is installed: $said"
fi
echo "packaging: works ($form)"
