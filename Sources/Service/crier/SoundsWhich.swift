// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SoundLibrary
import TextFormats

extension Sounds {
  struct Which: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Says which sound iOS plays for a name, and which rule decides.",
      discussion: """
        iOS searches Library/Sounds of the app's container, then of the group containers, then the bundle. The first \
        file wins. If no place has the name, Crier's extension names default.wav if a place has it. Without this file, \
        the system's default sound is heard.

        The result is the rule (app_container, group_container, bundle, default, fallback or system) and the path of the \
        file that is heard. Remarks go to standard error. Exit status: 65 if another sound than the named one is heard.

        With --collisions, the command lists the names that do not identify one file: names in several places, names \
        that differ only in letter case, and names in several Unicode normal forms. Exit status: 65 if there are any.

        EXAMPLES
          crier sounds which 9f31…e1.wav
          crier sounds which tone.wav --group group.shop --group group.till
          crier sounds which --collisions --bundle Shop.app
        """)

    @Argument(help: "The names of sounds, as a notification names them.")
    var names: [String] = []

    @Flag(help: "List the names that collide, instead of searching for names.")
    var collisions = false

    @Option(
      help: """
        An app group whose container is searched; may be given several times, in the order of the search. (default: \
        group.crier)
        """)
    var group: [String] = []

    @Option(help: "The folder of group containers. (default: $CRIER_HOME/containers)", completion: .directory)
    var containers: String?

    @Option(help: "The app's own container, which has Library/Sounds. (default: none)", completion: .directory)
    var appContainer: String?

    @Option(help: "The app's bundle, which has sounds at its top. (default: none)", completion: .directory)
    var bundle: String?

    @Flag(help: "Print one line of JSON for each name.")
    var json = false

    @OptionGroup var home: HomeOptions

    func validate() throws {
      if names.isEmpty != collisions {
        throw ValidationError("Give either the names of sounds or --collisions, but not both.")
      }
      for (option, folder) in folders where folder == "" {
        throw ValidationError("--\(option) is empty: name a folder.")
      }
      if let repeated = group.indices.first(where: { group[..<$0].contains(group[$0]) }) {
        throw ValidationError("--group \(group[repeated]) is given twice: give each group once.")
      }
    }

    func perform() async throws {
      let places = try places()
      let isClear =
        collisions
        ? try report(NameCollisions(places.listings()))
        : try report(SoundLookup(places.listings(of: SoundLookup.relevance(to: names))))
      if !isClear { throw ExitCode(65) }
    }

    private var folders: [(option: String, folder: String?)] {
      [("containers", containers), ("app-container", appContainer), ("bundle", bundle)]
    }

    /// - Throws: `ValidationError` if a folder does not exist, because the result for a misspelt folder would be wrong.
    private func places() throws -> SoundPlaces {
      for case (let option, let folder?) in folders {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
          throw ValidationError("--\(option): \(folder) is not an existing folder; give another one.")
        }
      }
      let root = containers.map(Self.url) ?? home.folder.containers
      let groups = try (group.isEmpty ? ["group.crier"] : group).map {
        SoundPlaces.Group(name: $0, container: try GroupContainer(containers: root, group: $0))
      }
      GroupWarning.note(about: group, in: "--group")
      return SoundPlaces(
        appContainer: appContainer.map(Self.url), groupContainers: groups, bundle: bundle.map(Self.url))
    }

    private static func url(_ folder: String) -> URL {
      URL(filePath: folder, directoryHint: .isDirectory).absoluteURL.standardizedFileURL
    }

    /// Prints the sound that is heard for each name.
    ///
    /// - Returns: Whether each named sound is heard.
    private func report(_ lookup: SoundLookup) throws -> Bool {
      var isClear = true
      for name in names {
        let resolution = lookup.resolve(name)
        for remark in resolution.remarks { Self.note(remark, about: name) }
        try StandardOutput.write(
          json ? try ResolutionLine(resolution).jsonLine : "\(resolution.rule.code)\t\(Self.heard(resolution))")
        isClear = isClear && resolution.isNamedSound
      }
      return isClear
    }

    /// Prints the names that collide.
    ///
    /// - Returns: Whether no names collide.
    private func report(_ found: NameCollisions) throws -> Bool {
      for collision in found.collisions {
        if !collision.heard.isNamedSound {
          for remark in collision.heard.remarks { Self.note(remark, about: collision.name) }
        }
        let line = CollisionLine(collision)
        try StandardOutput.write(json ? try line.jsonLine : line.text(heard: Self.heard(collision.heard)))
      }
      if found.collisions.isEmpty { Terminal.note("No names collide.") }
      return found.collisions.isEmpty
    }

    private static func note(_ remark: SoundResolution.Remark, about name: String) {
      Terminal.note(Terminal.printable("\(name): \(remark.message)"))
    }

    private static func heard(_ resolution: SoundResolution) -> String {
      resolution.url.map { $0.path(percentEncoded: false) } ?? "the system's default sound"
    }
  }
}

/// The result for a name as a line of JSON.
private struct ResolutionLine: Encodable {
  struct Remark: Encodable {
    var code: String
    var message: String
  }

  var name: String
  var rule: String
  /// The place of the sound.
  @ExplicitNull var place: String?
  @ExplicitNull var group: String? = nil
  @ExplicitNull var path: String?
  var remarks: [Remark]

  init(_ resolution: SoundResolution) {
    let place = resolution.rule.place
    (name, rule) = (resolution.name, resolution.rule.code)
    _place = ExplicitNull(wrappedValue: place?.code)
    if case .groupContainer(let group) = place { self.group = group }
    _path = ExplicitNull(wrappedValue: resolution.url?.path(percentEncoded: false))
    remarks = resolution.remarks.map { Remark(code: $0.code, message: $0.message) }
  }
}

/// A name that collides, as a line of `crier sounds which --collisions`.
private struct CollisionLine: Encodable {
  var name: String
  var kinds: [String]
  /// The rule that decides which sound is heard for the name.
  var rule: String
  /// The path of the sound that is heard; `nil` for the system's default sound.
  @ExplicitNull var heard: String?
  var others: [String]

  init(_ collision: NameCollisions.Collision) {
    (name, rule) = (collision.name, collision.heard.rule.code)
    kinds = collision.kinds.map(\.rawValue)
    _heard = ExplicitNull(wrappedValue: collision.heard.url?.path(percentEncoded: false))
    others = collision.others.map { $0.path(percentEncoded: false) }
  }

  func text(heard: String) -> String {
    ([Terminal.printable(name), kinds.joined(separator: ","), "heard: \(heard)"] + others.map { "also: \($0)" })
      .joined(separator: "\t")
  }
}
