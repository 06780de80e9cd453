// What a file is, as people speak of files: mov, 4:12 · H.264 1920×1080, 25 fps ·
// AAC stereo, 48 kHz.
import { clock } from "./words.js";

const codecs = { h264: "H.264", hevc: "HEVC", prores: "ProRes", aac: "AAC", alac: "ALAC", pcm: "PCM", mp3: "MP3", av1: "AV1", vp9: "VP9", mjpeg: "JPEG", png: "PNG" };

export function factsOf(media) {
  const parts = [media.container + (media.duration_s > 0 ? `, ${clock(media.duration_s)}` : "")];
  for (const stream of media.streams) parts.push(streamOf(stream));
  return parts.filter(Boolean).join(" · ");
}

function streamOf(s) {
  if (s.attached_pic) return "cover art";
  switch (s.kind) {
    case "video": return pictureOf(s);
    case "audio": return `${nameOf(s)} ${channelsOf(s.channels)}, ${s.sample_rate / 1000} kHz`;
    case "subtitle": return "subtitles";
    case "timecode": return "timecode";
  }
  return "";
}

function pictureOf(s) {
  const parts = [`${nameOf(s)} ${s.width}×${s.height}`];
  if (s.fps > 0) parts.push(`${Number(s.fps.toFixed(3))} fps`);
  if (s.bit_depth > 8) parts.push(`${s.bit_depth} bits`);
  if (s.color.transfer === "smpte2084") parts.push("HDR (PQ)");
  if (s.color.transfer === "arib-std-b67") parts.push("HDR (HLG)");
  if (s.rotation) parts.push(`turned by ${s.rotation}°`);
  return parts.join(", ");
}

function nameOf(s) { return codecs[s.codec] || s.codec || `unknown ${s.kind}`; }

function channelsOf(n) { return { 1: "mono", 2: "stereo", 6: "5.1", 8: "7.1" }[n] || `${n} channels`; }
