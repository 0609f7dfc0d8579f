// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Cuts a long recording into its utterances, where the voice pauses.
public struct RecordingCutting: Sendable, Hashable {
  /// How long the voice is silent between two utterances, in ms: 200 to 10,000.
  public var minimumPauseMilliseconds: Int

  /// What is kept of a pause on each side of an utterance, in ms: enough to hear the noise by, which ``ClipPreparation``
  /// needs to trim closely.
  private static let margin = 250

  /// - Precondition: the pause is between 200 and 10,000 ms.
  public init(minimumPauseMilliseconds: Int = 500) {
    precondition((200...10_000).contains(minimumPauseMilliseconds), "The pause is between 200 and 10,000 ms.")
    self.minimumPauseMilliseconds = minimumPauseMilliseconds
  }

  /// The utterances in their order, each with up to 250 ms of the pauses around it.
  ///
  /// Nothing is guessed: a row said twice gives one utterance too many, and it is for the speaker to say which one goes.
  /// Sounds of less than 50 ms that stand alone are clicks and no utterances.
  /// - Throws: `PackMakingError`: `silent`; `utteranceCountMismatch`, with the times of all that was found.
  public func cut(_ recording: Recording, into count: Int) throws(PackMakingError) -> [Recording] {
    let activity = VoiceActivity(HighPassFilter.apply(to: recording.samples))
    let utterances = activity.utterances(minimumPauseMilliseconds: minimumPauseMilliseconds)
    guard !utterances.isEmpty else {
      throw PackMakingError(
        .silent, "The recording", "has no voice in it", remedy: "check the microphone, and record it again")
    }
    guard utterances.count == count else { throw mismatch(activity, utterances, wanted: count) }
    return utterances.indices.map { index in
      let utterance = utterances[index]
      let before = index > 0 ? utterances[index - 1].upperBound : 0
      let after = index + 1 < utterances.count ? utterances[index + 1].lowerBound : recording.samples.count
      // Half a pause at most: no recording holds a piece of its neighbour.
      let start = max(utterance.lowerBound - VoiceActivity.samples(Self.margin), (before + utterance.lowerBound) / 2)
      let end = min(utterance.upperBound + VoiceActivity.samples(Self.margin), (utterance.upperBound + after) / 2)
      return recording.part(start..<end)
    }
  }

  private func mismatch(
    _ activity: VoiceActivity, _ utterances: [Range<Int>], wanted: Int
  ) -> PackMakingError {
    let tooMany = utterances.count > wanted
    var remedy =
      tooMany
      ? "cut what was said twice out of the recording, or ask for a longer minimum pause"
      : "record what is missing, or ask for a shorter minimum pause"
    if let pause = Self.pause(giving: wanted, activity) {
      remedy += "; a minimum pause of \(pause) ms gives \(wanted) pieces: listen whether they are the rows"
    }
    let pieces = utterances.enumerated().map { "\($0 + 1): \(Self.time($1.lowerBound)) to \(Self.time($1.upperBound))" }
    return PackMakingError(
      .utteranceCountMismatch, "The recording",
      "falls into \(utterances.count) pieces at pauses of \(minimumPauseMilliseconds) ms and there are \(wanted) rows",
      remedy: remedy, details: pieces)
  }

  /// A minimum pause, in whole tens of ms, at which there are so many utterances.
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

  /// Minutes and seconds.
  private static func time(_ sample: Int) -> String {
    let hundredths = sample * 100 / Recording.sampleRate
    return String(format: "%d:%02d.%02d", hundredths / 6000, hundredths / 100 % 60, hundredths % 100)
  }
}
