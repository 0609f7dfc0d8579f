// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import Ledger
import SoundLibrary
import TextFormats

extension Sounds {
  struct List: ReportingCommand {
    /// The orders in which sounds are listed.
    enum Order: String, CaseIterable, ExpressibleByArgument {
      case name, size, used
    }

    static let configuration = CommandConfiguration(
      abstract: "Lists the sounds of a group: name, words, length, size, and time of the last use.",
      discussion: """
        The words and the length come from the clip itself. Other sounds, such as tones, have no words, and a file that \
        is not a sound has no length. The words can contain names and notes.

        The reasons why a sound is kept come also from the ledger of a home. It is the home that --home names. Without \
        --home, it is the home to which the folder of --containers belongs, if that home has a ledger. The ledger is \
        only \
        read. If it must first be migrated, or other users can change the home, the list has no reasons, and \
        kept_because is null.

        EXAMPLES
          crier sounds list
          crier sounds list --sort size --json
        """)

    @Option(help: "The order: used (latest use first), size (largest first) or name.")
    var sort: Order = .used

    @Flag(help: "Print one line of JSON for each sound: name, words, duration_ms, bytes, last_used, kept_because.")
    var json = false

    @OptionGroup(title: "Publishing") var publishing: PublishingOptions

    @OptionGroup var home: HomeOptions

    func perform() async throws {
      let library = try publishing.library(home: home.folder)
      // The sounds are in the order of their names, and sorting is stable, so equal sounds stay in this order.
      var sounds = try ListedSound.all(in: library)
      switch sort {
      case .name: break
      case .size: sounds.sort { $0.bytes > $1.bytes }
      case .used: sounds.sort { $0.lastUsed > $1.lastUsed }
      }
      let needs = try await needs()
      let keeping = SoundKeeping(keptAfterUse: needs?.lifetime ?? 0)
      let now = Date()
      for sound in sounds {
        let stored = StoredSound(name: sound.name, byteCount: sound.bytes, lastUsed: sound.lastUsed)
        let reasons = needs.map { keeping.reasonsToKeep(stored, needed: $0.clips, at: now).map(\.rawValue) }
        let line = SoundLine(sound, keptBecause: reasons)
        try StandardOutput.write(json ? try line.jsonLine : line.text)
      }
      if sounds.isEmpty {
        Terminal.note("There are no sounds in \(library.soundsDirectory.path(percentEncoded: false)).")
      } else if needs?.gap == .unknownHome, let note = needs?.noteWithRemedy {
        // A missing ledger is usual where no service runs.
        Terminal.note(note)
      }
    }

    /// Returns the clips that the home's service needs. If the ledger cannot be read without changing it, or if other
    /// users can change the home, prints a message and returns nil, because the list is useful even without the
    /// reasons.
    ///
    /// - Throws: `ServiceConfiguration.Fault`.
    private func needs() async throws -> ClipNeeds? {
      let consequence = "The list does not say why sounds are kept."
      do {
        return try await ClipNeeds.read(of: publishing.owner(home: home.home), changesNothing: true)
      } catch let error as LedgerError {
        Terminal.note("\(consequence) \(error)")
      } catch let error as UnsafeHome {
        Terminal.note(error.text(consequence: consequence))
      }
      return nil
    }
  }
}

/// A sound as a line of `crier sounds list`.
private struct SoundLine: Encodable {
  var name: String
  @ExplicitNull var words: String?
  @ExplicitNull var durationMs: Int?
  var bytes: Int
  var lastUsed: Date
  @ExplicitNull var keptBecause: [String]?

  init(_ sound: ListedSound, keptBecause: [String]?) {
    (name, bytes, lastUsed) = (sound.name, sound.bytes, sound.lastUsed)
    _words = ExplicitNull(wrappedValue: sound.words)
    _durationMs = ExplicitNull(wrappedValue: sound.milliseconds)
    _keptBecause = ExplicitNull(wrappedValue: keptBecause)
  }

  /// The sound as columns with tabs between them. The reasons are a column only for a sound that has some.
  var text: String {
    let length = durationMs.map { "\(($0 + 50) / 1000).\(($0 + 50) / 100 % 10) s" } ?? "no sound"
    let reasons = keptBecause ?? []
    return
      ([
        Terminal.printable(name), Terminal.printable(words ?? "-"), length, BatchProgress.size(bytes),
        "used \(lastUsed.formatted(.iso8601))",
      ] + (reasons.isEmpty ? [] : ["kept: \(reasons.joined(separator: ", "))"])).joined(separator: "\t")
  }
}
