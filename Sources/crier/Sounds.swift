// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import Ledger
import SoundLibrary

struct Sounds: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Manages the clips in Library/Sounds.",
    subcommands: [Prune.self])

  struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes clips and prints the name of each removed clip.",
      discussion: """
        A removed clip is rendered again when it is next needed. A running service keeps clips in memory: restart it, \
        or remove the announcement with DELETE /v1/announcements/{id}. Each removal is recorded in the log of \
        administrative actions; see crier keys log.

        EXAMPLES
          crier sounds prune 9f31…e1.wav
          crier sounds prune --engine espeak-ng-1.51-8c1f5e0d9b7a6432
        """)

    @Argument(help: "The names of the clips to remove.")
    var names: [String] = []

    @Option(
      help: """
        Remove all clips that this engine speaks. Give the engine's name as it is in a clip's record, or only the 16 \
        digits at its end, which are the digest of the engine's data.
        """)
    var engine: String?

    @Flag(help: "Print one line of JSON for each removed clip: name.")
    var json = false

    @OptionGroup(title: "Publishing") var publishing: PublishingOptions

    @OptionGroup var home: HomeOptions

    func validate() throws {
      if engine == "" {
        throw ValidationError("--engine is empty: name an engine, such as espeak-ng-1.51-8c1f5e0d9b7a6432.")
      }
      if names.isEmpty == (engine == nil) {
        throw ValidationError("Give either the names of clips or --engine, but not both.")
      }
    }

    func run() async throws {
      try await Failures.reported {
        let library = try publishing.library(home: home.folder)
        var log = RemovalLog(home.folder)
        guard let engine else {
          // All names are checked before anything is removed.
          for name in names { _ = try library.url(for: name) }
          var missing: [String] = []
          for name in names where try await !remove(name, from: library, &log) { missing.append(name) }
          guard missing.isEmpty else {
            throw NoSuchClips(
              names: missing, folder: library.soundsDirectory, hasRemoved: missing.count < names.count)
          }
          return
        }
        let clips = try EngineClips(in: library)
        for name in clips.names(of: engine) { try await remove(name, from: library, &log) }
        if !clips.unknown.isEmpty {
          Terminal.note("Kept \(clips.unknown.count) files whose record cannot be read or names no engine.")
        }
        if clips.names(of: engine).isEmpty {
          let others = clips.names.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value.count))" }
          Terminal.note(
            "There are no clips of the engine \(Terminal.printable(engine)). "
              + (others.isEmpty
                ? "No clip was spoken by an engine." : "Engines with clips: \(others.joined(separator: ", "))."))
        }
      }
    }

    /// - Returns: Whether the clip existed.
    @discardableResult
    private func remove(_ name: String, from library: SoundLibrary, _ log: inout RemovalLog) async throws -> Bool {
      guard try library.remove(name) else { return false }
      await log.add(name)
      // A clip's name has no control characters, so only these two characters need escaping.
      let quoted = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      try StandardOutput.write(json ? "{\"name\":\"\(quoted)\"}" : name)
      return true
    }
  }
}

/// The log of administrative actions, for clips that are removed on this machine.
private struct RemovalLog {
  private let home: CrierHome
  private var ledger: Ledger?
  private var hasFailed = false

  init(_ home: CrierHome) { self.home = home }

  /// Records that a clip was removed. An error is reported once and does not stop the removal, because removing clips
  /// helps when the disk is full.
  mutating func add(_ name: String) async {
    guard !hasFailed else { return }
    do {
      let ledger = try ledger ?? Ledger(at: home.ledger)
      self.ledger = ledger
      try await ledger.record(.clipRemoved, by: .currentUser, subject: name)
    } catch {
      hasFailed = true
      Terminal.note("The removed clips could not be recorded in the log of administrative actions. \(error)")
    }
  }
}

/// The error for clips that were to be removed but do not exist.
struct NoSuchClips: Error, CustomStringConvertible {
  var names: [String]
  var folder: URL
  /// Whether other named clips existed and were removed.
  var hasRemoved: Bool

  var description: String {
    "NAME: there is no clip \(names.joined(separator: ", ")) in \(folder.path(percentEncoded: false)); "
      + (hasRemoved ? "the others were removed." : "nothing was removed. Check the names, --home and --group.")
  }
}
