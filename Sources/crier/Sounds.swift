// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import Ledger
import SoundLibrary

struct Sounds: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The clips in Library/Sounds.",
    subcommands: [Prune.self])

  struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes clips, and prints the name of each that it removed.",
      discussion: """
        A removed clip is made anew when it is asked for again. A service that runs keeps clips in memory: start it anew, \
        or remove an announcement by DELETE /v1/announcements/{id}. Each removal is in the log of administration; see \
        crier keys log.

        EXAMPLES
          crier sounds prune 9f31…e1.wav
          crier sounds prune --engine espeak-ng-1.51-8c1f5e0d9b7a6432
        """)

    @Argument(help: "The names of clips.")
    var names: [String] = []

    @Option(
      help: """
        Remove all clips in which this engine speaks: its name as a clip's record has it, or the 16 digits at its end, the \
        digest of its data.
        """)
    var engine: String?

    @Flag(help: "Print a line of JSON for each clip: name.")
    var json = false

    @OptionGroup(title: "Publishing") var publishing: PublishingOptions

    @Option(help: "The home folder. (default: $CRIER_HOME)", completion: .directory)
    var home: String?

    func validate() throws {
      if home == "" { throw ValidationError("--home is empty: name a folder.") }
      if engine == "" {
        throw ValidationError("--engine is empty: name an engine, such as espeak-ng-1.51-8c1f5e0d9b7a6432.")
      }
      if names.isEmpty == (engine == nil) {
        throw ValidationError("Give either the names of clips or --engine.")
      }
    }

    func run() async throws {
      try await Failures.reported {
        let library = try publishing.library(home: CrierHome(home))
        var log = RemovalLog(CrierHome(home))
        guard let engine else {
          // A name that no clip can have is found out before anything is removed.
          for name in names { _ = try library.url(for: name) }
          var missing: [String] = []
          for name in names where try await !remove(name, from: library, &log) { missing.append(name) }
          guard missing.isEmpty else { throw NoSuchClips(names: missing, folder: library.soundsDirectory) }
          return
        }
        let clips = try EngineClips(in: library)
        for name in clips.names(of: engine) { try await remove(name, from: library, &log) }
        if !clips.unknown.isEmpty {
          Terminal.note("Left alone: \(clips.unknown.count) files whose record cannot be read or names no engine.")
        }
        if clips.names(of: engine).isEmpty {
          let others = clips.names.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value.count))" }
          Terminal.note(
            "No clip is of the engine \(Terminal.printable(engine)). "
              + (others.isEmpty ? "None has an engine in it." : "There are: \(others.joined(separator: ", "))."))
        }
      }
    }

    /// - Returns: whether there was such a clip.
    @discardableResult
    private func remove(_ name: String, from library: SoundLibrary, _ log: inout RemovalLog) async throws -> Bool {
      guard try library.remove(name) else { return false }
      await log.add(name)
      // Of a name no letter needs to be escaped but these: it has no control character.
      let quoted = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      try StandardOutput.write(json ? "{\"name\":\"\(quoted)\"}" : name)
      return true
    }
  }
}

/// The log of administration, for clips that are removed on this machine.
private struct RemovalLog {
  private let home: CrierHome
  private var ledger: Ledger?
  private var hasFailed = false

  init(_ home: CrierHome) { self.home = home }

  /// Writes down that a clip was removed. What cannot be written is told once, and the removal goes on: it is what helps
  /// when the disk is full.
  mutating func add(_ name: String) async {
    guard !hasFailed else { return }
    do {
      let ledger = try ledger ?? Ledger(at: home.ledger)
      self.ledger = ledger
      try await ledger.record(.clipRemoved, by: .currentUser, subject: name)
    } catch {
      hasFailed = true
      Terminal.note("Removed clips could not be written to the log of administration. \(error)")
    }
  }
}

/// Clips that were to be removed and are not there.
struct NoSuchClips: Error, CustomStringConvertible {
  var names: [String]
  var folder: URL

  var description: String {
    "NAME: there is no clip \(names.joined(separator: ", ")) in \(folder.path(percentEncoded: false)); the others are removed."
  }
}
