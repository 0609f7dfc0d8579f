// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import SpeechEngine
import VoicePackMaking
import VoicePacks

extension Voices {
  struct Import: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a voice pack from recordings and prints its folder.",
      discussion: """
        Give either a folder with one file for each row of the recording sheet, named after the row's file, token or \
        text; or one long recording of all rows in order, with a pause after each. Any sample rate, mono or stereo, \
        and any format that libsndfile reads is accepted. The recordings are resampled, filtered (DC and rumble), \
        trimmed and levelled; the source files are not changed. A long recording may also have only the required rows, \
        which are the first rows of the sheet.

        EXAMPLES
          crier voices import recordings --locale en-US --id my-shop --speaker Ada --licence CC-BY-4.0
          crier voices import everything.flac --sheet sheet.csv --locale zh-CN --id wang
          crier voices import /usr/share/asterisk/sounds/en_US_f_Allison --layout asterisk --locale en-US --id allison
        """)

    enum Layout: String, ExpressibleByArgument, CaseIterable {
      case sheet, asterisk
    }

    @Argument(help: "A folder of recordings, or one long recording.", completion: .file())
    var recordings: String

    @OptionGroup(title: "Recorded words") var words: VocabularyOptions

    @Option(help: "The pack's id: ASCII letters, digits, -, _ and .")
    var id: String

    @Option(help: "The name of the speaker. (default: as in the replaced pack, or not named)")
    var speaker: String?

    @Option(help: "The licence of the recordings. (default: as in the replaced pack, or not stated)")
    var licence: String?

    @Option(help: "The naming scheme of the files: \(Layout.allCases.map(\.rawValue).joined(separator: ", ")).")
    var layout: Layout = .sheet

    @Option(help: "The CSV sheet that was read aloud. (default: the output of crier voices sheet)", completion: .file())
    var sheet: String?

    @Option(help: "The shortest pause that separates two rows of a long recording, 200 to 10000 ms.")
    var pause = 500

    @Flag(help: "Replace an existing pack with this id.")
    var replace = false

    @Flag(help: "Import recordings even if they seem to be swapped. Listen to them first.")
    var acceptSwapped = false

    @Option(help: "The folder to write the pack into. (default: $CRIER_HOME/Voices)", completion: .directory)
    var voices: String?

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      if voices == "" { throw ValidationError("--voices is empty: name a folder.") }
      guard (200...10_000).contains(pause) else {
        throw ValidationError("--pause \(pause) is out of range: give 200 to 10000 ms.")
      }
      if layout == .asterisk, sheet != nil {
        throw ValidationError("--sheet cannot be used with --layout asterisk, which has fixed file names: drop one.")
      }
    }

    func perform() async throws {
      let writer = PackWriter(
        directory: voices.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? home.folder.voices)
      let locale = try files.phraseBooks(home: home.folder).book(for: words.locale).locale
      try checkSource(isApartFrom: writer.directory.appending(path: id))
      let progress = StepProgress(name: id)
      var imported = try imported { done, total, _ in progress.show(done, of: total) }
      try await compare(&imported)
      let replaced = replaced(in: writer.directory)
      let facts = PackFacts(
        id: id, locale: locale, speaker: speaker ?? replaced?.speaker ?? "not named",
        licence: licence ?? replaced?.licence ?? "not stated")
      try writer.write(facts, clips: imported.clips, replacing: replace)
      progress.end()
      for warning in imported.warnings { Terminal.note(Terminal.printable("\(warning)")) }
      try StandardOutput.write(writer.directory.appending(path: id).path(percentEncoded: false))
      Terminal.note("\(imported.clips.count) clips. To see what the pack can say, run crier voices check \(id)")
      let shelf = files.shelf(home: home.folder)
      for note in SpeakingPack.notes(about: locale, on: shelf, home.folder) { Terminal.note(note) }
    }

    /// Returns the manifest of the recorded pack that is replaced. The speaker of a built pack did not speak the
    /// recordings.
    private func replaced(in folder: URL) -> PackManifest? {
      guard replace, let manifest = try? VoicePackShelf(folders: [folder]).manifest(id: id) else { return nil }
      return manifest.isSynthesized ? nil : manifest
    }

    /// Checks that the pack is not written over the recordings, which must never be changed.
    private func checkSource(isApartFrom pack: URL) throws {
      let (source, pack) = (Self.place(URL(filePath: recordings)), Self.place(pack))
      guard !(source + "/").hasPrefix(pack + "/") else {
        throw ValidationError(
          "\(Terminal.printable(recordings)) is inside the pack's own folder: move the recordings to another folder."
        )
      }
    }

    private static func place(_ url: URL) -> String {
      url.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        .trimmingCharacters(in: CharacterSet(charactersIn: "/"))
    }

    /// Compares the recordings with what they should say. Without an engine, a note says that they were not compared.
    private func compare(_ imported: inout ImportedRecordings) async throws {
      let progress = StepProgress(name: "\(id), comparing")
      defer { progress.end() }
      let check = try RecordingCheck(
        engine: files.engine(speakers: 1),
        writer: try files.phraseBooks(home: home.folder).writer(for: words.locale))
      do {
        let suspicions = try await check.suspicions(in: imported.clips) { progress.show($0, of: $1) }
        try imported.add(suspicions, acceptingSwaps: acceptSwapped)
      } catch let error as SpeechEngineError {
        Terminal.note("The recordings were not compared with what they should say. \(error)")
      }
    }

    private func imported(_ progress: RecordingImport.Progress) throws -> ImportedRecordings {
      let source = URL(filePath: recordings)
      let importer = RecordingImport()
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: source.path(percentEncoded: false), isDirectory: &isFolder)
      if layout == .asterisk {
        return try importer.recordings(
          try AsteriskLayout.sources(in: source, locale: words.locale), progress: progress)
      }
      let rows = try rows
      if isFolder.boolValue { return try importer.recordings(in: source, for: rows, progress: progress) }
      let vocabulary = try words.vocabulary(files, home: home.folder)
      let needed = Set(vocabulary.blocks.filter(\.isRequired).flatMap(\.words).map(\.token))
      return try importer.recordings(
        cutting: source, for: rows, orOnly: rows.filter { needed.isSuperset(of: $0.tokens) },
        otherSheets: otherSheets, with: RecordingCutting(minimumPauseMilliseconds: pause), progress: progress)
    }

    /// The number of rows in the sheet of each single currency. The sheet that was read aloud may be one of them, if
    /// the command names neither a sheet nor a currency.
    private var otherSheets: [String: Int] {
      guard sheet == nil, words.currency.isEmpty,
        let writer = try? files.phraseBooks(home: home.folder).writer(for: words.locale)
      else { return [:] }
      let sheets = writer.bookCurrencies.compactMap { currency -> (String, Int)? in
        guard let vocabulary = try? writer.vocabulary(currencies: [currency], includesOtherCurrencies: false) else {
          return nil
        }
        return ("--currency \(currency.code)", RecordingSheet(vocabulary: vocabulary).rows.count)
      }
      return Dictionary(sheets) { first, _ in first }
    }

    private var rows: [SheetRow] {
      get throws {
        guard let sheet else {
          return RecordingSheet(vocabulary: try words.vocabulary(files, home: home.folder)).rows
        }
        let rows = try Voices.rows(ofSheet: sheet)
        let books = try files.phraseBooks(home: home.folder)
        let writer = try books.writer(for: words.locale)
        let asked = try VocabularyOptions.currencies(words.currency)
        try SheetLocale.check(rows, against: try writer.vocabulary(currencies: asked)) {
          books.locales.filter { $0 != writer.book.locale }.compactMap { try? books.writer(for: $0).vocabulary() }
        }
        return rows
      }
    }
  }

  /// Returns the rows of a recording sheet in a file.
  ///
  /// - Parameter sheet: The value of `--sheet`.
  static func rows(ofSheet sheet: String) throws -> [SheetRow] {
    guard let bytes = try? Data(contentsOf: URL(filePath: sheet)) else {
      throw ValidationError("--sheet \(Terminal.printable(sheet)) cannot be read: give a CSV file.")
    }
    return try RecordingSheet.rows(csv: bytes)
  }
}
