// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import VoicePacks

/// The script that a person reads into a microphone to record a voice pack. It contains every word of a ``Vocabulary``,
/// in the order that is easiest to read aloud.
///
/// The blocks keep the vocabulary's order, so that each further block makes more announcements possible. Each block
/// first lists its words as they sound inside a sentence. Then it lists the words that may end a sentence, to be read
/// with a falling voice. The reader thus keeps one intonation for a while, which gives consistent clips.
public struct RecordingSheet: Sendable, Hashable {
  public struct Block: Sendable, Hashable {
    /// The announcements that become possible when this block and all blocks before it are recorded.
    public var coverage: String
    /// Whether payments in the required currencies need this block.
    public var isRequired: Bool
    public var rows: [SheetRow]
    /// The number of clips in this block and all blocks before it.
    public var clipsSoFar: Int

    /// The block's title: `These 12 clips: every whole amount under 100 in CNY`.
    public var title: String {
      rows.count == 1 ? "This one clip: \(coverage)" : "These \(rows.count) clips: \(coverage)"
    }

    /// The progress line: `Required. 41 clips so far, about 2 minutes.`
    public var progress: String {
      let minutes = RecordingSheet.minutes(clips: clipsSoFar)
      return (isRequired ? "Required. " : "Optional. ")
        + "\(clipsSoFar) \(clipsSoFar == 1 ? "clip" : "clips") so far, "
        + "about \(minutes) \(minutes == 1 ? "minute" : "minutes")."
    }
  }

  /// The time in seconds that a word and the pause after it take.
  static let secondsPerClip = 2

  /// The phrase book's locale (BCP 47).
  public var locale: String
  public var blocks: [Block]

  /// The codes (ISO 4217) of the currencies to which the sheet is limited; empty if it is not limited.
  public var currencies: [String]

  public var rows: [SheetRow] { blocks.flatMap(\.rows) }

  /// Creates the sheet of a vocabulary.
  ///
  /// - Parameter currencies: the codes (ISO 4217) of the currencies to which the vocabulary is limited.
  public init(vocabulary: Vocabulary, currencies: [String] = []) {
    self.currencies = currencies
    let locale = vocabulary.locale
    self.locale = locale
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
        // The leading zeros sort a folder of recordings like the recording sheet.
        return SheetRow(
          number: number, file: String(repeating: "0", count: digits - name.count) + name, token: word.token,
          text: word.text, position: position, example: Self.example(word, position), locale: locale)
      }
      return Block(coverage: block.coverage, isRequired: block.isRequired, rows: rows, clipsSoFar: number)
    }
  }

  /// Returns the sheet with only the rows whose words a pack lacks: nobody recorded the words, or the phrase book has
  /// changed them since. The rows keep their numbers and file names.
  public func missing(from pack: PackManifest) -> RecordingSheet {
    var sheet = self
    var count = 0
    sheet.blocks = blocks.compactMap { block in
      var block = block
      block.rows.removeAll { pack.hasRecording(of: $0) }
      count += block.rows.count
      block.clipsSoFar = count
      return block.rows.isEmpty ? nil : block
    }
    return sheet
  }

  /// Returns an example for a word in a position. The vocabulary's example may end with the word although announcements
  /// can continue after it: `Received one dollar …`.
  private static func example(_ word: Vocabulary.Word, _ position: ClipPosition) -> String {
    let end = word.example.lastIndex(where: \.isLetter).map(word.example.index(after:)) ?? word.example.endIndex
    guard position != .final, word.example[..<end].hasSuffix(word.text) else { return word.example }
    return word.example[..<end] + " …"
  }

  /// Returns the time that reading this number of clips takes, in whole minutes, rounded up.
  static func minutes(clips: Int) -> Int { (clips * secondsPerClip + 59) / 60 }
}

extension PackManifest {
  fileprivate func hasRecording(of row: SheetRow) -> Bool {
    guard let alternates = tokens[row.token] else { return false }
    let file =
      switch row.position {
      case .plain: Optional(alternates.plain)
      case .rising: alternates.rising
      case .final: alternates.final
      }
    return file.flatMap { clips[$0] }?.says([row.token]) == true
  }
}
