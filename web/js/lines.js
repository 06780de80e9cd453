// The same from a terminal: rendermac, and curl with jq. The key stands in neither.
import { file, quote } from "./quote.js";

// rendermacLine is the command for these files; request is the job's body but for
// its inputs.
export function rendermacLine(request, names) {
  const { params: { preset, ...params } = {}, requires = {} } = request;
  const words = ["rendermac submit", ...names.map(file), "--url", quote(location.origin)];
  const flag = (name, value) => { if (value !== undefined) words.push(`--${name}`, quote(value)); };
  if (request.service !== "ffmpeg.transcode") flag("service", request.service);
  flag("preset", preset);
  for (const [name, value] of Object.entries(params)) words.push("-p", quote(`${name}=${typeof value === "object" ? JSON.stringify(value) : value}`));
  flag("priority", request.priority);
  flag("max-attempts", request.max_attempts);
  flag("deadline", request.admission_deadline);
  for (const tag of requires.tags || []) flag("requires-tag", tag);
  flag("requires-memory", requires.min_memory_gb);
  for (const [key, value] of Object.entries(request.labels || {})) flag("label", `${key}=${value}`);
  flag("webhook", request.webhook_url);
  flag("output-name", request.output_name);
  return words.join(" ");
}

// curlLines upload each file part by part, and make the jobs.
export function curlLines(request, names, joins) {
  const server = quote(location.origin);
  const job = (ids) => `ask ${server}/v1/jobs -d "$(jq -nc --argjson job ${quote(JSON.stringify(request))} --args '$job + {inputs: [$ARGS.positional[] | {upload_id: .}]}' ${ids})"`;
  const sent = (name) => `"$(upload ${name})"`;
  return [
    `ask() { curl -fsS -H "Authorization: Bearer $RENDERMAC_API_KEY" -H 'Content-Type: application/json' "$@"; }`,
    `upload() {`,
    `  up=$(ask ${server}/v1/uploads -d "$(jq -nc --arg name "\${1##*/}" --argjson bytes "$(wc -c <"$1")" '{$name, $bytes}')")`,
    `  id=$(echo "$up" | jq -r .id) size=$(echo "$up" | jq .part_bytes) from=1`,
    `  until [ "$from" = null ]; do`,
    `    up=$(ask "${location.origin}/v1/uploads/$id?from_part=$from"); from=$(echo "$up" | jq .next_part)`,
    `    echo "$up" | jq -r '.parts[] | "\\(.number) \\(.url)"' | while read -r n url; do`,
    `      tail -c +$(((n - 1) * size + 1)) "$1" | head -c "$size" | curl -fsS -X PUT -H 'Content-Type:' --data-binary @- "$url"`,
    `    done`,
    `  done`,
    `  ask "${location.origin}/v1/uploads/$id/complete" -d '{}' | jq -r .id`,
    `}`,
    ...(joins ? [job(names.map((name) => sent(file(name))).join(" "))] : [`for f in ${names.map(file).join(" ")}; do`, `  ${job(sent('"$f"'))}`, `done`]),
  ].join("\n");
}
