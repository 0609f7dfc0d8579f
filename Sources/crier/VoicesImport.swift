// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import VoicePackMaking
import VoicePacks

extension Voices {
  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a pack of recordings, and prints its folder.",
      discussion: """
        Recordings are a folder with a file for each row of the sheet, named after the row's file, token or text; or one \
        long recording of all rows in their order, with pauses between them. Any rate, mono or stereo, and whatever \
        libsndfile reads. They are resampled, freed of DC and rumble, trimmed and levelled; the source is not changed.

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

    @OptionGroup(title: "What was said") var words: VocabularyOptions

    @Option(help: "The pack's id: letters, digits, -, _ and . of ASCII.")
    var id: String

    @Option(help: "Who speaks.")
    var speaker = "not named"

    @Option(help: "On what terms the recordings may be used.")
    var licence = "not stated"

    @Option(help: "How the files are named: \(Layout.allCases.map(\.rawValue).joined(separator: ", ")).")
    var layout: Layout = .sheet

    @Option(help: "The sheet that was read, CSV. (default: as crier voices sheet prints it)", completion: .file())
    var sheet: String?

    @Option(help: "How long a pause between two words of a long recording is at least, in ms.")
    var pause = 500

    @Flag(help: "Replace a pack of this id.")
    var replace = false

    @Option(help: "The folder of packs to write into. (default: $CRIER_HOME/Voices)", completion: .directory)
    var voices: String?

    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      if voices == "" { throw ValidationError("--voices is empty: name a folder.") }
      guard (200...10_000).contains(pause) else {
        throw ValidationError("--pause \(pause) is out of range: give 200 to 10000 ms.")
      }
      if layout == .asterisk, sheet != nil {
        throw ValidationError("--sheet does not go with --layout asterisk, whose files have names of their own.")
      }
    }

    func run() async throws {
      try await Failures.reported {
        let writer = PackWriter(
          directory: voices.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? CrierHome().voices)
        let locale = try files.phraseBooks().book(for: words.locale).locale
        try checkSource(isApartFrom: writer.directory.appending(path: id))
        let progress = StepProgress(name: id)
        let imported = try imported { done, total, _ in progress.show(done, of: total) }
        let facts = PackFacts(id: id, locale: locale, speaker: speaker, licence: licence)
        try writer.write(facts, clips: imported.clips, replacing: replace)
        progress.end()
        for warning in imported.warnings { Terminal.note(Terminal.printable("\(warning)")) }
        try StandardOutput.write(writer.directory.appending(path: id).path(percentEncoded: false))
        Terminal.note("\(imported.clips.count) clips. What the pack can say: crier voices check \(id)")
      }
    }

    /// The source is never changed: a pack that is written where the recordings are would take their place.
    private func checkSource(isApartFrom pack: URL) throws {
      let (source, pack) = (Self.place(URL(filePath: recordings)), Self.place(pack))
      guard !(source + "/").hasPrefix(pack + "/") else {
        throw ValidationError(
          "\(Terminal.printable(recordings)) is where the pack would be written: move the recordings to another folder."
        )
      }
    }

    private static func place(_ url: URL) -> String {
      url.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        .trimmingCharacters(in: CharacterSet(charactersIn: "/"))
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
      return isFolder.boolValue
        ? try importer.recordings(in: source, for: try rows, progress: progress)
        : try importer.recordings(
          cutting: source, for: try rows, with: RecordingCutting(minimumPauseMilliseconds: pause), progress: progress)
    }

    private var rows: [SheetRow] {
      get throws {
        guard let sheet else { return RecordingSheet(vocabulary: try words.vocabulary(files)).rows.map(\.sheetRow) }
        guard let bytes = try? Data(contentsOf: URL(filePath: sheet)) else {
          throw ValidationError("--sheet \(Terminal.printable(sheet)) cannot be read: name a CSV file.")
        }
        return try RecordingSheet.rows(csv: bytes)
      }
    }
  }
}
