// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import SpeechEngine
import Waveforms

/// Checks by the speech engine that recordings say what they should.
///
/// The engine says each word once in each of two voices, and these sayings are kept for later checks with the same
/// value.
public actor RecordingCheck {
  /// A function that is called after each word, with the number of finished words and the total.
  public typealias Progress = @Sendable (_ done: Int, _ total: Int) -> Void

  /// The variants of the book's voice that speak: one high and one low voice. A recording is compared with both.
  private static let variants = ["f2", "m3"]

  private let engine: any Speaking
  private let writer: ScriptWriter
  private let roles: [String: Script.Role]
  private var sayings: [Words: [Waveform]?] = [:]

  private struct Words: Hashable {
    var text: String
    var position: ClipPosition
  }

  /// - Throws: `AnnouncementError` for a phrase book whose vocabulary cannot be written.
  public init(engine: any Speaking, writer: ScriptWriter) throws(AnnouncementError) {
    (self.engine, self.writer) = (engine, writer)
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
    return try RecordingComparison(compared.map { clips[$0] }, sayings: voices).suspicions.map { suspicion in
      RecordingSuspicion(
        kind: suspicion.kind, clip: compared[suspicion.clip], soundsLike: compared[suspicion.soundsLike])
    }
  }

  /// Returns the suspicions about one new clip, compared within the pack to which it is added. It replaces the pack's
  /// clip with the same tokens and position, if there is one.
  ///
  /// The indices of the suspicions refer to `pack` with the new clip appended: the new clip is at `pack.count`.
  ///
  /// - Throws: the errors of ``suspicions(in:progress:)``.
  public func suspicions(of clip: PackClip, in pack: [PackClip]) async throws -> [RecordingSuspicion] {
    let kept = pack.indices.filter { pack[$0].tokens != clip.tokens || pack[$0].position != clip.position }
    let indices = kept + [pack.count]
    return try await suspicions(in: kept.map { pack[$0] } + [clip]).filter { $0.concerns(kept.count) }.map {
      RecordingSuspicion(kind: $0.kind, clip: indices[$0.clip], soundsLike: indices[$0.soundsLike])
    }
  }

  /// Returns the clip's words in each voice; `nil` if the engine cannot say them.
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
    let voice = String(writer.book.voice.prefix { $0 != "+" }) + "+" + variant
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
