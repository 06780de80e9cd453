#!/bin/sh
# Fetches axe-core, which the browser tests judge pages with, once, into a cache folder.
set -eu
version=4.11.4
digest=97175f79b2bd57adf1d4a55837f574093883bd9eb8096ea66abfafe2f2bdbdb9
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rendermac-test
file=$cache/axe-core-$version.js
[ -f "$file" ] && exit 0
mkdir -p "$cache"
new=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM
curl -fsSL --retry 3 -o "$new/axe.tgz" "https://registry.npmjs.org/axe-core/-/axe-core-$version.tgz"
sum=$({ sha256sum "$new/axe.tgz" 2>/dev/null || shasum -a 256 "$new/axe.tgz"; } | cut -d ' ' -f 1)
[ "$sum" = "$digest" ] || { echo "axe-core $version has the SHA-256 $sum, not $digest: it is not used." >&2; exit 1; }
tar -xzf "$new/axe.tgz" -C "$new" package/axe.min.js
mv "$new/package/axe.min.js" "$file"
