// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// What a person reads into a microphone so that a voice pack can be made of it: every word of a ``Vocabulary``, in the
/// order easiest to read aloud.
///
/// The blocks keep the vocabulary's order, so that each further one buys more. Within a block the words come first as
/// they sound inside a sentence, and then, those that may end one, with a falling voice: a reader keeps one melody for
/// a while, which gives clips that fit each other.
public struct RecordingSheet: Sendable, Hashable {
  /// One clip to record.
  public struct Row: Sendable, Hashable {
    /// From 1, in the order of reading.
    public var number: Int
    /// The proposed file's name without its ending: the number with zeros before it, so that a folder of recordings
    /// sorts as the sheet does.
    public var file: String
    /// The clip token's name.
    public var token: String
    /// What is said.
    public var text: String
    public var position: ClipPosition
    /// A whole announcement in which the word stands; one that ends with it and is to be read level trails off.
    public var example: String

    /// How to say it, one English sentence.
    public var how: String {
      switch position {
      case .plain: "As in the middle of a sentence, voice level."
      case .rising: "As before a comma, voice rising."
      case .final: "As the last word, voice falling."
      }
    }
  }

  public struct Block: Sendable, Hashable {
    /// What can be said once this block and those before it are recorded.
    public var coverage: String
    /// Whether every payment in the asked currencies needs it recorded.
    public var isRequired: Bool
    public var rows: [Row]
    /// How many clips there are when this block is recorded too.
    public var clipsSoFar: Int

    /// `These 12 clips: every whole amount under 100 in CNY`
    public var title: String {
      rows.count == 1 ? "This one clip: \(coverage)" : "These \(rows.count) clips: \(coverage)"
    }

    /// `Required. 41 clips so far, about 2 minutes.`
    public var progress: String {
      let minutes = RecordingSheet.minutes(clips: clipsSoFar)
      return (isRequired ? "Required. " : "Optional. ")
        + "\(clipsSoFar) \(clipsSoFar == 1 ? "clip" : "clips") so far, "
        + "about \(minutes) \(minutes == 1 ? "minute" : "minutes")."
    }
  }

  /// A word and the pause behind it, in s.
  static let secondsPerClip = 2

  /// The phrase book's, BCP 47.
  public var locale: String
  public var blocks: [Block]

  public var rows: [Row] { blocks.flatMap(\.rows) }

  public init(vocabulary: Vocabulary) {
    locale = vocabulary.locale
    let clipCount = vocabulary.words.reduce(0) { $0 + ($1.mayEnd ? 2 : 1) }
    let digits = max(3, String(clipCount).count)
    var number = 0
    blocks = vocabulary.blocks.map { block in
      let readings =
        block.words.map { ($0, ClipPosition.plain) }
        + block.words.filter(\.mayEnd).map { ($0, ClipPosition.final) }
      let rows = readings.map { word, position in
        number += 1
        let name = String(number)
        return Row(
          number: number, file: String(repeating: "0", count: digits - name.count) + name, token: word.token,
          text: word.text, position: position, example: Self.example(word, position))
      }
      return Block(coverage: block.coverage, isRequired: block.isRequired, rows: rows, clipsSoFar: number)
    }
  }

  /// Announcements do not always end where the vocabulary's example does: `Received one dollar …` goes on.
  private static func example(_ word: Vocabulary.Word, _ position: ClipPosition) -> String {
    let end = word.example.lastIndex(where: \.isLetter).map(word.example.index(after:)) ?? word.example.endIndex
    guard position != .final, word.example[..<end].hasSuffix(word.text) else { return word.example }
    return word.example[..<end] + " …"
  }

  /// How long so many clips take to read, in whole minutes, rounded up.
  static func minutes(clips: Int) -> Int { (clips * secondsPerClip + 59) / 60 }
}
