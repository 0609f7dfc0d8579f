// SPDX-License-Identifier: Apache-2.0

public import Announcements
private import ConcurrencySupport
public import SpeechEngine
import Waveforms

/// Checks with the speech engine whether recordings say the expected words.
///
/// The engine says each word once in each of two voices. The actor keeps these sayings, which are sounds, for later
/// checks.
public actor RecordingCheck {
  /// A function that is called after each word, with the number of finished words and the total.
  public typealias Progress = @Sendable (_ done: Int, _ total: Int) -> Void

  /// The variants of the book's voice that speak: one high and one low voice. A recording is compared with both.
  private static let variants = ["f2", "m3"]

  private let engine: any Speaking
  private let writer: ScriptWriter
  private let roles: [String: Script.Role]
  private let measure: RecordingDistances.Measure
  private var sayings: [Words: [Waveform]?] = [:]

  private struct Words: Hashable {
    var text: String
    var position: ClipPosition
  }

  /// - Throws: `AnnouncementError` for a phrase book whose vocabulary cannot be written.
  public init(engine: any Speaking, writer: ScriptWriter) throws(AnnouncementError) {
    try self.init(engine: engine, writer: writer, measure: TimeWarping.distance)
  }

  /// - Parameter measure: returns the difference between two sounds.
  init(
    engine: any Speaking, writer: ScriptWriter, measure: @escaping RecordingDistances.Measure
  ) throws(AnnouncementError) {
    (self.engine, self.writer, self.measure) = (engine, writer, measure)
    roles = Dictionary(try writer.vocabulary().words.map { ($0.token, $0.role) }) { first, _ in first }
  }

  /// Returns the recordings of a pack that seem to say other words than they should. The same clips and the same engine
  /// give the same answer.
  ///
  /// Clips whose words the engine cannot say are left out. With fewer than ``RecordingComparison/fewestClips``, nothing
  /// is compared.
  ///
  /// - Parameter clips: the clips of one speaker, as ``ClipPreparation`` produces them.
  /// - Throws: `SpeechEngineError` when the engine cannot speak at all; `PackMakingError`: `conversionFailed`.
  public func suspicions(
    in clips: [PackClip], progress: Progress = { _, _ in }
  ) async throws -> [RecordingSuspicion] {
    try await suspicions(in: clips, progress) { clips, sayings throws(PackMakingError) in
      try RecordingComparison(clips, sayings: sayings)
    }
  }

  /// Compares the clips with the same words in the engine's voices, and returns the suspicions.
  private func suspicions(
    in clips: [PackClip], _ progress: Progress = { _, _ in },
    by compare: @Sendable ([PackClip], [[Waveform]]) throws(PackMakingError) -> RecordingComparison
  ) async throws -> [RecordingSuspicion] {
    guard clips.count >= RecordingComparison.fewestClips else { return [] }
    var compared: [Int] = []
    var voices = Array(repeating: [Waveform](), count: Self.variants.count)
    for (index, clip) in clips.enumerated() {
      if let sayings = try await sayings(of: clip) {
        compared.append(index)
        for (voice, saying) in sayings.enumerated() { voices[voice].append(saying) }
      }
      progress(index + 1, clips.count)
    }
    let (recordings, sayings) = (compared.map { clips[$0] }, voices)
    return try await Self.compared { () throws(PackMakingError) in try compare(recordings, sayings) }
      .suspicions.map { suspicion in
        RecordingSuspicion(
          kind: suspicion.kind, clip: compared[suspicion.clip], soundsLike: compared[suspicion.soundsLike])
      }
  }

  /// Runs a comparison outside this actor and on a thread that may be busy for seconds, so that neither the tasks of
  /// the service nor other checks wait for it.
  @concurrent private static func compared(
    _ compare: @Sendable () throws(PackMakingError) -> RecordingComparison
  ) async throws(PackMakingError) -> RecordingComparison {
    try await onWaitingThread(compare)
  }

  /// Returns the suspicions about one new clip, compared within the pack to which it is added. The new clip takes the
  /// place of the pack's clip with the same tokens and position, if there is such a clip.
  ///
  /// Only single words are compared, so the engine says at most the words of the recording sheet. There are no
  /// suspicions about a phrase. The number of comparisons grows with the number of single words, and not with its
  /// square.
  ///
  /// The indices of the suspicions refer to `pack` with the new clip appended: the new clip is at `pack.count`.
  ///
  /// - Throws: the errors of ``suspicions(in:progress:)``.
  public func suspicions(of clip: PackClip, in pack: [PackClip]) async throws -> [RecordingSuspicion] {
    guard clip.isSingleWord, try await sayings(of: clip) != nil else { return [] }
    let kept = pack.indices.filter {
      pack[$0].isSingleWord && (pack[$0].tokens != clip.tokens || pack[$0].position != clip.position)
    }
    let indices = kept + [pack.count]
    let measure = measure
    // The new clip is last, also among the clips that the engine can say.
    return try await suspicions(in: kept.map { pack[$0] } + [clip]) { clips, sayings throws(PackMakingError) in
      try RecordingComparison(of: clips.count - 1, in: clips, sayings: sayings, measure: measure)
    }
    .map { RecordingSuspicion(kind: $0.kind, clip: indices[$0.clip], soundsLike: indices[$0.soundsLike]) }
  }

  /// Returns the clip's words in each voice; `nil` if the engine cannot say them, or has no voice for their language.
  private func sayings(of clip: PackClip) async throws -> [Waveform]? {
    let words = Words(text: clip.text, position: clip.position)
    if let known = sayings[words] { return known }
    var said: [Waveform]? = []
    for variant in Self.variants {
      guard let saying = try await saying(of: clip, variant) else {
        said = nil
        break
      }
      said?.append(saying)
    }
    sayings.updateValue(said, forKey: words)
    return said
  }

  private func saying(of clip: PackClip, _ variant: String) async throws -> Waveform? {
    guard let voice = writer.book.voices.first.map({ $0 + "+" + variant }) else { return nil }
    let role = clip.tokens.first.flatMap { roles[$0] } ?? .phrase
    do {
      return try await EngineVoice(engine: engine, writer: writer, voice: voice)
        .saying(clip.text, role, clip.position, writer.book.locale).waveform
    } catch let error as SpeechEngineError where error.code == .textUnspeakable || error.code == .speechMismatch {
      return nil
    } catch let error as PackMakingError where error.code != .conversionFailed {
      return nil
    }
  }
}
