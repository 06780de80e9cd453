#!/bin/sh
# Installs what RenderMac needs beside Go, if it is missing.
set -eu
missing=""
command -v ffmpeg >/dev/null 2>&1 && command -v ffprobe >/dev/null 2>&1 || missing="ffmpeg"
command -v curl >/dev/null 2>&1 || missing="$missing curl"
[ -z "$missing" ] && exit 0
if command -v brew >/dev/null 2>&1; then
	brew install $missing
elif command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
	echo "These are missing: $missing. Install them with your package manager (Debian: sudo apt-get install $missing; macOS: install Homebrew from brew.sh, then brew install $missing)." >&2
	exit 1
fi
