#!/usr/bin/env bash
# scripts/house/names_in_documents.py finds nothing in this tree, and finds each false name that is planted into a copy of it.
#   check_names.sh SOURCE-FOLDER
set -euo pipefail
source=$1
git -C "$source" ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1 || { echo "git does not list the files of $source"; exit 77; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$source" ls-files -z | while IFS= read -r -d '' file; do
  if [ -e "$source/$file" ]; then printf '%s\0' "$file"; fi
done | tar -C "$source" --null -T - -cf - | tar -C "$copy" -xf -
git -C "$copy" init -q
git -C "$copy" add --intent-to-add .
check() { "$copy/scripts/house/names_in_documents.py" "$copy"; }

check || { echo 'FAILED: the tree itself names what it does not have' >&2; exit 1; }

cat >>"$copy/docs/design/home.md" <<'END'
The folder `engine/comm/telepathy/`, and again by its short name: `comm/telepathy`. The file `core/no_such_file.hpp`.
`dt::comm::NoSuchSum`, `Trainer::no_such_step`, `NoSuchClass`, `no_such_call()`, `no_such_function`, [a page](no-such-page.md), [a heading](states.md#no-such-heading).
```
dtctl → NoSuchHop → Strategy::no_such_method
```
END
echo 'The room keeps `no_such_room/`.' >>"$copy/ARCHITECTURE.md"
sed -i '1i // See engine/nn/no_such_folder/ for the formula, and no_such_comment().' "$copy/core/text.hpp"
echo '`no_such_comment()`' >>"$copy/docs/decisions.md" # a comment alone does not make it a name of the code
code=0
said=$(check 2>&1) || code=$?
[ "$code" -eq 1 ] || { echo "FAILED: exit code $code, and not 1, with planted names" >&2; exit 1; }
failed=0
for name in 'engine/comm/telepathy/' 'has no comm/telepathy' 'core/no_such_file.hpp' 'dt::comm::NoSuchSum' 'Trainer::no_such_step' 'NoSuchClass' 'no_such_call' \
  'no_such_function' 'no-such-page.md' 'states.md#no-such-heading' 'NoSuchHop' 'Strategy::no_such_method' 'folder no_such_room/' 'engine/nn/no_such_folder/' \
  'no_such_comment'; do
  grep -qF "$name" <<<"$said" || { echo "FAILED: the planted name was not found: $name" >&2; failed=1; }
done
[ "$failed" -eq 0 ] || { echo "$said" >&2; exit 1; }
echo "15 planted names found"
