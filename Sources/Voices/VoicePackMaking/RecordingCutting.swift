// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Divides a long recording into its utterances at the speaker's pauses.
public struct RecordingCutting: Sendable, Hashable {
  /// The shortest pause between two utterances, in ms: 200 to 10,000.
  public var minimumPauseMilliseconds: Int

  /// The part of a pause that is kept on each side of an utterance, in ms. This is enough to measure the noise, which
  /// ``ClipPreparation`` needs for precise trimming.
  private static let margin = 250

  /// Creates the settings.
  ///
  /// - Precondition: the pause is between 200 and 10,000 ms.
  public init(minimumPauseMilliseconds: Int = 500) {
    // Not from outside: the command line refuses another pause.
    precondition((200...10_000).contains(minimumPauseMilliseconds), "The pause must be between 200 and 10,000 ms.")
    self.minimumPauseMilliseconds = minimumPauseMilliseconds
  }

  static var silent: PackMakingError {
    PackMakingError(.silent, "The recording", "contains no voice", remedy: "check the microphone, and record it again")
  }

  /// Returns the utterances as recordings, each with up to 250 ms of the pauses around it.
  func pieces(of recording: Recording, at utterances: [Range<Int>]) -> [Recording] {
    utterances.indices.map { index in
      let utterance = utterances[index]
      let before = index > 0 ? utterances[index - 1].upperBound : 0
      let after = index + 1 < utterances.count ? utterances[index + 1].lowerBound : recording.samples.count
      // The margin is at most half a pause, so that no part contains sound of the part before or after it.
      let start = max(utterance.lowerBound - VoiceActivity.samples(Self.margin), (before + utterance.lowerBound) / 2)
      let end = min(utterance.upperBound + VoiceActivity.samples(Self.margin), (utterance.upperBound + after) / 2)
      return recording.part(start..<end)
    }
  }

  /// Returns the error for a recording with another number of utterances than rows.
  func mismatch(
    _ activity: VoiceActivity, _ utterances: [Range<Int>], wanted: Int
  ) -> PackMakingError {
    let tooMany = utterances.count > wanted
    var remedy =
      tooMany
      ? "remove repeated words from the recording, or set a longer minimum pause"
      : "record the missing words, or set a shorter minimum pause"
    if let pause = Self.pause(giving: wanted, activity) {
      remedy +=
        "; a minimum pause of \(pause) ms gives \(PackCheckReport.count(wanted, "piece")): "
        + "check that they match the rows"
    }
    return PackMakingError(
      .utteranceCountMismatch, "The recording",
      "was split into \(PackCheckReport.count(utterances.count, "piece")) at pauses of \(minimumPauseMilliseconds) ms, "
        + "but the sheet has \(PackCheckReport.count(wanted, "row"))",
      remedy: remedy)
  }

  /// Returns a minimum pause that gives the wanted number of utterances, in multiples of 10 ms; `nil` when there is no
  /// such pause.
  private static func pause(giving wanted: Int, _ activity: VoiceActivity) -> Int? {
    let shortest = activity.utterances(minimumPauseMilliseconds: 200)
    guard wanted > 0, wanted <= shortest.count else { return nil }
    let pauses = zip(shortest.dropFirst(), shortest).map { $0.lowerBound - $1.upperBound }.sorted(by: >)
    let kept = wanted > 1 ? pauses[wanted - 2] : VoiceActivity.samples(10_000)
    let joined = wanted - 1 < pauses.count ? pauses[wanted - 1] : VoiceActivity.samples(200)
    let middle = (kept + joined) / 2 * 1000 / Recording.sampleRate / 10 * 10
    guard (200...10_000).contains(middle),
      activity.utterances(minimumPauseMilliseconds: middle).count == wanted
    else { return nil }
    return middle
  }

  /// Returns the times of a range of samples: `0:57.31–0:57.49`.
  static func time(_ range: Range<Int>) -> String { "\(time(range.lowerBound))–\(time(range.upperBound))" }

  /// Returns a position as minutes and seconds.
  static func time(_ sample: Int) -> String {
    let hundredths = sample * 100 / Recording.sampleRate
    return String(format: "%d:%02d.%02d", hundredths / 6000, hundredths / 100 % 60, hundredths % 100)
  }
}
