// SPDX-License-Identifier: Apache-2.0

/// Text for one voice, to be spoken in one breath.
public struct Utterance: Sendable, Hashable {
  /// The engine's name of the voice, such as `en-us+f2`: letters, digits, `_`, `+`, `-`; at most 64 bytes.
  public var voice: String

  /// Words a minute, 80 to 450.
  public var rate: Int

  /// Plain words; at most 64 KiB of UTF-8 without NUL. Markup and phoneme escapes are not obeyed.
  public var text: String

  public init(voice: String, rate: Int, text: String) {
    self.voice = voice
    self.rate = rate
    self.text = text
  }
}

/// What the engine made of an utterance.
public struct Speech: Sendable, Hashable {
  /// When the engine began a word.
  public struct Word: Sendable, Hashable {
    /// Unicode scalars from the start of the text.
    public var textPosition: Int
    /// In Unicode scalars, as the engine counts them; 0 where it tells of a clause's end and not of a word.
    public var length: Int
    /// In ms from the first sample.
    public var startMilliseconds: Int
  }

  /// Mono, signed 16-bit; cut at the engine's longest answer, see ``isComplete``.
  public var samples: [Int16]

  /// In Hz; 22,050 for the engine's own voices.
  public var sampleRate: Int

  /// How many samples there would be, uncut.
  public var totalSamples: Int
  public var words: [Word]

  public var isComplete: Bool { samples.count == totalSamples }

  /// The whole length in ms, also of what was cut off.
  public var totalMilliseconds: Int { sampleRate > 0 ? (totalSamples * 1000 + sampleRate - 1) / sampleRate : 0 }
}

/// Which engine speaks: part of a clip's recipe, since another engine or other data makes other bytes.
public struct EngineIdentity: Sendable, Hashable, CustomStringConvertible {
  /// espeak-ng's version, such as `1.51`.
  public var version: String

  /// FNV-1a over the names, sizes and contents of the engine's data files.
  public var dataFingerprint: UInt64

  public var description: String {
    let digits = String(dataFingerprint, radix: 16)
    return "espeak-ng-\(version)-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
  }
}
