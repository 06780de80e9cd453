#!/usr/bin/env bash
# A buyer's whole day, with curl and openssl only: upload a file, submit it under
# an Idempotency-Key, follow the job's events as they come, receive its webhook
# and verify who sent it.
#
# Needs bash, curl, openssl, python3 (to read JSON, and as the receiver), and:
#   RENDERMAC_URL      where the server is, such as http://127.0.0.1:7420
#   RENDERMAC_API_KEY  a key of scope admin: it asks for a new webhook secret
#   the server's webhooks.allow_private: true, since the receiver listens on this machine
#
#   docs/examples/webhook-and-events.sh FILE
set -euo pipefail
file=${1:?name a file to transcode}
url=${RENDERMAC_URL:?} key=${RENDERMAC_API_KEY:?}
work=$(mktemp -d)
receiver=
trap '[ -z "$receiver" ] || kill "$receiver" 2>/dev/null || true; rm -rf "$work"' EXIT

ask() { curl -fsS -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "$@"; }
field() { python3 -c 'import json,sys; v=json.load(sys.stdin)
for name in sys.argv[1].split("."): v=v[int(name)] if name.isdigit() else v[name]
print(v)' "$1"; }

# A webhook secret is shown once, so this takes a new one of the first account,
# which a fresh server's admin key belongs to. The one before signs for 24 h too.
account=$(ask "$url/v1/accounts" | field items.0.id)
secret=$(ask -X POST "$url/v1/accounts/$account/webhook-secret" | field webhook_secret)

# The receiver: it writes down the first webhook whole, answers 204 and ends.
cat >"$work/receiver.py" <<'PY'
import http.server, os, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        for name, value in (("body", body), *((h, self.headers[h].encode()) for h in ("webhook-id", "webhook-timestamp", "webhook-signature"))):
            open(os.path.join(sys.argv[1], name), "wb").write(value)
        self.send_response(204)
        self.end_headers()
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
print(server.server_port, flush=True)
server.handle_request()
PY
mkfifo "$work/port"
python3 "$work/receiver.py" "$work" >"$work/port" &
receiver=$!
read -r port <"$work/port"

# Upload: announce the file, put its parts, complete it.
bytes=$(wc -c <"$file" | tr -d ' ')
upload=$(ask "$url/v1/uploads" -d "{\"name\": \"clip.mov\", \"bytes\": $bytes}")
id=$(field id <<<"$upload")
[ "$(field next_part <<<"$upload")" = None ] || { echo "more than one page of parts: take a smaller file" >&2; exit 1; }
size=$(field part_bytes <<<"$upload")
count=$(python3 -c 'import json,sys; print(len(json.load(sys.stdin)["parts"]))' <<<"$upload")
for ((i = 0; i < count; i++)); do
	part=$(field "parts.$i.url" <<<"$upload")
	case $part in /*) part=$url$part ;; esac
	tail -c +$((i * size + 1)) "$file" | head -c "$size" >"$work/part" || true
	curl -fsS -o /dev/null -T "$work/part" "$part"
done
ask -X POST "$url/v1/uploads/$id/complete" -o /dev/null
echo "uploaded $id"

# Submit, twice, as a client does that has lost the first answer: one job is made.
request=$(printf '{"service": "ffmpeg.transcode", "params": {"preset": "web-480p"}, "inputs": [{"upload_id": "%s"}], "webhook_url": "http://127.0.0.1:%s/hook", "webhook_events": ["job.succeeded"]}' "$id" "$port")
once=example-$(openssl rand -hex 8)
for _ in 1 2; do
	now=$(ask "$url/v1/jobs" -H "Idempotency-Key: $once" -d "$request" | field id)
	[ "${job:=$now}" = "$now" ] || { echo "one key has made two jobs" >&2; exit 1; }
done
echo "submitted $job"

# Follow the events to the job's end.
end=$(ask -N --max-time 300 -H 'Accept: text/event-stream' "$url/v1/jobs/$job/events" |
	while IFS= read -r line; do
		case $line in
		'event: job.succeeded' | 'event: job.failed' | 'event: job.cancelled') echo "${line#event: }" && break ;;
		'event: '*) echo "${line#event: }" >&2 ;;
		esac
	done || true)
echo "$end"

# Verify the webhook.
wait "$receiver" && receiver=
hex=$(printf %s "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
want=$( (printf '%s.%s.' "$(cat "$work/webhook-id")" "$(cat "$work/webhook-timestamp")"; cat "$work/body") |
	openssl dgst -sha256 -mac HMAC -macopt "hexkey:$hex" -binary | openssl base64 -A)
case " $(cat "$work/webhook-signature") " in
*" v1,$want "*) echo "verified $(cat "$work/webhook-id"): $(field type <"$work/body")" ;;
*) echo "the webhook's signature is wrong" >&2; exit 1 ;;
esac
