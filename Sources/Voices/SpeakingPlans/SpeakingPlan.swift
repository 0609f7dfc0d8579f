// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import VoicePacks
package import Waveforms

/// Determines who speaks each part of a script: the clips of a voice pack, the engine, or both in turn. It has value
/// semantics.
package struct SpeakingPlan {
  /// The pause between two voices, in ms. It is longer than between two words of one voice, so that listeners notice
  /// the change.
  package static let pauseBetweenVoicesMilliseconds = 90

  package enum Source {
    /// Clips of one pack that are joined into one sound.
    case recorded([SelectedClip])
    /// Words that the engine speaks.
    case spoken(Script.Run)
  }

  package struct Part {
    package var source: Source
    package var saysAmount: Bool
    /// The pause before the next part, in ms.
    package var pauseMilliseconds = 0
  }

  package var parts: [Part]

  /// The words in the order in which they will be heard. For recorded clips, these are the words in the clips.
  package var heard: [Script.Segment]

  /// The words of the amount as they will be heard; empty for free text.
  package var amountText: String {
    heard.filter { $0.role == .amount }.map(\.text).joined()
  }

  /// The counts and amounts of a summary as they will be heard.
  package var totals: [Script.Total] { Script.totals(of: heard) }

  /// The roles of the words that have no clip in the pack. Names and notes are not included.
  package var rolesWithoutClip: Set<Script.Role> = []

  /// The pack and the pauses between its clips; `nil` if the engine says everything.
  package var recording: (pack: VoicePack, pauses: ClipPauses)?

  package var isSpoken: Bool { recording == nil }
  package var isRecorded: Bool { parts.allSatisfy { if case .recorded = $0.source { true } else { false } } }

  /// Whether each part has a voice. A part has no voice if the pack lacks its words and the engine has no voice for its
  /// language.
  package var hasVoices: Bool {
    parts.allSatisfy { if case .spoken(let run) = $0.source { run.voice != nil } else { true } }
  }

  /// The method's name in the report.
  package var method: String { isSpoken ? "speech" : isRecorded ? "clips" : "mixed" }

  /// Creates a plan in which the engine says everything. Each run is one part.
  package init(spoken script: Script) {
    parts = script.runs.map { run in
      Part(
        source: .spoken(run), saysAmount: run.segments.contains { $0.role == .amount },
        pauseMilliseconds: Self.pauseBetweenVoicesMilliseconds)
    }
    heard = script.runs.flatMap(\.segments)
  }

  /// Creates a plan in which a pack says the words for which it has clips, and the engine says the other words. If the
  /// pack has no clip for any of the words, the engine says everything.
  package init(_ script: Script, recordedBy pack: VoicePack, pauses: ClipPauses) {
    let pieces = script.pieces
    parts = []
    heard = []
    for stretch in pieces.indices.stretches(by: { pieces[$0].token != nil }) {
      let tokens = pieces[stretch].compactMap(\.token)
      guard tokens.count == stretch.count else {
        append(spoken: pieces[stretch], of: script, pauses)
        continue
      }
      for selection in pack.selection(for: tokens) {
        switch selection {
        case .clip(let clip):
          let said = pieces[stretch.lowerBound + clip.tokens.lowerBound..<stretch.lowerBound + clip.tokens.upperBound]
          append(clip, said, pauses)
        case .missing(let range):
          let said = pieces[stretch.lowerBound + range.lowerBound..<stretch.lowerBound + range.upperBound]
          rolesWithoutClip.formUnion(said.map(\.segment.role))
          append(spoken: said, of: script, pauses)
        }
      }
    }
    guard parts.contains(where: { if case .recorded = $0.source { true } else { false } }) else {
      let missing = rolesWithoutClip
      self = SpeakingPlan(spoken: script)
      rolesWithoutClip = missing
      return
    }
    recording = (pack, pauses)
  }

  /// Creates a plan in which a pack says tokens that were chosen elsewhere, such as by the service that sent a push.
  ///
  /// - Returns: `nil` if the pack lacks a clip for any of the tokens, or if there are no tokens.
  package init?(_ tokens: [ClipToken], recordedBy pack: VoicePack, pauses: ClipPauses) {
    var clips: [SelectedClip] = []
    for selection in pack.selection(for: tokens) {
      guard case .clip(let clip) = selection else { return nil }
      clips.append(clip)
    }
    guard !clips.isEmpty else { return nil }
    parts = [Part(source: .recorded(clips), saysAmount: tokens.contains { $0.role == .amount })]
    // The words are read back without their punctuation, and readers ignore spaces in languages without spaces between
    // words.
    heard = clips.map { Script.Segment($0.text + " ", $0.role) }
    recording = (pack, pauses)
  }

  /// Returns the sound of a plan whose only part is recorded; `nil` for any other plan.
  ///
  /// - Parameter edgeMilliseconds: the silence at both ends of the sound.
  package func stitched(edgeMilliseconds: Int) -> Waveform? {
    guard let recording, parts.count == 1, case .recorded(let clips) = parts[0].source else { return nil }
    return recording.pack.stitched(clips, pauses: recording.pauses, edgeMilliseconds: edgeMilliseconds)
  }

  private mutating func append(_ clip: SelectedClip, _ said: ArraySlice<Script.Piece>, _ pauses: ClipPauses) {
    let isAmount = said.contains { $0.segment.role == .amount }
    if let first = said.first, let last = said.last {
      // The text before the first word and after the last word is kept.
      let opening = first.segment.text.prefix { !$0.isLetter }
      let closing = last.segment.text.reversed().prefix { !$0.isLetter }.reversed()
      heard.append(Script.Segment(opening + clip.text + closing, first.segment.role))
    }
    if let last = parts.indices.last, case .recorded(let clips) = parts[last].source {
      parts[last].source = .recorded(clips + [clip])
      parts[last].saysAmount = parts[last].saysAmount || isAmount
    } else {
      parts.append(Part(source: .recorded([clip]), saysAmount: isAmount))
    }
    close(said, pauses)
  }

  private mutating func append(spoken said: ArraySlice<Script.Piece>, of script: Script, _ pauses: ClipPauses) {
    for piece in said {
      let isAmount = piece.segment.role == .amount
      heard.append(piece.segment)
      let run = script.runs[piece.run]
      if let last = parts.indices.last, case .spoken(var open) = parts[last].source, open.voice == run.voice {
        open.segments.append(piece.segment)
        parts[last].source = .spoken(open)
        parts[last].saysAmount = parts[last].saysAmount || isAmount
      } else {
        let segment = Script.Run(language: run.language, voice: run.voice, segments: [piece.segment])
        parts.append(Part(source: .spoken(segment), saysAmount: isAmount))
      }
      close([piece], pauses)
    }
  }

  /// Sets the pause after the last part, so that two voices are separated by at least the pause between two voices of
  /// the engine.
  private mutating func close(_ said: ArraySlice<Script.Piece>, _ pauses: ClipPauses) {
    guard let last = parts.indices.last, let pause = said.last?.pause else { return }
    parts[last].pauseMilliseconds = max(Self.pauseBetweenVoicesMilliseconds, pauses.milliseconds(pause))
  }
}

extension Range<Int> {
  /// Divides the range into stretches of consecutive elements for which `answer` returns the same value.
  fileprivate func stretches(by answer: (Int) -> Bool) -> [Range<Int>] {
    var stretches: [Range<Int>] = []
    for index in self {
      if let last = stretches.last, answer(last.lowerBound) == answer(index) {
        stretches[stretches.count - 1] = last.lowerBound..<index + 1
      } else {
        stretches.append(index..<index + 1)
      }
    }
    return stretches
  }
}
