// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import Ledger
import Playback
import TextFormats
import VoicePackIntegrity
import VoicePackMaking
import VoicePacks
import Waveforms

extension Voices {
  struct Listen: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Plays the clips of a voice pack one after the other and says what each one should be.",
      discussion: """
        On a terminal, the command waits after each clip. Enter plays the next clip. The letters r, w and q need Enter \
        too: r repeats the clip, w marks it as wrong (and removes the mark of a marked clip), q quits. Without a \
        terminal it plays on. Marks are kept beside the pack and \
        are forgotten when a clip is recorded again.

        Each clip is a line: file, position, words, length, and "wrong" for a marked clip. With --wrong, the lines are \
        the rows of the recording sheet to record again: number, file name of the recording, position, words. Give \
        the sheet that was read aloud with --sheet, or its currencies with --currency. Without them, a row that may \
        have another number on the sheet has a hyphen instead of the number, and its token instead of a file name.

        EXAMPLES
          crier voices listen my-shop
          crier voices listen my-shop one two "twenty dollars"
          crier voices listen my-shop --wrong
          crier voices listen my-shop --wrong --sheet sheet.csv
        """)

    @Argument(help: "The id of the pack, as crier voices list shows it.")
    var id: String

    @Argument(help: ArgumentHelp("The tokens to play; see crier voices sheet. (default: all)", valueName: "token"))
    var tokens: [String] = []

    @Flag(help: "List the rows that were marked as wrong, and play nothing.")
    var wrong = false

    @Option(help: "With --wrong: the CSV sheet that was read aloud.", completion: .file())
    var sheet: String?

    @Option(help: "With --wrong: a currency to which the sheet was limited; may be given several times.")
    var currency: [String] = []

    @Flag(help: "Play nothing; only print the lines.")
    var noSound = false

    @Flag(help: "Print lines of JSON.")
    var json = false

    @OptionGroup(title: "Playback") var player: PlayerOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      let given = sheet != nil ? "--sheet" : currency.isEmpty ? nil : "--currency"
      if let given, !wrong {
        throw ValidationError("\(given) can only be used with --wrong: add it, or drop \(given).")
      }
      if sheet != nil, !currency.isEmpty {
        throw ValidationError("--currency cannot be used with --sheet, which has its currencies: drop one of them.")
      }
    }

    func perform() async throws {
      let home = player.home.folder
      let shelf = files.shelf(home: home)
      guard let directory = shelf.directory(id: id) else { throw Voices.unknown(id, shelf) }
      let pack = try shelf.pack(id: id)
      try PackIntegrity.verify(pack)
      let voices = directory.deletingLastPathComponent()
      let writer = try? files.phraseBooks(home: home).writer(for: pack.manifest.locale)
      let all = ListedClip.clips(of: pack.manifest, vocabulary: try? writer?.vocabulary())
      let clips = try selected(all)
      var marks = try PackMarks(of: pack.manifest, in: voices)
      if wrong { return try list(clips.filter { marks.contains($0.file) }, try places(of: all, writer), pack) }
      let asks = isatty(STDIN_FILENO) == 1 && !noSound
      var session = ListeningSession(count: clips.count)
      let progress = player.progress()
      while let index = session.current {
        let clip = clips[index]
        if !session.isRepeated { try StandardOutput.write(try line(clip, pack, isMarked: marks.contains(clip.file))) }
        if !noSound { try await play(clip, pack, progress) }
        guard session.next(asks ? Self.answer() : .next) else { continue }
        guard voices.standardizedFileURL == home.voices.standardizedFileURL else {
          Terminal.note(
            "The clip was not marked, because the pack \(id) belongs to the installation: only clips of packs in "
              + "\(home.voices.path(percentEncoded: false)) can be marked.")
          continue
        }
        try home.requirePrivate()
        marks = try PackMarks.set(!marks.contains(clip.file), file: clip.file, of: pack.manifest, in: voices)
        Terminal.note("\(clip.file): \(marks.contains(clip.file) ? "marked as wrong" : "no longer marked").")
      }
      if asks, !marks.files.isEmpty {
        let count = marks.files.count
        Terminal.note(
          "\(count) \(count == 1 ? "clip is" : "clips are") marked as wrong: see crier voices listen \(id) --wrong")
      }
    }

    private func selected(_ clips: [ListedClip]) throws -> [ListedClip] {
      guard !tokens.isEmpty else { return clips }
      return try tokens.flatMap { token in
        let found = clips.filter { $0.says(token) }
        guard !found.isEmpty else {
          throw ValidationError(
            "The pack \(id) has no clip of \(Terminal.printable(token)): see crier voices listen \(id) --no-sound.")
        }
        return found
      }
    }

    private func play(_ clip: ListedClip, _ pack: VoicePack, _ progress: PlayProgress) async throws {
      let file = pack.directory.appending(path: clip.file)
      let announcement = StoredAnnouncement(
        file: file, title: clip.text, id: UUID().uuidString, expiresAt: Date(timeIntervalSinceNow: 60))
      try await player.play(
        [announcement], titles: [clip.text], files: files, mustBeHeard: true, progress: progress)
    }

    private func line(_ clip: ListedClip, _ pack: VoicePack, isMarked: Bool) throws -> String {
      let line = ClipLine(
        clip, durationMilliseconds: pack.milliseconds(ofClip: clip.file) ?? 0, isMarked: isMarked)
      return json ? try line.jsonLine : line.line
    }

    /// Returns the rows of the sheet that was read aloud.
    ///
    /// - Returns: `nil` if the locale has no phrase book.
    private func places(of clips: [ListedClip], _ writer: ScriptWriter?) throws -> SheetPlaces? {
      if let sheet { return SheetPlaces(sheet: try Voices.rows(ofSheet: sheet)) }
      guard let currencies = try VocabularyOptions.currencies(currency) else {
        return try writer.map { try SheetPlaces(of: clips, writer: $0) }
      }
      return try writer.map { writer in
        let vocabulary = try writer.vocabulary(currencies: currencies, includesOtherCurrencies: false)
        return SheetPlaces(sheet: RecordingSheet(vocabulary: vocabulary).rows)
      }
    }

    /// Prints the rows to record again.
    private func list(_ clips: [ListedClip], _ places: SheetPlaces?, _ pack: VoicePack) throws {
      let rows = clips.map { places?.row(of: $0) }
      for (clip, row) in zip(clips, rows) {
        if json {
          try StandardOutput.write(try line(clip, pack, isMarked: true))
        } else {
          try StandardOutput.write(
            [
              row.map { "\($0.number)" } ?? "-",
              Terminal.printable(row.map(\.recordingName) ?? clip.tokens.joined(separator: " ")),
              clip.position.rawValue, Terminal.printable(clip.text),
            ].joined(separator: "\t"))
        }
      }
      Terminal.note(
        clips.isEmpty
          ? "No clip of \(id) is marked as wrong."
          : "Record these rows again into the folder of your recordings, and import it again with --replace. "
            + origin(pack.manifest.locale, of: rows))
    }

    /// Returns the sentences that say where the numbers of the rows come from.
    private func origin(_ locale: String, of rows: [SheetRow?]) -> String {
      if let sheet { return "The numbers come from \(Terminal.printable(sheet))." }
      let options = currency.map { " --currency \(Terminal.printable($0))" }.joined()
      let known = "The numbers come from crier voices sheet --locale \(locale)\(options)."
      let unknown =
        "A row with a hyphen may have another number on the sheet that was read aloud: give this sheet with --sheet, or "
        + "its currencies with --currency."
      return [
        rows.contains { $0 != nil } ? known : nil, currency.isEmpty && rows.contains { $0 == nil } ? unknown : nil,
      ].compactMap(\.self).joined(separator: " ")
    }

    private static func answer() -> ListeningSession.Answer {
      while true {
        Terminal.writeMessage(ListeningSession.prompt)
        guard let line = readLine() else { return .quit }
        if let answer = ListeningSession.Answer(line) { return answer }
      }
    }
  }
}

extension ClipLine {
  /// The line for people: file, position, words, length, and "wrong" for a marked clip.
  fileprivate var line: String {
    ([file, position, Terminal.printable(text), "\(durationMilliseconds) ms"] + (isMarked ? ["wrong"] : []))
      .joined(separator: "\t")
  }
}

/// The position in the clips of a pack while somebody listens.
struct ListeningSession {
  enum Answer: Sendable, Hashable {
    case next, again, wrong, quit

    /// - Parameter line: What the listener typed; empty for the next clip.
    init?(_ line: String) {
      switch line.trimmingCharacters(in: .whitespaces).lowercased() {
      case "": self = .next
      case "r": self = .again
      case "w": self = .wrong
      case "q": self = .quit
      default: return nil
      }
    }
  }

  /// The question after each clip. The input is read line by line, so each letter needs Enter.
  static let prompt = "Enter: next clip. Or a letter and Enter: r (again), w (wrong), q (quit): "

  /// The index of the clip to play; nil at the end.
  private(set) var current: Int?
  /// Whether the clip was played before.
  private(set) var isRepeated = false
  private let count: Int

  init(count: Int) {
    self.count = count
    current = count > 0 ? 0 : nil
  }

  /// Moves on after a clip was heard.
  ///
  /// - Returns: Whether the mark of this clip is to be changed.
  mutating func next(_ answer: Answer) -> Bool {
    isRepeated = answer == .again
    switch answer {
    case .again: break
    case .quit: current = nil
    case .next, .wrong: current = current.map { $0 + 1 }.flatMap { $0 < count ? $0 : nil }
    }
    return answer == .wrong
  }
}
