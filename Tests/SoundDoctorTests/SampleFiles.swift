// SPDX-License-Identifier: Apache-2.0

import SoundDoctor

/// The files of the tests, by kind.
extension SampleFile {
  static let all = documented + unusual + lengths + unsupported + levels + names + headers

  /// Files in the formats that Apple lists.
  static let documented: [SampleFile] = [
    .sox("16.wav"), .sox("8.wav", "-b 8"), .sox("24.wav", "-b 24"), .sox("32.wav", "-b 32"),
    .sox("ulaw.wav", "-e u-law"), .sox("alaw.wav", "-e a-law"), .sox("ima.wav", "-e ima-adpcm"),
    .sox("stereo.wav", channels: 2), .sox("8k.wav", rate: 8_000), .sox("48k.wav", rate: 48_000),
    .sox("16.aiff"), .sox("8.aiff", "-b 8"), .sox("24.aiff", "-b 24"), .sox("32.aiff", "-b 32"),
    .sox("16.caf"), .sox("24.caf", "-b 24"), .sox("32.caf", "-b 32"), .sox("ulaw.caf", "-e u-law"),
    .sox("alaw.caf", "-e a-law"), .sox("stereo.caf", channels: 2),
    .sox("compressed.aiff", "-t aifc -b 16"), .sox("odd.wav", "-b 8", rate: 22_050, frames: 22_051),
    .ffmpeg("ffmpeg.wav", "-c:a pcm_s16le"), .ffmpeg("ffmpeg-ima.wav", "-c:a adpcm_ima_wav"),
    .ffmpeg("stereo-ima.wav", "-ac 2 -c:a adpcm_ima_wav", filter: "volume=8dB"),
    .ffmpeg("ima4.aiff", "-c:a adpcm_ima_qt"),
    .ffmpeg("ima4.caf", "-c:a adpcm_ima_qt"),
    .ffmpeg("stereo-ima4.caf", "-ac 2 -c:a adpcm_ima_qt", filter: "volume=8dB"),
    .ffmpeg("sowt.aiff", "-c:a pcm_s16le"), .ffmpeg("ulaw.aiff", "-c:a pcm_mulaw"),
    .ffmpeg("alaw.aiff", "-c:a pcm_alaw"), .ffmpeg("little.caf", "-c:a pcm_s24le"), .ffmpeg("8.caf", "-c:a pcm_s8"),
    .ffmpeg("tagged.wav", "-metadata title=Chime -c:a pcm_s16le"),
  ]

  /// Files that are played, but not as they should be.
  static let unusual: [SampleFile] = [
    .sox("float.wav", "-e float -b 32", [.floatSamples]), .ffmpeg("double.wav", "-c:a pcm_f64le", [.floatSamples]),
    .ffmpeg("float.aiff", "-c:a pcm_f32be", [.floatSamples]), .ffmpeg("float.caf", "-c:a pcm_f32le", [.floatSamples]),
    .sox("six.wav", channels: 6, [.manyChannels]), .sox("96k.wav", rate: 96_000, [.unusualSampleRate]),
    .sox("4k.aiff", rate: 4_000, [.unusualSampleRate]),
    SampleFile(
      name: "piped.caf",
      command: "sox -V1 -r 22050 -n -b 16 -t wav - synth 1 sine 440 gain -13 | "
        + "ffmpeg -loglevel error -i - -c:a pcm_s16be -f caf - > piped.caf",
      codes: [.lengthUnstated]),
  ]

  /// Sounds just below, at and above 30 s.
  static let lengths: [SampleFile] =
    [(239_920, false), (239_999, false), (240_000, true), (240_080, true)].flatMap {
      (frames, isTooLong) -> [SampleFile] in
      let codes: Set<SoundProblem.Code> = isTooLong ? [.tooLong] : []
      // A block of IMA ADPCM is filled with silence, which may reach 30 s.
      let padded: Set<SoundProblem.Code> = isTooLong ? [.tooLong] : [.paddingReachesLimit]
      return [
        .sox("16.wav", rate: 8_000, frames: frames, codes), .sox("8.wav", "-b 8", rate: 8_000, frames: frames, codes),
        .sox("ulaw.wav", "-e u-law", rate: 8_000, frames: frames, codes),
        .sox("ima.wav", "-e ima-adpcm", rate: 8_000, frames: frames, padded),
        .sox("16.aiff", rate: 8_000, frames: frames, codes), .sox("16.caf", rate: 8_000, frames: frames, codes),
        .ffmpeg("alaw.caf", "-c:a pcm_alaw", rate: 8_000, frames: frames, codes),
      ]
    } + [
      // The last packet of IMA4 counts as a whole. These lengths are whole packets of 64 frames.
      .ffmpeg("below.caf", "-c:a adpcm_ima_qt", rate: 8_000, frames: 239_936, []),
      .ffmpeg("at.caf", "-c:a adpcm_ima_qt", rate: 8_000, frames: 240_000, [.tooLong]),
      .ffmpeg("below.aiff", "-c:a adpcm_ima_qt", rate: 8_000, frames: 239_936, []),
      .ffmpeg("above.aiff", "-c:a adpcm_ima_qt", rate: 8_000, frames: 240_064, [.tooLong]),
      .sox("odd-rate.wav", rate: 11_025, frames: 330_749, []),
      .sox("odd-rate.wav", rate: 11_025, frames: 330_750, [.tooLong]),
    ]

  /// Files in formats that Apple does not list.
  static let unsupported: [SampleFile] = [
    .ffmpeg("tone.mp3", "-c:a libmp3lame", [.mp3NotDocumented]),
    .ffmpeg("tagged.mp3", "-c:a libmp3lame -metadata title=Chime", rate: 44_100, [.mp3NotDocumented]),
    .ffmpeg("mp3.wav", "-c:a libmp3lame", [.mp3NotDocumented]),
    .ffmpeg("tone.flac", "-c:a flac", [.flacNotSupported]),
    .ffmpeg("tone.ogg", "-c:a libvorbis", rate: 44_100, [.oggNotSupported]),
    .ffmpeg("tone.opus", "-c:a libopus", rate: 48_000, [.oggNotSupported]),
    .ffmpeg("tone.m4a", "-c:a aac", [.m4aNotSupported]), .ffmpeg("alac.m4a", "-c:a alac", [.m4aNotSupported]),
    .ffmpeg("tone.aac", "-c:a aac", [.aacNotSupported]),
    .ffmpeg("alac.caf", "-c:a alac", [.codecNotSupported]),
    .sox("ms.wav", "-e ms-adpcm", [.msADPCMNotSupported]),
    .ffmpeg("ffmpeg-ms.wav", "-c:a adpcm_ms", [.msADPCMNotSupported]),
    .sox("gsm.wav", "-e gsm", rate: 8_000, [.gsmNotSupported]), .sox("tone.au", [.containerNotSupported]),
    .sox("tone.w64", [.containerNotSupported]),
    .ffmpeg("rf64.wav", "-rf64 always -c:a pcm_s16le", [.containerNotSupported]),
    .ffmpeg("tone.mka", "-c:a pcm_s16le", [.containerNotSupported]),
    .ffmpeg("tone.wma", "-c:a wmav2", [.containerNotSupported]),
  ]

  static let levels: [SampleFile] = [
    .sox("as-loud-as-tones.wav", gain: -9), .sox("loud.wav", gain: -6, [.tooLoud]),
    .sox("quiet.aiff", gain: -30, [.tooQuiet]),
    .sox("clipped.wav", gain: 10, [.clipping, .tooLoud]), .sox("clipped.caf", gain: 10, [.clipping, .tooLoud]),
    .sox("full.wav", gain: 0, [.tooLoud]), .sox("full-ulaw.wav", "-e u-law", gain: 0, [.tooLoud]),
    .ffmpeg("beyond.wav", "-c:a pcm_f32le", filter: "volume=22dB", [.floatSamples, .clipping, .tooLoud]),
    SampleFile(name: "silent.wav", command: "sox -D -r 8000 -n -b 16 silent.wav trim 0 1", codes: [.silent]),
    SampleFile(name: "silent.caf", command: "sox -D -r 8000 -n -b 16 silent.caf trim 0 1", codes: [.silent]),
    .sox("faint.wav", "-b 24", gain: -70, [.silent]),
  ]

  static let names: [SampleFile] = [
    SampleFile.sox("tone.wav").renamed("tone.caf", [.wrongExtension]),
    SampleFile.sox("tone.caf").renamed("tone.wav", [.wrongExtension]),
    SampleFile.sox("tone.aiff").renamed("tone.wav", [.wrongExtension]),
    SampleFile.sox("tone.wav").renamed("tone.mp3", [.wrongExtension]),
    SampleFile.sox("tone.wav").renamed("tone", [.wrongExtension]),
    SampleFile.sox("tone.wav").renamed("tone.v2", [.wrongExtension]),
    SampleFile.ffmpeg("tone.mp3", "-c:a libmp3lame").renamed("tone.wav", [.mp3NotDocumented]),
    SampleFile.ffmpeg("tone.flac", "-c:a flac").renamed("tone.caf", [.flacNotSupported]),
    .sox("tone.aif", [.unpublishableName]), .sox("tone.aifc", [.unpublishableName]),
    SampleFile.sox("tone.wav").renamed("TONE.WAV", [.unpublishableName]),
    .sox("default.wav"), .sox("default.caf"),
    SampleFile.sox("tone.wav").renamed("default", [.wrongExtension, .reservedName]),
    .sox("cafe\u{301}.wav", [.decomposedName]), .sox("caf\u{E9}.wav"),
    SampleFile.sox("tone.wav").renamed(".tone.wav", [.invalidName]),
    SampleFile.sox("tone.wav").renamed("to\nne.wav", [.invalidName]),
    .sox("支付宝到账.wav"), .sox("it's.wav"),
  ]

  /// Files whose header does not match their bytes.
  static let headers: [SampleFile] = [
    SampleFile.sox("cut.wav").edited([.truncated]) { $0.removeLast(10_000) },
    SampleFile.sox("one-byte.wav").edited([.truncated]) { $0.removeLast() },
    SampleFile.sox("cut-ima.wav", "-e ima-adpcm").edited([.truncated]) { $0.removeLast(4_000) },
    SampleFile.sox("cut.aiff").edited([.truncated]) { $0.removeLast(10_000) },
    SampleFile.sox("cut.caf").edited([.truncated]) { $0.removeLast(10_000) },
    SampleFile.ffmpeg("cut-ima4.caf", "-c:a adpcm_ima_qt").edited([.truncated]) { $0.removeLast(3_400) },
    SampleFile.sox("header-only.wav").edited([.truncated]) { $0 = Array($0.prefix(44)) },
    SampleFile.sox("half-header.wav").edited([.headerMismatch]) { $0 = Array($0.prefix(30)) },
    SampleFile.sox("half-header.caf").edited([.headerMismatch]) { $0 = Array($0.prefix(30)) },
    SampleFile.sox("half-header.aiff").edited([.headerMismatch]) { $0 = Array($0.prefix(30)) },
    SampleFile.sox("riff-long.wav").edited([.headerMismatch]) { $0.set($0.count + 92, 4, at: 4) },
    SampleFile.sox("riff-short.wav").edited([.headerMismatch]) { $0.set(1_000, 4, at: 4) },
    SampleFile.sox("data-long.wav").edited([.truncated]) { $0.set(10_000_000, 4, at: $0.offset(after: "data")) },
    SampleFile.sox("data-short.wav").edited([.headerMismatch]) { $0.set(20_000, 4, at: $0.offset(after: "data")) },
    SampleFile.sox("trailing.wav").edited([.headerMismatch]) { $0 += Array("TAG and more".utf8) },
    SampleFile.sox("byte-rate.wav").edited([.headerMismatch]) { $0.set(1, 4, at: 28) },
    SampleFile.sox("rate.wav").edited([.headerMismatch]) { $0.set(11_025, 4, at: 24) },
    SampleFile.sox("block.wav").edited([.headerMismatch]) { $0.set(4, 2, at: 32) },
    SampleFile.sox("fact.wav", "-e ima-adpcm").edited([.headerMismatch]) {
      $0.set(90_000, 4, at: $0.offset(after: "fact") + 4)
    },
    SampleFile.sox("frames.aiff").edited([.headerMismatch]) {
      $0.set(100, 4, at: $0.offset(after: "COMM") + 6, big: true)
    },
    SampleFile.sox("form.aiff").edited([.headerMismatch]) { $0.set(100, 4, at: 4, big: true) },
    SampleFile.sox("packet.caf").edited([.headerMismatch]) {
      $0.set(3, 4, at: $0.offset(after: "lpcm") + 4, big: true)
    },
    SampleFile.sox("data-short.caf").edited([.headerMismatch]) {
      $0.set(20_004, 8, at: $0.offset(after: "data"), big: true)
    },
    SampleFile(
      name: "piped.wav",
      command: "sox -V1 -r 22050 -n -b 16 -t aiff - synth 1 sine 440 gain -13 | "
        + "ffmpeg -loglevel error -f aiff -i - -f wav - > piped.wav",
      codes: [.headerMismatch]),
    SampleFile.sox("no-data-length.wav").edited([.headerMismatch]) { $0.set(0, 4, at: $0.offset(after: "data")) },
    SampleFile.sox("no-lengths.wav").edited([.headerMismatch]) {
      $0.set(0, 4, at: 4)
      $0.set(0, 4, at: $0.offset(after: "data"))
    },
    SampleFile.sox("no-sound-length.aiff").edited([.headerMismatch]) {
      $0.set(8, 4, at: $0.offset(after: "SSND"), big: true)
    },
    SampleFile.sox("no-pad.wav").edited([.headerMismatch]) { $0.insertUnpadded("LIST", before: "data") },
    SampleFile.sox("no-pad-first.wav").edited([.headerMismatch]) { $0.insertUnpadded("LIST", before: "fmt ") },
    SampleFile.sox("no-pad-8.wav", "-b 8", frames: 22_051).edited([.headerMismatch]) {
      $0.removeLast()  // The byte that pads the sound itself.
      $0.insertUnpadded("LIST", before: nil)
    },
    SampleFile.sox("no-pad.aiff").edited([.headerMismatch]) {
      $0.insertUnpadded("NAME", before: "COMM", big: true)
    },
    SampleFile(name: "none.wav", command: "sox -r 8000 -n -b 16 none.wav trim 0 0", codes: [.noFrames]),
    SampleFile(name: "none.aiff", command: "sox -r 8000 -n -b 16 none.aiff trim 0 0", codes: [.noFrames]),
    SampleFile(name: "none.caf", command: "sox -r 8000 -n -b 16 none.caf trim 0 0", codes: [.noFrames]),
  ]
}
