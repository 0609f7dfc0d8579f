// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import ArgumentParser
import Foundation
import SpeechEngine
import SpeechServers
import VoicePackMaking
import VoicePacks

/// The options of `crier voices build` for a speech program or a speech server.
struct ProgramOptions: ParsableArguments {
  @Option(
    name: .customLong("with"),
    help: ArgumentHelp(
      "A speech program to run for each row of the sheet, with {text} or {text_file}, and {output}.",
      valueName: "command"))
  var command: String?

  @Option(
    help: ArgumentHelp("The id of a speech server of the settings, which speaks each row once.", valueName: "id"))
  var server: String?

  @Option(help: "A currency, by its ISO 4217 code; may be given several times. Other currencies are then left out.")
  var currency: [String] = []

  @Option(help: "The name of the speaker. (default: the program and its options)")
  var speaker: String?

  @Option(
    help: """
      The licence of the voice, as whoever made the voice states it. A pack has the licence of its voice, and not that \
      of the program or server. (default: not stated)
      """)
  var licence: String?

  @Option(help: "The time that the program may take for a row, 1 to 3600 seconds. (default: 60)")
  var timeout: Int?

  var seconds: Int { timeout ?? 60 }

  /// Checks that the options fit together.
  func check(locales: [String], id: String?, hasEngineOptions: Bool) throws {
    if let timeout, !(1...3600).contains(timeout) {
      throw ValidationError("--timeout \(timeout) is out of range: give 1 to 3600 seconds.")
    }
    if command != nil, server != nil {
      throw ValidationError("--with cannot be used with --server: drop one of them.")
    }
    let option = server == nil ? "--with" : "--server"
    if server != nil {
      if speaker != nil {
        throw ValidationError("--speaker cannot be used with --server: the server names its speaker.")
      }
      if timeout != nil {
        throw ValidationError(
          "--timeout cannot be used with --server: set timeout_ms of the speech server. For each row, build "
            + "waits up to \(ServerVoice.patience) times as long.")
      }
    }
    guard command != nil || server != nil else {
      let given: [(name: String, isGiven: Bool)] = [
        ("currency", !currency.isEmpty), ("speaker", speaker != nil), ("licence", licence != nil),
        ("timeout", timeout != nil),
      ]
      guard let first = given.first(where: \.isGiven) else { return }
      throw ValidationError("--\(first.name) needs a speech program: add --with, or drop it.")
    }
    if locales.count > 1 { throw ValidationError("\(option) can only be used with one --locale: give one language.") }
    if id == nil { throw ValidationError("--id is missing: name the pack, such as --id my-voice.") }
    if hasEngineOptions {
      throw ValidationError(
        "--voice and --rate are for the engine: "
          + (server == nil ? "put the program's own options into --with." : "set the voice of the speech server."))
    }
  }
}

extension Voices.Build {
  /// Makes a pack with a speech program.
  func buildWithProgram() async throws {
    guard let text = program.command, let locale = locale.first, let id else { return }
    try requireUsable(id)
    let command = try SpeechCommand(text)
    let scripts = try files.phraseBooks(home: home.folder).writer(for: locale)
    let rows = try ProgramVoice.rows(of: try vocabulary(scripts), writer: scripts)
    let voice = try ProgramVoice(command, seconds: program.seconds, folder: rowFolder(id))
    let facts = PackFacts(
      id: id, locale: scripts.book.locale, speaker: program.speaker ?? command.speaker,
      licence: program.licence ?? "not stated", isSynthesized: true)
    try await build(facts, of: rows, by: voice, scripts)
  }

  /// Makes a pack with a speech server.
  func buildWithServer() async throws {
    guard let server = program.server, let locale = locale.first, let id else { return }
    try requireUsable(id)
    let servers = try SpeechServerVoices(of: home.folder)
    let voice = try Voices.speechServer(server, of: servers)
    let scripts = try files.phraseBooks(home: home.folder).writer(for: locale)
    let book = scripts.book.locale
    guard voice.server.speaks(book) else {
      throw ValidationError(
        "--locale \(Terminal.printable(locale)): the speech server \(server) speaks "
          + "\(voice.server.locales.joined(separator: ", ")); choose one of these, or add \(book) to its locales.")
    }
    let rows = try ReadBackRows(
      of: try vocabulary(scripts), writer: scripts, readers: AmountReaders(directory: files.installation.readers))
    let identity = try await voice.identity()
    let speaker = try ServerVoice(voice.server, identity: identity, rows: rows, folder: rowFolder(id))
    let isTested =
      SpeechServerVerdicts(file: home.folder.speechServerVerdicts)
      .verdict(on: server, identity: identity, locale: book)?.isPassed == true
    let facts = PackFacts(
      id: id, locale: book, speaker: identity, licence: program.licence ?? "not stated", isSynthesized: true,
      speechServer: isTested ? identity : nil)
    try await build(facts, of: rows.rows, by: speaker, scripts) {
      // If the server was updated while the pack was being made, the pack would have two voices. `voice` remembers its
      // first answer, so a new `SpeechServerVoice` asks the server again.
      let now = try await SpeechServerVoice(voice.server).identity()
      guard now == identity else {
        throw CommandError(
          69,
          "The speech server \(server) was \(Terminal.printable(identity)) and is now \(Terminal.printable(now)): run the "
            + "command again, which speaks all rows with the new voice.")
      }
    }
    guard !quiet else { return }
    if !rows.unsendable.isEmpty {
      let names = rows.unsendable.map { RecordingImport.name($0) }.joined(separator: ", ")
      Terminal.note("Not spoken, because only words are sent to a server: \(Terminal.printable(names)).")
    }
    if !isTested {
      Terminal.note(
        "The voice has not passed its test in \(book), so this pack speaks only where it is chosen, or where espeak-ng "
          + "has no voice. Run crier voices test \(server) --locale \(book), and build the pack again.")
    }
  }

  private func requireUsable(_ id: String) throws {
    guard PackManifest.isID(id) else {
      throw ValidationError(
        "--id \(Terminal.printable(id)) is not a valid pack name: use 1 to 64 of A-Z, a-z, 0-9, -, _ and ., not "
          + "beginning with a full stop.")
    }
    try Self.requireReplaceable(writer.directory.appending(path: id))
  }

  private func rowFolder(_ id: String) -> URL { writer.directory.appending(path: ".rows-\(id)") }

  private func vocabulary(_ scripts: ScriptWriter) throws -> Vocabulary {
    try scripts.vocabulary(
      currencies: try VocabularyOptions.currencies(program.currency), includesOtherCurrencies: program.currency.isEmpty)
  }

  /// Lets a voice speak rows, imports the recordings, and writes the pack.
  ///
  /// - Parameter check: called after the last row, before anything is written.
  private func build(
    _ facts: PackFacts, of rows: [SheetRow], by voice: some PackVoice, _ scripts: ScriptWriter,
    check: () async throws -> Void = {}
  ) async throws {
    let progress = StepProgress(name: facts.id, isQuiet: quiet)
    let sources = try await Interruption.cancelling {
      try await voice.recordings(of: rows) { progress.show($0, of: $1) }
    }
    try await check()
    var imported = try RecordingImport(isProgram: true).recordings(sources)
    try await compare(&imported, scripts)
    try writer.write(facts, clips: imported.clips, replacing: true)
    voice.removeRecordings()
    progress.end()
    guard !quiet else { return }
    for warning in imported.warnings { Terminal.note(Terminal.printable("\(warning)")) }
    try StandardOutput.write(writer.directory.appending(path: facts.id).path(percentEncoded: false))
    Terminal.note("\(facts.id): \(imported.clips.count) clips. To let it speak, run crier voices use \(facts.id)")
  }

  /// Compares the single words with the engine's, as the import does. Each sound was made for its row, so no two sounds
  /// can be swapped, and a difference is only a warning. It may mean that the program does not speak the language.
  private func compare(_ imported: inout ImportedRecordings, _ scripts: ScriptWriter) async throws {
    let words = imported.clips.indices.filter { imported.clips[$0].tokens.count == 1 }
    var compared = imported
    compared.clips = words.map { imported.clips[$0] }
    compared.rows = words.map { imported.rows[$0] }
    compared.names = words.map { imported.names[$0] }
    let progress = StepProgress(name: "\(scripts.book.locale), comparing", isQuiet: quiet)
    defer { progress.end() }
    do {
      let suspicions = try await RecordingCheck(engine: files.engine(speakers: 1), writer: scripts)
        .suspicions(in: compared.clips) { progress.show($0, of: $1) }
      compared.warnings = []
      try compared.add(suspicions, acceptingSwaps: true)
      imported.warnings += compared.warnings
    } catch let error as SpeechEngineError {
      Terminal.note("The sounds were not compared with what they should say. \(error)")
    }
  }

  /// Checks that no recorded pack is replaced. A built pack can be built again; recordings cannot be made again.
  static func requireReplaceable(_ folder: URL) throws {
    guard FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else { return }
    let manifest = try? VoicePackShelf(folders: [folder.deletingLastPathComponent()])
      .manifest(id: folder.lastPathComponent)
    guard manifest?.isSynthesized == true else {
      throw ValidationError(
        "--id \(folder.lastPathComponent) is a recorded pack or another folder, which build does not replace: choose "
          + "another id.")
    }
  }
}
