// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import SpeechEngine
import TextFormats
import VoicePackMaking
import VoicePacks

struct Voices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Manages voice packs, the recordings that announcements are assembled from.",
    discussion: """
      Packs are searched for in Voices/ of the home folder ($CRIER_HOME, or --home) and then in Voices/ beside \
      Templates/.

      EXAMPLES
        crier voices sheet --locale en-US --html --output sheet.html
        crier voices import recordings --locale en-US --id my-shop --speaker Ada --licence CC-BY-4.0
        crier voices check my-shop
        crier voices test joe
        crier render --amount 12.50 --currency USD --locale en-US --pack my-shop
      """,
    subcommands: [
      List.self, Use.self, Remove.self, Build.self, Sheet.self, Import.self, Check.self, Listen.self,
      Test.self,
    ])

  struct List: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists voice packs: id, locale, speaker, words, licence, and whether the pack speaks.",
      discussion: """
        The last column is "speaks (chosen)" for a pack that crier voices use chose, "speaks (setting)" for a pack of \
        the service's setting 'packs', and "speaks (first)" for the first recorded pack of a language without a choice.
        """)

    @Flag(help: "Print one line of JSON for each pack.")
    var json = false

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let shelf = files.shelf(home: home.folder, settled: SpeakingPack.settings(of: home.folder))
      if let fault = shelf.choicesFault { Terminal.note("crier: \(fault)") }
      for id in shelf.ids {
        do {
          let manifest = try shelf.manifest(id: id)
          let speaking = SpeakingPack(for: manifest.locale, on: shelf)
          let line = PackLine(manifest, speaks: speaking.id == id ? speaking.reason : nil)
          try StandardOutput.write(json ? try line.jsonLine : line.text)
        } catch let error as VoicePackError {
          Terminal.note("crier: \(error)")
        }
      }
      if shelf.ids.isEmpty {
        Terminal.note("There are no voice packs: make one with crier voices build or crier voices import.")
      }
    }
  }

  struct Build: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a voice pack in which espeak-ng, another speech program or a speech server says all words.",
      discussion: """
        The same engine always makes the same bytes. The default id is the locale followed by -espeak.

        With --with, any speech program makes the pack. It is run for each row of the sheet, without a shell: {text} is \
        replaced by the words, {text_file} by a file of the words, and {output} by the sound file to write. An \
        interrupted run goes on where it ended, if the command is the same. The recordings are then imported as \
        crier voices import does.

        With --server, a speech server of the settings speaks each row once, one after the other, in words that were \
        read back. The server may take ten times its timeout_ms for each row. An interrupted run goes on where it \
        ended, if the voice is the same. Afterwards no server is needed. A pack of a voice that passed crier voices \
        test speaks before espeak-ng; any other pack of a server speaks where it is chosen.

        EXAMPLES
          crier voices build --locale en-US
          crier voices build --server joe --locale en-US --id joe-pack --licence CC0-1.0
          crier voices build --with 'flite -voice slt -t {text} -o {output}' --locale en-US --id slt
          crier voices build --with 'text2wave -o {output} {text_file}' --locale en-US --id festival
        """)

    @Option(help: "A language, as a BCP 47 tag such as en-US; may be given several times.")
    var locale: [String]

    @Option(help: "The pack's id, if only one locale is given.")
    var id: String?

    @Option(help: "The engine's voice, such as en-us+f2. (default: the phrase book's)")
    var voice: String?

    @Option(help: "The speed in words a minute, 80 to 450. (default: the phrase book's)")
    var rate: Int?

    @Option(help: "The folder to write the pack into. (default: $CRIER_HOME/Voices)", completion: .directory)
    var voices: String?

    @OptionGroup(title: "Another speech program, or a speech server") var program: ProgramOptions

    @Flag(help: "Print only errors.")
    var quiet = false

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      if locale.isEmpty { throw ValidationError("--locale is missing: give a language, such as --locale en-US.") }
      if voices == "" { throw ValidationError("--voices is empty: name a folder.") }
      try program.check(locales: locale, id: id, hasEngineOptions: voice != nil || rate != nil)
      if id != nil, locale.count > 1 { throw ValidationError("--id cannot be used with several --locale: drop it.") }
      if let rate, !RenderOptions.rates.contains(rate) {
        throw ValidationError("--rate \(rate) is out of range: give 80 to 450 words a minute.")
      }
    }

    /// The writer of packs in the user's own folder, which `crier voices import` uses too. The installation's folder
    /// may belong to another user, and an update may replace it.
    var writer: PackWriter {
      PackWriter(directory: voices.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? home.folder.voices)
    }

    func perform() async throws {
      if program.command != nil { return try await buildWithProgram() }
      if program.server != nil { return try await buildWithServer() }
      let books = try files.phraseBooks(home: home.folder)
      let engine = files.engine(speakers: 1)
      let writer = writer
      for locale in locale {
        let scripts = try books.writer(for: locale)
        let book = scripts.book
        if let voice, !book.isReadable(by: voice) {
          throw ValidationError(
            "--voice \(Terminal.printable(voice)) cannot read the words of \(book.locale): choose one of "
              + "\(book.voices.joined(separator: ", ")), with any variant such as +f2.")
        }
        guard let voice = voice ?? book.voice else {
          let choices = book.voices.isEmpty ? "" : ", or give --voice \(book.voices.joined(separator: " or "))"
          throw ValidationError(
            "espeak-ng has no voice for \(book.locale) that people would understand: record the words "
              + "(docs/voice-packs.md), use another program with --with\(choices).")
        }
        let speaker = EngineVoice(engine: engine, writer: scripts, voice: voice, rate: rate)
        let pack = id ?? "\(book.locale)-espeak"
        try Self.requireReplaceable(writer.directory.appending(path: pack))
        let progress = StepProgress(name: pack, isQuiet: quiet)
        let clips = try await speaker.clips(for: try scripts.vocabulary()) { progress.show($0, of: $1) }
        let facts = PackFacts(
          id: pack, locale: book.locale, speaker: speaker.speaker, licence: "made with espeak-ng; no rights reserved",
          isSynthesized: true)
        try writer.write(facts, clips: clips, replacing: true)
        progress.end()
        if !quiet {
          try StandardOutput.write(writer.directory.appending(path: pack).path(percentEncoded: false))
          Terminal.note("\(pack): \(clips.count) clips")
        }
      }
    }
  }

  struct Sheet: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the words to record, as CSV for programs or as a page for the speaker.")

    @OptionGroup(title: "Words to record") var words: VocabularyOptions

    @Flag(help: "Print an HTML page instead of CSV.")
    var html = false

    @Option(help: ArgumentHelp("Print only the rows that this pack has no recording of.", valueName: "pack"))
    var missing: String?

    @Option(help: "Write to this file instead of standard output.", completion: .file())
    var output: String?

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      if output == "" { throw ValidationError("--output is empty: name a file.") }
    }

    private func missing(_ sheet: RecordingSheet, from id: String) throws -> RecordingSheet {
      let manifest = try files.shelf(home: home.folder).manifest(id: id)
      guard manifest.locale == sheet.locale else {
        throw ValidationError(
          "The pack \(Terminal.printable(id)) is for \(Terminal.printable(manifest.locale)), and the sheet for "
            + "\(sheet.locale): give the locale of the pack.")
      }
      let missing = sheet.missing(from: manifest)
      if missing.rows.isEmpty {
        Terminal.note("crier: The pack \(Terminal.printable(id)) has a recording of every row.")
      }
      return missing
    }

    func perform() async throws {
      let currencies = try VocabularyOptions.currencies(words.currency) ?? []
      var sheet = RecordingSheet(
        vocabulary: try words.vocabulary(files, home: home.folder), currencies: currencies.map(\.code))
      if let missing { sheet = try self.missing(sheet, from: missing) }
      let text = html ? sheet.html : sheet.csv
      if let output {
        try StandardOutput.write(try OutputFile.write(Array(text.utf8), to: output).path(percentEncoded: false))
      } else {
        try StandardOutput.write(text: text)
      }
    }
  }

  struct Check: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Checks voice packs for missing words and faulty clips.",
      discussion: "Exit status: 65 if an announcement could fail; 0 if there are only warnings.")

    @Argument(help: ArgumentHelp("The ids or folders of the packs to check. (default: all packs)", valueName: "pack"))
    var packs: [String] = []

    @Option(help: "A currency that the packs must be able to say; may be given several times. (default: the region's)")
    var currency: [String] = []

    @Flag(help: "Report recordings that seem to be swapped as warnings. Listen to them first.")
    var acceptSwapped = false

    @Flag(help: "Print the reports as JSON.")
    var json = false

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      var isUsable = true
      let shelf = files.shelf(home: home.folder)
      for pack in packs.isEmpty ? shelf.ids : packs {
        guard let report = try await report(pack, shelf) else {
          isUsable = false
          continue
        }
        try StandardOutput.write(
          text: json ? String(decoding: try report.json, as: UTF8.self) + "\n" : report.text)
        isUsable = isUsable && report.isUsable
      }
      if !isUsable { throw ExitCode(65) }
    }

    /// - Returns: The report, or `nil` after a note if no phrase book exists for the pack's locale. Other packs are
    ///   still checked.
    private func report(_ pack: String, _ shelf: VoicePackShelf) async throws -> PackCheckReport? {
      let folder = shelf.directory(id: pack) ?? URL(filePath: pack, directoryHint: .isDirectory).standardizedFileURL
      guard FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else {
        let choices = shelf.ids.joined(separator: ", ")
        throw ValidationError(
          "There is no pack \(Terminal.printable(pack)): "
            + (choices.isEmpty ? "make one with crier voices build." : "choose one of \(choices), or a folder."))
      }
      let books = try files.phraseBooks(home: home.folder)
      // If the manifest cannot be read, any locale's writer is used, because the check below reports the manifest.
      let manifest = try? VoicePackShelf(folders: [folder.deletingLastPathComponent()])
        .manifest(id: folder.lastPathComponent)
      let writer: ScriptWriter
      do throws(AnnouncementError) {
        writer = try books.writer(for: manifest?.locale ?? books.locales[0])
      } catch {
        Terminal.note("crier: pack \(Terminal.printable(pack)): \(error)")
        return nil
      }
      let currencies = try VocabularyOptions.currencies(currency)
      var report = PackCheck.check(
        directory: folder, vocabulary: try writer.vocabulary(currencies: currencies),
        amounts: (currencies?.first ?? writer.ownCurrency).map { EverydayAmounts(writer: writer, currency: $0) })
      try await compare(&report, folder, writer)
      try measure(&report, folder, writer)
      return report
    }

    /// If a recorded pack can be used, compares its clips with what they should say. An engine's clips need no
    /// comparison.
    private func compare(_ report: inout PackCheckReport, _ folder: URL, _ writer: ScriptWriter) async throws {
      guard let pack = try? VoicePack(directory: folder), !pack.manifest.isSynthesized else { return }
      let clips = RecordedClips(pack)
      let progress = StepProgress(name: "\(report.pack), comparing")
      defer { progress.end() }
      do {
        let suspicions = try await RecordingCheck(engine: files.engine(speakers: 1), writer: writer)
          .suspicions(in: clips.clips) { progress.show($0, of: $1) }
        report.add(suspicions, about: clips, acceptingSwaps: acceptSwapped)
      } catch let error as SpeechEngineError {
        report.add(comparisonNote: "whether the recordings say what they should (\(error))")
      }
    }

    /// Measures how well the pack is understood, if a recogniser exists for its language and the pack can be used.
    private func measure(_ report: inout PackCheckReport, _ folder: URL, _ writer: ScriptWriter) throws {
      guard UnderstandingMeasure.serves(report.locale), let pack = try? VoicePack(directory: folder) else { return }
      guard let recognizer = PocketSphinx() else {
        report.add(
          understandingNote: "how well amounts are understood; install the Debian packages \(PocketSphinx.packages)")
        return
      }
      do {
        report.add(try UnderstandingMeasure(writer: writer, recognizer: recognizer).measure(pack))
      } catch let error as PackMakingError {
        report.add(understandingNote: "\(error)")
      }
    }
  }
}

/// The options for a locale's vocabulary.
struct VocabularyOptions: ParsableArguments {
  @Option(help: "The language, as a BCP 47 tag such as en-US.")
  var locale: String

  @Option(
    help: """
      A currency, by its ISO 4217 code; may be given several times. Other currencies are then left out. (default: the \
      region's, and the phrase book's others as optional words)
      """)
  var currency: [String] = []

  static func currencies(_ codes: [String]) throws -> [Currency]? {
    codes.isEmpty ? nil : try codes.map { try AnnouncementInput.currency($0) }
  }

  func vocabulary(_ files: DataOptions, home: CrierHome) throws -> Vocabulary {
    try files.phraseBooks(home: home).writer(for: locale)
      .vocabulary(currencies: try Self.currencies(currency), includesOtherCurrencies: currency.isEmpty)
  }
}

/// One pack as a line of `crier voices list`.
private struct PackLine: Encodable {
  var id: String
  var locale: String
  var speaker: String
  var licence: String
  /// The number of tokens and phrases that have clips.
  var words: Int
  var digest: String
  /// The reason why the pack speaks its locale; `nil` if it does not.
  @ExplicitNull var speaks: SpeakingPack.Reason? = nil

  init(_ manifest: PackManifest, speaks: SpeakingPack.Reason?) {
    self.speaks = speaks
    (id, locale, speaker, licence) = (manifest.id, manifest.locale, manifest.speaker, manifest.licence)
    words = manifest.tokens.count + manifest.phrases.count
    digest = manifest.digest
  }

  var text: String {
    ([id, locale, Terminal.printable(speaker), "\(words) words", Terminal.printable(licence)]
      + [speaks.map { "speaks (\($0.rawValue))" }].compactMap(\.self)).joined(separator: "\t")
  }
}
