// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import Ledger
import SoundLibrary

extension Sounds {
  struct Prune: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes clips and prints the name of each removed clip.",
      discussion: """
        A removed clip is rendered again when it is next needed. A running service keeps clips in memory: restart it, \
        or remove the announcement with DELETE /v1/announcements/{id}. The removal of a clip by its name or its engine \
        is recorded in the log of administrative actions; see crier keys log.

        With a limit (--max-mb, --max-files, --unused-days), the clips that were unused for the longest time are \
        removed first. These stay: clips that were used within the last hour or two, clips that unfinished announcements, \
        batches and pushes of the home's service need, clips with a link that is still valid (url_days), and all files \
        that are not clips, such as tones.

        The home is that of --home. Without it, --containers names the home if the folder is the containers folder of \
        a home with a ledger. For other folders, no clip counts as needed. A dry run changes nothing, so it fails if \
        the ledger must first be migrated.

        EXAMPLES
          crier sounds prune 9f31…e1.wav
          crier sounds prune --max-mb 500 --dry-run
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

    @OptionGroup(title: "Limits") var limits: KeepingOptions

    @Flag(help: "Remove nothing, and print the names of the clips that would be removed.")
    var dryRun = false

    @Flag(help: "Print one line of JSON for each removed clip: name.")
    var json = false

    @OptionGroup(title: "Publishing") var publishing: PublishingOptions

    @OptionGroup var home: HomeOptions

    func validate() throws {
      if engine == "" {
        throw ValidationError("--engine is empty: name an engine, such as espeak-ng-1.51-8c1f5e0d9b7a6432.")
      }
      let ways = [!names.isEmpty, engine != nil, limits.isGiven].count { $0 }
      guard ways == 1 else {
        throw ValidationError(
          "Give one of these: the names of clips, --engine, or limits (--max-mb, --max-files, --unused-days).")
      }
    }

    func perform() async throws {
      let library = try publishing.library(home: home.folder)
      for folder in try library.foldersSetAside() {
        Terminal.note(
          "\(Terminal.printable(folder.path(percentEncoded: false))) had the name of a clip and was moved away. Look at "
            + "what it holds, and remove it.")
      }
      if limits.isGiven {
        let needs = try await ClipNeeds.read(of: publishing.owner(home: home.home), changesNothing: dryRun)
        if let note = needs.noteWithRemedy { Terminal.note(note) }
        var removals: [SoundKeeping.Removal] = []
        func report(_ some: ArraySlice<SoundKeeping.Removal>) throws {
          removals += some
          for removal in some { try write(removal.sound.name) }
        }
        if dryRun {
          try report(try limits.excess(library, needs: needs)[...])
        } else {
          try await limits.prune(library, needs: needs, report: report)
        }
        let verb = dryRun ? "Would remove" : "Removed"
        Terminal.note(
          removals.isEmpty
            ? "No clip exceeds the limits, or every clip that exceeds them is still needed."
            : "\(verb) \(removals.count) clips: \(KeepingOptions.reasons(removals)).")
        return
      }
      var log = RemovalLog { try publishing.owner(home: home.home) ?? home.folder }
      guard let engine else {
        // All names are checked before anything is removed.
        for name in names { _ = try library.url(for: name) }
        var missing: [String] = []
        for name in names where try await !remove(name, from: library, &log) { missing.append(name) }
        guard missing.isEmpty else {
          throw CommandError(
            65,
            "NAME: there is no clip \(missing.joined(separator: ", ")) in "
              + "\(library.soundsDirectory.path(percentEncoded: false)); "
              + (missing.count < names.count
                ? "the others were removed." : "nothing was removed. Check the names, --home and --group."))
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

    /// - Returns: Whether the clip existed.
    @discardableResult
    private func remove(_ name: String, from library: SoundLibrary, _ log: inout RemovalLog) async throws -> Bool {
      if dryRun {
        guard try library.contents(of: name) != nil else { return false }
      } else {
        guard try library.remove(name) else { return false }
        await log.add(name)
      }
      try write(name)
      return true
    }

    private func write(_ name: String) throws {
      // A clip's name has no control characters, so only these two characters need escaping.
      let quoted = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      try StandardOutput.write(json ? "{\"name\":\"\(quoted)\"}" : name)
    }
  }
}

/// The log of administrative actions, for clips that are removed on this machine.
private struct RemovalLog {
  /// Returns the home whose ledger has the log.
  private let home: () throws -> CrierHome
  private var ledger: (any Ledger.Store)?
  private var hasFailed = false

  init(_ home: @escaping () throws -> CrierHome) { self.home = home }

  /// Records that a clip was removed. An error is reported once and does not stop the removal, because removing clips
  /// helps when the disk is full.
  mutating func add(_ name: String) async {
    guard !hasFailed else { return }
    do {
      let ledger: any Ledger.Store
      if let opened = self.ledger { ledger = opened } else { ledger = try await home().openLedger() }
      self.ledger = ledger
      try await ledger.record(.clipRemoved, by: .currentUser, subject: name)
    } catch {
      hasFailed = true
      let consequence = "The removed clips could not be recorded in the log of administrative actions."
      Terminal.note((error as? UnsafeHome)?.text(consequence: consequence) ?? "\(consequence) \(error)")
    }
  }
}
