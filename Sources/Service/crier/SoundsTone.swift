// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import SoundLibrary
import ToneMaking

extension Sounds {
  struct Tone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Manages the tone that a phone plays when there is no clip.",
      discussion: """
        A notification plays the first of these: the announcement's clip, the chosen tone, the sound that the push \
        names, and the phone's default sound. The choice is stored in the group container.

        EXAMPLES
          crier sounds tone list
          crier sounds tone set chime
          crier sounds tone set default
        """,
      subcommands: [Get.self, Set.self, List.self, Make.self])
  }
}

extension Sounds.Tone {
  struct Get: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the name of the chosen tone, or default.",
      discussion: """
        default means that no tone is chosen. If the tone's file does not exist, a message says so, and the phone \
        plays the sound that the push names, or its default sound.
        """)

    @Flag(help: "Print one line of JSON: name, exists.")
    var json = false

    @OptionGroup(title: "Group") var publishing: PublishingOptions
    @OptionGroup var home: HomeOptions

    func perform() async throws {
      let library = try publishing.library(home: home.folder)
      let name = try FileTonePreference(container: library.container).tone()
      let exists = name.map { library.hasSound($0) }
      let line = ToneLine(name: name ?? SoundChoice.defaultName, exists: exists ?? true)
      try StandardOutput.write(json ? try line.jsonLine : Terminal.printable(line.name))
      if exists == false { Terminal.note(Sounds.Tone.missing(line.name, library)) }
    }
  }

  struct Set: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Chooses the tone and prints its name.",
      discussion: """
        The tone is a file in the group's Library/Sounds, or one of Crier's own tones, which is then made. A file that \
        iOS would not play is refused with the problems that crier sounds check finds. default removes the choice.

        EXAMPLES
          crier sounds tone set chime
          crier sounds tone set my-shop.caf
          crier sounds tone set default
        """)

    @Argument(help: "The name of the tone, as crier sounds tone list shows it, or default.")
    var name: String

    @Flag(help: "Print one line of JSON: name, exists.")
    var json = false

    @OptionGroup(title: "Group") var publishing: PublishingOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let library = try publishing.library(home: home.folder)
      let tones = GroupTones(library: library, own: ToneDescriptions(directory: files.installation.tones))
      let chosen: String
      if name == SoundChoice.defaultName {
        try tones.preference.removeTone()
        chosen = name
      } else {
        chosen = try file(tones)
        try tones.preference.setTone(chosen)
      }
      let line = ToneLine(name: chosen, exists: true)
      try StandardOutput.write(json ? try line.jsonLine : Terminal.printable(chosen))
    }

    /// Returns the name of the tone's file, which is made if it is one of Crier's own tones and does not exist.
    private func file(_ tones: GroupTones) throws -> String {
      let files = try tones.library.tones()
      if let file = tones.file(named: name, among: files) {
        _ = try tones.milliseconds(of: file)
        return file
      }
      guard let own = try? tones.ownName(name) else { throw tones.unknown(name, files: files) }
      return try tones.make(own, replaces: false).tone.fileName
    }
  }

  /// The text for a chosen tone whose file does not exist.
  static func missing(_ name: String, _ library: SoundLibrary) -> String {
    "The file of the chosen tone \(Terminal.printable(name)) does not exist in "
      + "\(Terminal.printable(library.soundsDirectory.path(percentEncoded: false))), so it is skipped. Choose a tone "
      + "with crier sounds tone set."
  }
}

/// A chosen tone as JSON.
private struct ToneLine: Encodable {
  var name: String
  /// Whether the file exists; true for the default sound.
  var exists: Bool
}
