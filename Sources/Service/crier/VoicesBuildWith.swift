// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import SpeechEngine
import VoicePackMaking
import VoicePacks

/// The options of `crier voices build` for a speech program.
struct ProgramOptions: ParsableArguments {
  @Option(
    name: .customLong("with"),
    help: ArgumentHelp(
      "A speech program to run for each row of the sheet, with {text} or {text_file}, and {output}.",
      valueName: "command"))
  var command: String?

  @Option(help: "A currency, by its ISO 4217 code; may be given several times. Other currencies are then left out.")
  var currency: [String] = []

  @Option(help: "The name of the speaker. (default: the program and its options)")
  var speaker: String?

  @Option(help: "The licence of the voice. (default: not stated)")
  var licence: String?

  @Option(help: "The time that the program may take for a row, 1 to 3600 seconds. (default: 60)")
  var timeout: Int?

  var seconds: Int { timeout ?? 60 }

  /// Checks that the options fit together.
  func check(locales: [String], id: String?, hasEngineOptions: Bool) throws {
    if let timeout, !(1...3600).contains(timeout) {
      throw ValidationError("--timeout \(timeout) is out of range: give 1 to 3600 seconds.")
    }
    guard command != nil else {
      let given: [(name: String, isGiven: Bool)] = [
        ("currency", !currency.isEmpty), ("speaker", speaker != nil), ("licence", licence != nil),
        ("timeout", timeout != nil),
      ]
      guard let first = given.first(where: \.isGiven) else { return }
      throw ValidationError("--\(first.name) needs a speech program: add --with, or drop it.")
    }
    if locales.count > 1 { throw ValidationError("--with can only be used with one --locale: give one language.") }
    if id == nil { throw ValidationError("--id is missing: name the pack, such as --id my-voice.") }
    if hasEngineOptions {
      throw ValidationError("--voice and --rate are for the engine: put the program's own options into --with.")
    }
  }
}

extension Voices.Build {
  /// Makes a pack with a speech program.
  func buildWithProgram() async throws {
    guard let text = program.command, let locale = locale.first, let id else { return }
    guard PackManifest.isID(id) else {
      throw ValidationError(
        "--id \(Terminal.printable(id)) is not a valid pack name: use 1 to 64 of A-Z, a-z, 0-9, -, _ and ., not "
          + "beginning with a full stop.")
    }
    let command = try SpeechCommand(text)
    let writer = writer
    try Self.requireReplaceable(writer.directory.appending(path: id))
    let scripts = try files.phraseBooks(home: home.folder).writer(for: locale)
    let vocabulary = try scripts.vocabulary(
      currencies: try VocabularyOptions.currencies(program.currency), includesOtherCurrencies: program.currency.isEmpty)
    let rows = try ProgramVoice.rows(of: vocabulary, writer: scripts)
    let speaker = try ProgramVoice(
      command, seconds: program.seconds, folder: writer.directory.appending(path: ".rows-\(id)"))
    let progress = StepProgress(name: id, isQuiet: quiet)
    let sources = try await Interruption.cancelling {
      try await speaker.recordings(of: rows) { progress.show($0, of: $1) }
    }
    var imported = try RecordingImport(isProgram: true).recordings(sources)
    try await compare(&imported, scripts)
    let facts = PackFacts(
      id: id, locale: scripts.book.locale, speaker: program.speaker ?? command.speaker,
      licence: program.licence ?? "not stated", isSynthesized: true)
    try writer.write(facts, clips: imported.clips, replacing: true)
    speaker.removeRecordings()
    progress.end()
    guard !quiet else { return }
    for warning in imported.warnings { Terminal.note(Terminal.printable("\(warning)")) }
    try StandardOutput.write(writer.directory.appending(path: id).path(percentEncoded: false))
    Terminal.note("\(id): \(imported.clips.count) clips. To let it speak, run crier voices use \(id)")
  }

  /// Compares the single words with the engine's, as the import does. Each sound was made for its row, so no two sounds
  /// can be swapped, and the comparison only gives warnings: the program may not speak the language.
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
