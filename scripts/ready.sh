#!/bin/sh
# How soon `serve` is ready and how much memory it rests on: with an empty
# database, and with one that holds a million finished jobs.
set -eu
dir=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
pid=0

now() { python3 -c 'import time; print(int(time.time()*1000))' 2>/dev/null || date +%s000; }

measure() { # NAME DATA
	started=$(now)
	bin/rendermac serve --data "$2" --listen 127.0.0.1:0 2>"$dir/log" &
	pid=$!
	until grep -q 'msg=listening' "$dir/log"; do kill -0 "$pid" || { cat "$dir/log" >&2; exit 1; }; done
	took=$(( $(now) - started ))
	sleep 5 # to rest
	echo "$1: ready in $took ms, $(( $(ps -o rss= -p "$pid") / 1024 )) MB resident after 5 s of rest"
	kill "$pid"
	wait "$pid" || true
}

measure "empty database" "$dir/empty"
CGO_ENABLED=0 RENDERMAC_FILL="$dir/full" go test -count=1 -run '^TestFillADatabase$' ./store >"$dir/fill.log" || { cat "$dir/fill.log" >&2; exit 1; }
measure "a million finished jobs" "$dir/full"
