// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
public import Waveforms

/// The decision whether a sound can be that of certain words. It finds a sound that was cut off, one of other words with
/// another length, one with a hole, and noise, a tone or nearly nothing. It cannot tell apart two texts of the same
/// length.
///
/// It is a value. Its limits leave room around what was measured on 400 announcements and sums in en-US, spoken by
/// piper-tts 1.8.0 with the voice en_US-joe-medium (`docs/speech-servers.md`).
public struct SoundPlausibility: Sendable, Hashable {
  /// Why a sound is refused.
  public enum Refusal: String, Sendable, Hashable, CaseIterable {
    /// Every sample is zero, or there is none.
    case silent
    /// The sound is so quiet that levelling it would make its noise loud.
    case tooQuiet = "too_quiet"
    /// The sound is too short for the words.
    case tooShort = "too_short"
    /// The sound is too long for the words.
    case tooLong = "too_long"
    /// There is a long silence inside the sound.
    case hole
    /// Too many samples are at full scale.
    case clipped
    /// The level hardly changes, as in a tone or in noise. In speech, it changes with each syllable.
    case steady
  }

  /// The length that words are expected to have.
  public struct Pace: Sendable, Hashable {
    /// The part of an utterance's length that does not depend on its words, in ms.
    public var milliseconds: Double
    /// The length of each letter, in ms.
    public var millisecondsPerLetter: Double
    /// The accepted lengths, as shares of the expected one.
    public var accepted: ClosedRange<Double>

    public init(milliseconds: Double, millisecondsPerLetter: Double, accepted: ClosedRange<Double>) {
      self.milliseconds = milliseconds
      self.millisecondsPerLetter = millisecondsPerLetter
      self.accepted = accepted
    }

    /// The pace of the measured voice, whose lengths were 0.83 to 1.27 of the expected ones. The accepted lengths leave
    /// room for English voices that are a third faster or slower.
    public static let english = Pace(milliseconds: 80, millisecondsPerLetter: 66, accepted: 0.55...1.8)

    /// The pace of languages for which nothing was measured.
    public static let unmeasured = Pace(milliseconds: 80, millisecondsPerLetter: 66, accepted: 0.35...2.8)

    /// The pace of a few words that are spoken by themselves, such as a number. Their lengths vary more: 333 sayings of
    /// English numbers and words by the measured voice had 0.50 to 1.40 of the expected lengths.
    public static let excerpt = unmeasured

    /// How far a sound may be from the lengths that a test measured: 15 % shorter or longer. A test speaks about 200
    /// amounts, and others of the same voice may be a little shorter or longer.
    private static let room = 0.15

    /// Accepts only lengths near those that a test measured.
    ///
    /// - Parameter measured: The measured lengths, as shares of the expected one.
    mutating func narrow(to measured: ClosedRange<Double>) {
      let lowest = max(accepted.lowerBound, measured.lowerBound * (1 - Self.room))
      accepted = lowest...max(lowest, min(accepted.upperBound, measured.upperBound * (1 + Self.room)))
    }

    /// Returns the pace of a language, given as a BCP 47 tag.
    public static func of(_ language: String) -> Pace {
      language.prefix { $0 != "-" }.lowercased() == "en" ? english : unmeasured
    }
  }

  /// What is measured on a sound.
  public struct Measures: Sendable, Hashable {
    /// The time from the first audible frame to the last, in ms.
    public var spokenMilliseconds: Int
    /// The longest silence between these, in ms.
    public var longestSilenceMilliseconds: Int
    /// The integrated loudness in LUFS.
    public var loudnessLUFS: Double
    /// How many of a thousand samples are at full scale.
    public var clippedPermille: Double
    /// The difference in dB between the level that nine frames of ten do not exceed, and that of one frame of ten.
    public var levelSpread: Double
  }

  public var pace: Pace
  /// Measured: -21.5 to -14.5 LUFS.
  public var quietestLUFS = -45.0
  /// Measured: up to 370 ms, at a comma.
  public var longestSilenceMilliseconds = 1_000
  /// Measured: up to 0.11, in a voice whose highest peak is always full scale.
  public var mostClippedPermille = 5.0
  /// Measured: 18.0 dB or more. White noise and tones have less than 3 dB.
  public var leastLevelSpread = 10.0

  public init(pace: Pace) { self.pace = pace }

  /// Judges a sound.
  ///
  /// - Parameter speedPercent: The speaking rate that was asked for, in percent of the voice's own.
  /// - Returns: Why the sound is refused; nil if it can be that of the words.
  public func refusal(of sound: Waveform, saying text: String, speedPercent: Int = 100) -> Refusal? {
    guard let measures = Self.measures(of: sound) else { return .silent }
    return refusal(of: measures, letters: Self.letters(in: text), speedPercent: speedPercent)
  }

  /// Judges the measures of a sound.
  ///
  /// - Parameter letters: The number of letters of the words; see ``letters(in:)``.
  public func refusal(of measures: Measures, letters: Int, speedPercent: Int = 100) -> Refusal? {
    if measures.loudnessLUFS < quietestLUFS { return .tooQuiet }
    if measures.clippedPermille > mostClippedPermille { return .clipped }
    if measures.levelSpread < leastLevelSpread { return .steady }
    if measures.longestSilenceMilliseconds > longestSilenceMilliseconds { return .hole }
    let expected =
      (pace.milliseconds + pace.millisecondsPerLetter * Double(letters)) * 100 / Double(max(1, speedPercent))
    let share = Double(measures.spokenMilliseconds) / expected
    if share < pace.accepted.lowerBound { return .tooShort }
    return share > pace.accepted.upperBound ? .tooLong : nil
  }

  /// Returns the length of words in letters of an alphabet. A Chinese character and a Korean syllable count as three, a
  /// kana as two: about what they take to say in Latin letters.
  public static func letters(in text: String) -> Int {
    text.unicodeScalars.reduce(0) { count, scalar in
      switch scalar.value {
      case 0x3041...0x30FF: return count + 2
      case 0xAC00...0xD7A3: return count + 3
      default:
        if scalar.properties.isIdeographic { return count + 3 }
        let isMark = scalar.properties.generalCategory == .nonspacingMark
        return count + (scalar.properties.isAlphabetic && !isMark ? 1 : 0)
      }
    }
  }
}

extension SoundPlausibility {
  /// The frames of which the level is measured, of a second.
  private static let framesPerSecond = 100
  /// A frame is audible if it is at most 40 dB quieter than the loudest frame, and louder than -60 dBFS.
  private static let audibleShare = 0.01
  private static let audibleLevel = 32.768
  /// Samples from here on count as full scale.
  private static let fullScale = 32_700

  /// Measures a sound.
  ///
  /// - Returns: nil if nothing can be heard in it.
  public static func measures(of sound: Waveform) -> Measures? {
    let levels = levels(of: sound)
    guard let loudest = levels.max(), loudest >= audibleLevel else { return nil }
    let floor = max(audibleLevel, loudest * audibleShare)
    guard let first = levels.firstIndex(where: { $0 >= floor }), let last = levels.lastIndex(where: { $0 >= floor }),
      let loudness = try? Mastering.loudness(of: sound)
    else { return nil }
    let spoken = levels[first...last]
    let silences = spoken.split(omittingEmptySubsequences: true) { $0 >= floor }.map(\.count)
    let sorted = spoken.sorted()
    let clipped = sound.samples.count { Int($0.magnitude) >= fullScale }
    let milliseconds = 1000 / framesPerSecond
    return Measures(
      spokenMilliseconds: spoken.count * milliseconds,
      longestSilenceMilliseconds: (silences.max() ?? 0) * milliseconds, loudnessLUFS: loudness,
      clippedPermille: Double(clipped) * 1000 / Double(sound.samples.count),
      levelSpread: 20
        * log10(
          max(1, sorted[(sorted.count - 1) * 9 / 10]) / max(1, sorted[(sorted.count - 1) / 10])))
  }

  /// Returns the level of each whole frame: the root of the mean square of its samples.
  private static func levels(of sound: Waveform) -> [Double] {
    let frame = max(1, sound.sampleRate / framesPerSecond)
    return stride(from: 0, through: sound.samples.count - frame, by: frame).map { start in
      let squares = sound.samples[start..<start + frame].reduce(0) { $0 + Int($1) * Int($1) }
      return (Double(squares) / Double(frame)).squareRoot()
    }
  }
}
