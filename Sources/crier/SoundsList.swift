// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import JSONSupport
import SoundLibrary

extension Sounds {
  struct List: AsyncParsableCommand {
    /// The orders in which sounds are listed.
    enum Order: String, CaseIterable, ExpressibleByArgument {
      case name, size, used
    }

    static let configuration = CommandConfiguration(
      abstract: "Lists the sounds of a group: name, words, length, size, and time of the last use.",
      discussion: """
        The words and the length come from the clip itself. Other sounds, such as tones, have no words, and a file that \
        is not a sound has no length. The words can contain names and notes.

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

    func run() async throws {
      try await Failures.reported {
        let library = try publishing.library(home: home.folder)
        // The sounds are in the order of their names, and sorting is stable, so equal sounds stay in this order.
        var sounds = try ListedSound.all(in: library)
        switch sort {
        case .name: break
        case .size: sounds.sort { $0.bytes > $1.bytes }
        case .used: sounds.sort { $0.lastUsed > $1.lastUsed }
        }
        let (needed, lifetime) = try await KeepingOptions.needs(of: home.folder)
        let keeping = SoundKeeping(keptAfterUse: lifetime)
        let now = Date()
        for sound in sounds {
          let stored = StoredSound(name: sound.name, byteCount: sound.bytes, lastUsed: sound.lastUsed)
          let reasons = keeping.reasonsToKeep(stored, needed: needed, at: now).map(\.rawValue)
          let line = SoundLine(sound, keptBecause: reasons)
          try StandardOutput.write(json ? try line.jsonLine : line.text)
        }
        if sounds.isEmpty {
          Terminal.note("There are no sounds in \(library.soundsDirectory.path(percentEncoded: false)).")
        }
      }
    }
  }
}

/// A sound as a line of `crier sounds list`.
private struct SoundLine: Encodable {
  var name: String
  @ExplicitNull var words: String?
  @ExplicitNull var durationMilliseconds: Int?
  var bytes: Int
  var lastUsed: Date
  var keptBecause: [String]

  enum CodingKeys: String, CodingKey {
    case name, words, bytes
    case durationMilliseconds = "duration_ms"
    case lastUsed = "last_used"
    case keptBecause = "kept_because"
  }

  init(_ sound: ListedSound, keptBecause: [String]) {
    (name, bytes, lastUsed) = (sound.name, sound.bytes, sound.lastUsed)
    _words = ExplicitNull(wrappedValue: sound.words)
    _durationMilliseconds = ExplicitNull(wrappedValue: sound.milliseconds)
    self.keptBecause = keptBecause
  }

  /// The sound as columns with tabs between them. The reasons are a column only for a sound that has some.
  var text: String {
    let length = durationMilliseconds.map { "\(($0 + 50) / 1000).\(($0 + 50) / 100 % 10) s" } ?? "no sound"
    return
      ([
        Terminal.printable(name), Terminal.printable(words ?? "-"), length, BatchProgress.size(bytes),
        "used \(lastUsed.formatted(.iso8601))",
      ] + (keptBecause.isEmpty ? [] : ["kept: \(keptBecause.joined(separator: ", "))"])).joined(separator: "\t")
  }
}
