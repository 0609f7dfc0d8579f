// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import SoundDoctor
import SoundHeaders
import SoundLibrary
import ToneMaking

/// The tones of a group: the files in its Library/Sounds, and Crier's own tones, which can be made.
struct GroupTones {
  let library: SoundLibrary
  let preference: FileTonePreference
  let own: ToneDescriptions

  init(library: SoundLibrary, own: ToneDescriptions) {
    self.library = library
    preference = FileTonePreference(container: library.container)
    self.own = own
  }

  /// Returns the file that a user means: its name, or its name without the extension `.wav`.
  func file(named typed: String, among files: [String]) -> String? {
    // Swift compares texts without regard to their Unicode normal form. The result is the name as the folder has it.
    files.first { $0 == typed } ?? files.first { $0 == MadeTone.fileName(of: typed) }
  }

  /// Returns the name of Crier's own tone that a user means: its name or the name of its file; nil if there is none.
  func ownName(_ typed: String) throws -> String? {
    try own.names().first { $0 == typed || MadeTone.fileName(of: $0) == typed }
  }

  /// Makes one of Crier's own tones and publishes it.
  ///
  /// - Parameter replaces: Whether a different file with the name is replaced.
  /// - Throws: ``CommandError``, `ToneError`, `SoundLibraryError`.
  func make(_ name: String, replaces: Bool) throws -> (tone: MadeTone, file: URL) {
    let tone = try MadeTone(name, from: own)
    if let old = try library.contents(of: tone.fileName), !replaces {
      guard old == tone.bytes else {
        throw CommandError(
          73,
          "NAME: \(library.soundsDirectory.path(percentEncoded: false)) already contains another file \(tone.fileName). "
            + "Give --replace to replace it, or rename that file.")
      }
      return (tone, try library.url(for: tone.fileName))
    }
    return (tone, try library.publish(tone.bytes, as: tone.fileName))
  }

  /// Returns the length of a file in ms; nil if its header states no length. The file is examined as by
  /// `crier sounds check`.
  ///
  /// - Throws: ``CommandError`` if a phone would play its default sound instead of the file; `SoundLibraryError`.
  func milliseconds(of name: String) throws -> Int? {
    guard let bytes = try library.contents(of: name) else {
      throw Self.unplayable(
        name, "The file was removed in the meantime.", remedy: "Run crier sounds tone list to see the tones.")
    }
    let path = try library.url(for: name).path(percentEncoded: false)
    let folder = library.soundsDirectory.path(percentEncoded: false)
    let facts = SoundExamination(of: bytes, path: path, folder: folder).facts
    // Only errors matter here. `crier sounds check` also shows warnings.
    let fault = SoundDiagnosis(of: facts).problems.first { $0.severity == .error }
    if let fault { throw Self.unplayable(name, fault.message, remedy: fault.remedy) }
    return facts.header?.durationMilliseconds
  }

  private static func unplayable(_ name: String, _ reason: String, remedy: String) -> CommandError {
    CommandError(65, "The tone \(name) cannot be played. \(reason)\n  \(remedy)")
  }

  /// Returns the error for a name that is not the name of a tone.
  func unknown(_ typed: String, files: [String]) -> ValidationError {
    if SoundLibrary.isRenderedClip(typed) {
      return ValidationError(
        "NAME: \(typed) has the name of an announcement's clip, which may be removed at any time. Choose a tone: "
          + "run crier sounds tone list to see the tones.")
    }
    let own = ((try? own.names()) ?? []).filter { !files.contains(MadeTone.fileName(of: $0)) }
    let choices = files + own + [SoundChoice.defaultName]
    // A name may be typed without the extension of its file.
    let stems = choices.map { ($0 as NSString).deletingPathExtension }
    let meant =
      SimilarNames.name(like: typed, among: choices)
      ?? SimilarNames.name(like: typed, among: stems).flatMap { stems.firstIndex(of: $0) }.map { choices[$0] }
    let all = choices.count > 20 ? choices.prefix(20) + ["…"] : choices[...]
    return ValidationError(
      "NAME: there is no tone \"\(Terminal.printable(typed))\" in "
        + "\(Terminal.printable(library.soundsDirectory.path(percentEncoded: false)))."
        + (meant.map { " Did you mean \(Terminal.printable($0))?" } ?? "")
        + " The tones are \(all.map(Terminal.printable).joined(separator: ", ")).")
  }
}
