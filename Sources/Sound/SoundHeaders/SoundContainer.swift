// SPDX-License-Identifier: Apache-2.0

/// The kind of a sound file, recognized by its first bytes.
public enum SoundContainer: String, Sendable, Hashable, CaseIterable {
  /// A RIFF WAVE file.
  case wav
  /// An AIFF or AIFF-C file.
  case aiff
  /// A file in Apple's Core Audio Format.
  case caf
  case mp3, flac, ogg, m4a, aac, amr, au, midi, wma, matroska
  /// WAVE files with big-endian lengths (RIFX) or 64-bit lengths (RF64), and Sony's Wave64.
  case rifx, rf64, w64

  /// Whether Apple's page on `UNNotificationSound` lists the container.
  public var isDocumented: Bool { [.wav, .aiff, .caf].contains(self) }

  /// The extensions that a file of this kind may have. The first one is the usual extension.
  public var fileExtensions: [String] {
    switch self {
    case .aiff: ["aiff", "aif", "aifc"]
    case .ogg: ["ogg", "oga", "opus"]
    case .m4a: ["m4a", "mp4", "m4r", "mov", "3gp"]
    case .au: ["au", "snd"]
    case .midi: ["mid", "midi"]
    case .matroska: ["mka", "webm", "mkv"]
    case .rifx, .rf64: ["wav"]
    default: [rawValue]
    }
  }

  /// The name of the container in a sentence.
  public var title: String {
    switch self {
    case .wav, .aiff, .caf, .mp3, .flac, .aac, .amr, .midi, .wma, .rf64, .w64: rawValue.uppercased()
    case .m4a: "MPEG-4 (M4A)"
    case .ogg: "Ogg"
    case .au: "Sun audio (AU)"
    case .matroska: "Matroska or WebM"
    case .rifx: "big-endian WAV (RIFX)"
    }
  }
}

/// The encoding of a file's samples.
public enum SoundCodec: Sendable, Hashable {
  /// Linear PCM with whole numbers.
  case pcm(bits: Int)
  /// Linear PCM with floating-point numbers.
  case float(bits: Int)
  /// ITU-T G.711.
  case ulaw, alaw
  /// IMA ADPCM with 4 bits, in the blocks of Apple's MA4 or of Microsoft's WAVE.
  case ima4
  case msADPCM, gsm, mp3, aac, alac, flac, vorbis, opus
  /// Another encoding, with the name or number that the file states.
  case other(String)

  /// The name in the output of `crier sounds check`.
  public var name: String {
    switch self {
    case .pcm(let bits): "pcm\(bits)"
    case .float(let bits): "float\(bits)"
    case .ulaw: "ulaw"
    case .alaw: "alaw"
    case .ima4: "ima4"
    case .msADPCM: "ms_adpcm"
    case .gsm: "gsm"
    case .mp3: "mp3"
    case .aac: "aac"
    case .alac: "alac"
    case .flac: "flac"
    case .vorbis: "vorbis"
    case .opus: "opus"
    case .other(let name): name
    }
  }

  /// Whether Apple's page on `UNNotificationSound` lists the encoding. Floating-point samples are linear PCM too.
  public var isDocumented: Bool {
    switch self {
    case .pcm(let bits): (8...32).contains(bits)
    case .float, .ulaw, .alaw, .ima4: true
    default: false
    }
  }

  /// The smallest number of equal samples at full scale that count as clipped. With 8 bits, a loud tone can have
  /// several equal samples at its crest without being clipped.
  package var clippedRun: Int {
    switch self {
    case .pcm(let bits) where bits <= 8: 6
    case .ulaw, .alaw: 6
    default: 3
    }
  }
}
