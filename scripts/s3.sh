#!/bin/sh
# Builds the S3 server that tests run against, once, into a cache folder.
set -eu
version=v1.8.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rendermac-test
program=$cache/versitygw-$version
[ -x "$program" ] && exit 0
echo "Building versitygw $version, the S3 server for tests: this takes some minutes, once." >&2
mkdir -p "$cache"
new=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM
env -u GOOS -u GOARCH CGO_ENABLED=0 GOBIN="$new" "${GO:-go}" install -trimpath -ldflags '-s -w' "github.com/versity/versitygw/cmd/versitygw@$version"
mv "$new/versitygw" "$program"
