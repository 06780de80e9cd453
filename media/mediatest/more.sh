#!/usr/bin/env bash
# Kinds of files that shared/samples/make-media.sh does not make. Usage: more.sh DIR, which holds pgs.sup already.
set -euo pipefail
cd "${1:?usage: more.sh DIR}"
ff() { ffmpeg -hide_banner -loglevel error -nostdin -y "$@"; }
x264=(-c:v libx264 -preset ultrafast -crf 30 -pix_fmt yuv420p)
aac=(-c:a aac -b:a 64k)
film() { echo -f lavfi -i "testsrc2=s=160x90:r=25:d=$1" -f lavfi -i "sine=r=48000:d=$1"; }
# A white flash and a beep in the first 0.2 s of seconds 1 and 2; the gop of 25 lets a copy begin at each.
flash="color=black:s=160x90:r=25:d=3,drawbox=c=white:t=fill:enable='gte(t,0.5)*lt(mod(t,1),0.19)'"
beep() { echo "aevalsrc=0.5*sin(2*PI*1000*t)*gte(t\,0.5)*lt(mod(t\,1)\,0.2):s=$1:d=3"; }
sync=(-f lavfi -i "$flash" -f lavfi -i "$(beep 48000)")
gop=("${x264[@]}" -g 25)

# 40 image subtitles, 41 a subtitle long after the film's end
ff $(film 2) -f sup -i pgs.sup -map 0:v -map 1:a -map 2:s "${x264[@]}" "${aac[@]}" -c:s copy 40_pgs.mkv
printf '1\n00:00:20,000 --> 00:00:22,000\nlate\n' > late.srt
ff $(film 2) -i late.srt -map 0:v -map 1:a -map 2:s "${x264[@]}" "${aac[@]}" -c:s srt 41_late_subtitle.mkv
# 42-45 channel layouts
ff -f lavfi -i testsrc2=s=160x90:r=25:d=1 -f lavfi -i "sine=d=1,aformat=channel_layouts=quad" "${x264[@]}" -c:a pcm_s16le 42_quad.mov
ff -f lavfi -i testsrc2=s=160x90:r=25:d=1 -f lavfi -i "sine=r=96000:d=1" "${x264[@]}" -c:a flac -ac 1 43_mono_96k.mkv
ff -f lavfi -i testsrc2=s=160x90:r=25:d=1 -f lavfi -i "sine=r=48000:d=1,aformat=channel_layouts=5.1(side)" "${x264[@]}" -c:a ac3 44_surround51_side.mkv
ff -f lavfi -i "sine=r=22050:d=1" -c:a pcm_u8 45_mono_8bit.wav
# 46 an hour, 47 HLG, 48 cover art before the picture, 49 two pictures
ff -f lavfi -i color=c=gray:s=32x18:r=1:d=3600 -f lavfi -i anullsrc=r=8000:cl=mono -t 3600 "${x264[@]}" -c:a aac -b:a 8k 46_hour.mp4
ff -f lavfi -i testsrc2=s=320x180:r=25:d=1 -vf format=yuv420p10le -c:v libx265 -preset ultrafast -tag:v hvc1 -color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc -color_range tv \
  -x265-params log-level=error:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc 47_hlg.mov
ff -f lavfi -i color=c=orange:s=200x200 -frames:v 1 cover.jpg
ff -i cover.jpg $(film 1) -map 0:v -map 1:v -map 2:a -c:v:0 copy "${x264[@]/-c:v/-c:v:1}" "${aac[@]}" -disposition:v:0 attached_pic 48_cover_first.mp4
ff $(film 1) -f lavfi -i color=c=red:s=64x64:r=25:d=1 -map 0:v -map 1:a -map 2:v "${x264[@]}" "${aac[@]}" 49_two_pictures.mkv
# 50 names: as long as a file system takes them, and decomposed letters
for name in "$(printf 'n%.0s' {1..251}).mp4" "50_$(printf 'u\xcc\x88ber').mp4"; do ff $(film 1) "${x264[@]}" "${aac[@]}" "file:$name"; done
# 51 sound and picture that must stay together, in every container and with every odd beginning
ff "${sync[@]}" "${gop[@]}" "${aac[@]}" 51_sync.mp4
ff -f lavfi -i "${flash/r=25/r=60},select='not(mod(n,5))+not(mod(n,7))+eq(n,61)'" -f lavfi -i "$(beep 44100)" -fps_mode vfr "${x264[@]}" "${aac[@]}" -video_track_timescale 90000 51_sync_vfr.mp4
ff "${sync[@]}" "${gop[@]}" "${aac[@]}" -output_ts_offset 95442 51_sync_wraps.ts
ff "${sync[@]}" "${gop[@]}" "${aac[@]}" -output_ts_offset 100 51_sync_offset.ts
ff "${sync[@]}" -c:v mpeg2video -bf 2 -c:a mp2 51_sync.mpg
ff -f lavfi -i "$flash" -f lavfi -i "$(beep 96000)" "${x264[@]}" -c:a flac 51_sync_96k.mkv
ff "${sync[@]}" -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 200k -c:a libopus 51_sync.webm
ff "${sync[@]}" -c:v mpeg4 -c:a libmp3lame 51_sync.avi
ff "${sync[@]}" -c:v flv -c:a libmp3lame -ar 44100 51_sync.flv
ff "${sync[@]}" -c:v mpeg2video -pix_fmt yuv420p -c:a pcm_s16le 51_sync.mxf
ff "${sync[@]}" -c:v wmv2 -c:a wmav2 51_sync.wmv
ff "${sync[@]}" "${gop[@]}" -bf 2 "${aac[@]}" -movflags +frag_keyframe+empty_moov+default_base_moof 51_sync_fragmented.mp4
ff -itsoffset 0.6 -f lavfi -i "$flash" -itsoffset 0.6 -f lavfi -i "$(beep 48000),atrim=0.5,asetpts=PTS" "${gop[@]}" "${aac[@]}" 51_sync_late_sound.mp4
ff -f lavfi -i "$flash,trim=0.6,setpts=PTS" -f lavfi -i "$(beep 48000)" "${gop[@]}" "${aac[@]}" 51_sync_late_picture.mkv
ff -f lavfi -i "$(beep 48000)" -f lavfi -i "$flash,trim=0.6,setpts=PTS" -map 1:v -map 0:a "${gop[@]}" "${aac[@]}" 51_sync_late_picture.mp4
ff -ss 0.7 -i 51_sync.mp4 -c copy 51_sync_edited.mp4
ff -i 51_sync.mp4 -i 51_sync_96k.mkv -map 0:v -map 1:a -c:v copy -af "aselect='not(between(t,1.3,1.9))'" -c:a flac 51_sync_gap.mkv
# 52 further kinds of sound
ff -f lavfi -i "sine=d=1" -c:a libopus 52_opus.webm
ff -f lavfi -i "sine=d=1" -c:a libvorbis 52_vorbis.ogg
ff -f lavfi -i "sine=d=1" -ac 2 52_sound.aiff
ff -f lavfi -i "sine=d=1" -c:a aac 52_raw.aac
ff -f lavfi -i "sine=d=2" -c:a libmp3lame -q:a 5 -write_xing 0 52_vbr_no_xing.mp3
ff -f lavfi -i "sine=d=1" -c:a ac3 52_raw.ac3
# whole/ has two seconds in every container, for tests that cut and spoil it
mkdir whole
ff -f lavfi -i testsrc2=s=96x54:r=25:d=2 -f lavfi -i sine=r=48000:d=2 "${x264[@]}" -g 12 "${aac[@]}" -cluster_time_limit 400 whole/film.mkv
c() { ff -i whole/film.mkv -c copy "$@"; }
c whole/moov_last.mp4
c -movflags +faststart whole/faststart.mp4
c -movflags +frag_keyframe+empty_moov+default_base_moof whole/fragmented.mp4
c -movflags +frag_keyframe+empty_moov+default_base_moof+skip_trailer whole/fragmented_no_index.mp4
c -c:a pcm_s16le -movflags +faststart whole/film.mov
c -cluster_time_limit 400 -fflags +bitexact -bitexact whole/no_tags.mkv
c -cluster_time_limit 400 -f matroska - > whole/live.mkv
c whole/film.ts; c whole/film.m2ts; c whole/film.flv
c -an whole/raw.h264
d() { ff -f lavfi -i testsrc2=s=96x54:r=25:d=2 -f lavfi -i sine=r=48000:d=2 "$@"; }
d -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 100k -c:a libopus whole/film.webm
d -c:v mpeg2video -c:a mp2 whole/film.mpg
d -c:v mpeg4 -c:a libmp3lame whole/film.avi
d -c:v mpeg2video -s 160x96 -c:a pcm_s16le whole/film.mxf
d -c:v wmv2 -c:a wmav2 whole/film.wmv
d -c:v libtheora -c:a libvorbis whole/film.ogv
d -c:v prores_ks -c:a pcm_s24le whole/prores.mov
d -vf fps=10 -an whole/anim.gif
for e in wav w64 aiff au caf flac mp3 m4a aac ogg opus ac3 wv; do d -vn "whole/sound.$e"; done
d -vn -c:a libmp3lame -b:a 64k -write_xing 0 whole/no_xing.mp3
for e in png webp tiff bmp; do d -an -vf scale=320:180 -frames:v 1 "whole/still.$e"; done
rm -f pgs.sup late.srt cover.jpg
