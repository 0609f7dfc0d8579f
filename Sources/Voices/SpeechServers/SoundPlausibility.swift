// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
public import Waveforms

/// A check of whether a sound can be a reading of certain words. It detects a sound that was cut off, that has a hole,
/// or that is too long or too short for the words. It also detects noise, a tone and near silence. It cannot
/// distinguish two texts of the same length.
///
/// The limits are wider than the values that were measured on 400 announcements and sums in en-US, spoken by piper-tts
/// 1.8.0 with the voice en_US-joe-medium (`docs/speech-servers.md`).
public struct SoundPlausibility: Sendable, Hashable {
  /// The reason why a sound is refused.
  public enum Refusal: String, Sendable, Hashable, CaseIterable {
    /// Every sample is zero, or there are no samples.
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
    /// The level hardly changes, as in a tone or in noise. In speech, the level changes with each syllable.
    case steady
  }

  /// The expected length of spoken words.
  public struct Pace: Sendable, Hashable {
    /// The part of an utterance's length that does not depend on its words, in ms.
    public var milliseconds: Double
    /// The length of each letter, in ms.
    public var millisecondsPerLetter: Double
    /// The accepted lengths, as ratios to the expected length.
    public var accepted: ClosedRange<Double>

    /// The pace of the measured voice, whose lengths were 0.83 to 1.27 times the expected lengths. The accepted lengths
    /// leave room for English voices that are a third faster or slower.
    public static let english = Pace(milliseconds: 80, millisecondsPerLetter: 66, accepted: 0.55...1.8)

    /// The pace of languages for which nothing was measured.
    public static let unmeasured = Pace(milliseconds: 80, millisecondsPerLetter: 66, accepted: 0.35...2.8)

    /// The pace of a few words that are spoken by themselves, such as a number. Their lengths vary more: 333 English
    /// numbers and words in the measured voice took 0.50 to 1.40 times the expected lengths.
    public static let excerpt = unmeasured

    /// How much shorter or longer a sound may be than the lengths that a test measured: 15 %. A test speaks about 200
    /// amounts, and other amounts in the same voice may be slightly shorter or longer.
    private static let room = 0.15

    /// Accepts only lengths near those that a test measured.
    ///
    /// - Parameter measured: The measured lengths, as ratios to the expected length.
    mutating func narrow(to measured: ClosedRange<Double>) {
      let lowest = max(accepted.lowerBound, measured.lowerBound * (1 - Self.room))
      accepted = lowest...max(lowest, min(accepted.upperBound, measured.upperBound * (1 + Self.room)))
    }

    /// Returns the pace of a language, given as a BCP 47 tag.
    public static func of(_ language: String) -> Pace {
      language.prefix { $0 != "-" }.lowercased() == "en" ? english : unmeasured
    }
  }

  /// The measurements of a sound.
  public struct Measures: Sendable, Hashable {
    /// The time from the first audible frame to the last, in ms.
    public var spokenMilliseconds: Int
    /// The longest silence between these two frames, in ms.
    public var longestSilenceMilliseconds: Int
    /// The integrated loudness in LUFS.
    public var loudnessLUFS: Double
    /// How many of a thousand samples are at full scale.
    public var clippedPermille: Double
    /// The difference in dB between the 90th and the 10th percentile of the frames' levels.
    public var levelSpread: Double
  }

  public var pace: Pace
  /// The lowest accepted loudness in LUFS. Measured loudness: -21.5 to -14.5 LUFS.
  public var quietestLUFS = -45.0
  /// The longest accepted silence inside a sound, in ms. Measured silences: up to 370 ms, at a comma.
  public var longestSilenceMilliseconds = 1_000
  /// The largest accepted number of clipped samples in a thousand. Measured numbers: up to 0.11, in a voice whose
  /// highest peak is always at full scale.
  public var mostClippedPermille = 5.0
  /// The smallest accepted level spread in dB. Measured spreads: 18.0 dB or more. White noise and tones have less than
  /// 3 dB.
  public var leastLevelSpread = 10.0

  public init(pace: Pace) { self.pace = pace }

  /// Checks a sound.
  ///
  /// - Parameter speedPercent: The requested speaking rate, in percent of the voice's own rate.
  /// - Returns: The reason to refuse the sound; nil if the sound can be a reading of the words.
  public func refusal(of sound: Waveform, saying text: String, speedPercent: Int = 100) -> Refusal? {
    guard let measures = Self.measures(of: sound) else { return .silent }
    return refusal(of: measures, letters: Self.letters(in: text), speedPercent: speedPercent)
  }

  /// Checks the measurements of a sound.
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
  /// kana as two, because speaking them takes about as long as speaking that number of Latin letters.
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
  /// The number of frames in a second. The level of each frame is measured.
  private static let framesPerSecond = 100
  /// A frame is audible if it is at most 40 dB quieter than the loudest frame, and louder than -60 dBFS.
  private static let audibleShare = 0.01
  private static let audibleLevel = 32.768
  /// A sample of this magnitude or more counts as full scale.
  private static let fullScale = 32_700

  /// Measures a sound.
  ///
  /// - Returns: nil if nothing in the sound is audible.
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
