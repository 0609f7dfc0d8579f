// SPDX-License-Identifier: Apache-2.0

public import Announcements
import TextFormats

/// A text for one voice, to be spoken without a break.
public struct Utterance: Sendable, Hashable {
  /// The engine's name of the voice, such as `en-us+f2`: letters, digits, `_`, `+`, `-`; at most 64 bytes.
  public var voice: String

  /// The speaking rate in words per minute, 80 to 450.
  public var rate: Int

  /// The words: at most 64 KiB of UTF-8 without NUL. Markup and phoneme escapes have no effect.
  public var text: String

  public init(voice: String, rate: Int, text: String) {
    self.voice = voice
    self.rate = rate
    self.text = text
  }

  /// Creates the utterance of one run of a script.
  ///
  /// - Throws: `.voiceUnknown` if no voice of the engine can say the run.
  public init(_ run: Script.Run, rate: Int) throws(SpeechEngineError) {
    guard let voice = run.voice else {
      throw SpeechEngineError(
        .voiceUnknown, "speaking \(run.language)", "espeak-ng has no voice that people would understand",
        remedy: "use a voice pack with all words, or name another voice")
    }
    self.init(voice: voice, rate: rate, text: run.spelling)
  }
}

/// The engine's output for an utterance.
public struct Speech: Sendable, Hashable {
  /// An event that reports when the engine began a word.
  public struct Word: Sendable, Hashable {
    /// The word's position in Unicode scalars from the start of the text.
    public var textPosition: Int
    /// The word's length in Unicode scalars, as counted by the engine; 0 for an event at the end of a clause.
    public var length: Int
    /// The time in ms from the first sample.
    public var startMilliseconds: Int
  }

  /// The samples: mono, signed 16-bit. Samples beyond the engine's longest answer are cut off; see ``isComplete``.
  public var samples: [Int16]

  /// The sample rate in Hz; 22,050 for the engine's own voices.
  public var sampleRate: Int

  /// The number of samples of the whole utterance, including those cut off.
  public var totalSamples: Int
  public var words: [Word]

  public var isComplete: Bool { samples.count == totalSamples }

  /// The length of the whole utterance in ms, including the part that was cut off.
  public var totalMilliseconds: Int { sampleRate > 0 ? (totalSamples * 1000 + sampleRate - 1) / sampleRate : 0 }
}

/// The identity of the engine. It is part of a clip's recipe, because a different engine or different data produces
/// different bytes.
public struct EngineIdentity: Sendable, Hashable, CustomStringConvertible {
  /// The version of espeak-ng, such as `1.51`.
  public var version: String

  /// An FNV-1a hash over the names, sizes and contents of the engine's data files.
  public var dataFingerprint: UInt64

  public var description: String {
    "espeak-ng-\(version)-\(dataFingerprint.hexadecimal)"
  }
}
