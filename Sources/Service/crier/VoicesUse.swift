// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import VoicePackIntegrity
import VoicePackMaking
import VoicePacks

extension Voices {
  struct Use: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Chooses the pack that speaks a language, and prints the language and the pack.",
      discussion: """
        The choice is stored in the home folder and stays when other packs are imported. The engine says words that \
        the pack lacks. A running service follows within two seconds. The service's setting 'packs' takes precedence, \
        and so does a pack of a key or a request.

        EXAMPLES
          crier voices use my-shop
          crier voices use --none en-US
        """)

    @Argument(help: "The id of the pack, as crier voices list shows it.")
    var id: String?

    @Option(help: "The language of the pack, as a BCP 47 tag. The command refuses a pack of another language.")
    var locale: String?

    @Option(help: "Forget the choice for this language, so that the first recorded pack speaks.")
    var none: String?

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      if id == nil, none == nil {
        throw ValidationError(
          "The pack's id is missing: give an id that crier voices list shows, or --none with a language.")
      }
      if let id, none != nil {
        throw ValidationError("--none cannot be used with the pack \(Terminal.printable(id)): drop one of them.")
      }
      if none != nil, locale != nil { throw ValidationError("--locale cannot be used with --none: drop one of them.") }
    }

    func perform() async throws {
      try home.folder.requirePrivate()
      let file = PackChoicesFile(home.folder.chosenPacks)
      let shelf = files.shelf(home: home.folder)
      let chosen: String
      if let id {
        let manifest = try usable(id, shelf)
        chosen = manifest.locale
        try file.change { $0[chosen] = id }
      } else if let none {
        chosen = try files.phraseBooks(home: home.folder).book(for: none).locale
        try file.change { $0[chosen] = nil }
      } else {
        return
      }
      let changed = files.shelf(home: home.folder)
      try StandardOutput.write("\(chosen)\t\(SpeakingPack(for: chosen, on: changed).id ?? "engine")")
      for note in SpeakingPack.notes(about: chosen, on: changed, home.folder) { Terminal.note(note) }
    }

    /// Returns the manifest of a pack that can speak.
    private func usable(_ id: String, _ shelf: VoicePackShelf) throws -> PackManifest {
      guard shelf.ids.contains(id) else { throw Voices.unknown(id, shelf) }
      let pack = try shelf.pack(id: id)
      try PackIntegrity.verify(pack)
      if let locale, locale.lowercased() != pack.manifest.locale.lowercased() {
        throw ValidationError(
          "--locale \(Terminal.printable(locale)): the pack \(id) speaks \(pack.manifest.locale); choose another pack.")
      }
      return pack.manifest
    }
  }

  struct Remove: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a voice pack of the home folder and prints its folder.",
      discussion: """
        The recordings from which the pack was made are not touched. If the pack was chosen with crier voices use, the \
        choice is forgotten. A running service follows within two seconds.
        """)

    @Argument(help: "The id of the pack, as crier voices list shows it.")
    var id: String

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let (home, shelf) = (home.folder, files.shelf(home: home.folder))
      guard let folder = shelf.directory(id: id) else { throw Voices.unknown(id, shelf) }
      let path = folder.path(percentEncoded: false)
      guard folder.deletingLastPathComponent().standardizedFileURL == home.voices.standardizedFileURL else {
        throw ValidationError(
          "The pack \(id) belongs to the installation: remove the folder \(path) yourself, or choose another pack "
            + "with crier voices use.")
      }
      try home.requirePrivate()
      let locale = try? shelf.manifest(id: id).locale
      try PackWriter(directory: home.voices).remove(id)
      PackMarks.remove(id, in: home.voices)
      let left = files.shelf(home: home)
      if !left.ids.contains(id) {
        try PackChoicesFile(home.chosenPacks).change { choices in
          for choice in choices.all where choice.id == id { choices[choice.locale] = nil }
        }
        left.look()
      }
      try StandardOutput.write(path)
      if let locale {
        for note in SpeakingPack.notes(about: locale, on: left, home) { Terminal.note(note) }
      }
      // The settings may also name the pack for a locale that it does not speak.
      for choice in SpeakingPack.settings(of: home).all
      where choice.id == id && choice.locale.lowercased() != locale?.lowercased() {
        if let warning = SpeakingPack.warning(about: choice.locale, on: left, home) { Terminal.note(warning) }
      }
    }
  }

  /// The error for a pack that is not on the shelf.
  static func unknown(_ id: String, _ shelf: VoicePackShelf) -> ValidationError {
    let ids = shelf.ids
    return ValidationError(
      "There is no pack \(Terminal.printable(id)): "
        + (ids.isEmpty
          ? "make one with crier voices import or crier voices build."
          : "choose one of \(ids.joined(separator: ", "))."))
  }
}

extension SpeakingPack {
  /// A sentence that says who speaks.
  var sentence: String {
    switch (id, reason) {
    case (let id?, .setting): "\(locale): \(id) speaks, because the service's setting 'packs' selects this pack."
    case (let id?, .chosen): "\(locale): \(id) speaks, because it is chosen."
    case (let id?, _): "\(locale): \(id) speaks, because it is the first recorded pack that has the words."
    case (nil, _): "\(locale): the speech engine speaks."
    }
  }

  /// Returns the service's setting `packs`. Settings that cannot be read are reported when the service starts.
  static func settings(of home: CrierHome) -> ChosenPacks {
    let environment = ProcessInfo.processInfo.environment
    let settings = try? ServiceConfiguration(flags: [:], environment: environment, file: nil, home: home)
    return settings?.packs ?? ChosenPacks()
  }

  /// Returns the message of a command that changed the packs: who speaks the locale, and a warning if the service's
  /// settings name another pack.
  static func notes(about locale: String, on shelf: VoicePackShelf, _ home: CrierHome) -> [String] {
    [SpeakingPack(for: locale, on: shelf).sentence, warning(about: locale, on: shelf, home)].compactMap(\.self)
  }

  /// Returns a warning if the service's settings name a pack for the locale that is not installed, or that differs from
  /// the pack that speaks without the settings; otherwise `nil`.
  static func warning(about locale: String, on shelf: VoicePackShelf, _ home: CrierHome) -> String? {
    guard let other = settings(of: home)[locale], other != SpeakingPack(for: locale, on: shelf).id else {
      return nil
    }
    guard shelf.ids.contains(other) else {
      return
        "The service's setting 'packs' selects \(other) for \(locale), but there is no such pack: change the setting."
    }
    return "The service still uses \(other) for \(locale), because the service's setting 'packs' selects that pack."
  }
}
