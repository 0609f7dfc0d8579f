// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import ArgumentParser
import Foundation
import SpeechServers
import VoicePackMaking

extension Voices {
  struct Test: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Tests the voice of a speech server, which decides whether it says amounts.",
      discussion: """
        The server says each number word of the language by itself, and 100 or more amounts that together contain all \
        of these words. It gets only words that were read back. The voice passes if every sound comes in \
        time and can be that of its words, if no two numbers sound the same, and if a recogniser understands at least \
        \(Understanding.bar) of 100 amounts. There is a recogniser for English only, and only if it is installed. The findings say what \
        was not measured.

        The verdict is stored in the home folder, for this version of the voice. A running service follows it.

        Exit status: 0 if the voice passed in each language; 65 if it did not; 69 if the server cannot be reached.

        EXAMPLES
          crier voices test joe
          crier voices test joe --locale en-US --json
        """)

    @Argument(help: "The id of a speech server in the setting 'speech_servers'.")
    var id: String

    @Option(
      help: """
        A language, as a BCP 47 tag such as en-US; may be given several times. (default: all languages of the server)
        """)
    var locale: [String] = []

    @Flag(help: "Print one line of JSON for each language.")
    var json = false

    @Flag(help: "Print only the verdicts and errors.")
    var quiet = false

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      var isPassed = true
      try home.folder.requirePrivate()
      let voice = try Voices.speechServer(id, of: try SpeechServerVoices(of: home.folder))
      let books = try files.phraseBooks(home: home.folder)
      let writers = try locales(of: voice.server, books).map { try books.writer(for: $0) }
      let verdicts = SpeechServerVerdicts(file: home.folder.speechServerVerdicts)
      for writer in writers {
        let verdict = try await verdict(on: voice, writer)
        try verdicts.store(verdict)
        try StandardOutput.write(json ? try verdict.jsonLine : verdict.lines)
        isPassed = isPassed && verdict.isPassed
      }
      if !isPassed { throw ExitCode(65) }
    }

    /// Returns the locales to test, as the phrase books name them. A server that speaks a language speaks the locales
    /// of all phrase books in that language.
    private func locales(of server: SpeechServer, _ books: PhraseBooks) throws -> [String] {
      var locales: [String] = []
      for name in locale {
        let book = try books.book(for: name).locale
        guard server.speaks(book) else {
          throw ValidationError(
            "--locale \(Terminal.printable(name)): the speech server \(server.id) speaks "
              + "\(server.locales.joined(separator: ", ")); choose one of these, or add \(book) to its locales.")
        }
        if !locales.contains(book) { locales.append(book) }
      }
      if locale.isEmpty { locales = books.locales.filter(server.speaks) }
      guard !locales.isEmpty else {
        throw ValidationError(
          "The speech server \(server.id) speaks \(server.locales.joined(separator: ", ")), of which no phrase book "
            + "exists: crier voices test has nothing to say.")
      }
      return locales
    }

    private func verdict(on voice: SpeechServerVoice, _ writer: ScriptWriter) async throws -> SpeechServerVerdict {
      let locale = writer.book.locale
      let identity = try await voice.identity()
      let test = try ServerVoiceTest(
        voice.server, writer: writer, readers: AmountReaders(directory: files.installation.readers),
        engine: files.engine(speakers: 1), recognizer: PocketSphinx())
      let progress = StepProgress(name: "\(id), \(locale)", isQuiet: quiet)
      defer { progress.end() }
      let measures = try await Interruption.cancelling { try await test.measures { progress.show($0, of: $1) } }
      return SpeechServerVerdict(
        server: id, identity: identity, locale: locale, isPassed: measures.isPassed, testedAt: Date(),
        findings: measures.findings, amountLengths: measures.amountLengths)
    }
  }

  /// Returns a speech server of the settings.
  ///
  /// - Throws: `ValidationError` with the ids that exist.
  static func speechServer(_ id: String, of servers: SpeechServerVoices) throws -> SpeechServerVoice {
    if let voice = servers.voice(named: id) { return voice }
    let ids = servers.voices.map(\.server.id)
    throw ValidationError(
      "There is no speech server \(Terminal.printable(id)): "
        + (ids.isEmpty
          ? "add one to the setting 'speech_servers' (docs/speech-servers.md)."
          : "choose one of \(ids.joined(separator: ", "))."))
  }
}

extension SpeechServerVerdict {
  /// The verdict and its findings as lines for people.
  fileprivate var lines: String {
    let verdict = "\(server)\t\(locale)\t\(isPassed ? "passed" : "not passed")\t\(Terminal.printable(identity))"
    return ([verdict] + findings.map { "  \(Terminal.printable($0))" }).joined(separator: "\n")
  }
}
