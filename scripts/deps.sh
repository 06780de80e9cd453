#!/bin/sh
# Installs what RenderMac needs beside Go, if it is missing; with "tests", also the browser that tests drive, and jq.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

# The places where chromedp looks for one.
has_browser() {
	has headless_shell || has headless-shell || has chromium || has chromium-browser || has google-chrome || has google-chrome-stable ||
		[ -x /Applications/Chromium.app/Contents/MacOS/Chromium ] || [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

missing=""
has ffmpeg && has ffprobe || missing="ffmpeg"
has curl || missing="$missing curl"
[ "${1:-}" != tests ] || has jq || missing="$missing jq"
browser=""
[ "${1:-}" != tests ] || has_browser || browser="chromium"
[ -z "$missing$browser" ] && exit 0
if has brew; then
	[ -z "$missing" ] || brew install $missing
	[ -z "$browser" ] || brew install --cask chromium || brew install --cask google-chrome
elif has apt-get && [ "$(id -u)" = 0 ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing ${browser:+chromium fonts-dejavu-core fonts-inter} >/dev/null
else
	missing=$(echo $missing $browser)
	echo "These are missing: $missing. Install them with your package manager (Debian: sudo apt-get install $missing; macOS: install Homebrew from brew.sh, then brew install $missing)." >&2
	exit 1
fi
