// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import SoundLibrary
import TextFormats
import ToneMaking

extension Sounds.Tone {
  struct List: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the tones: name, length, state, and which one is chosen.",
      discussion: """
        The first line is the phone's default sound. The files in the group's Library/Sounds follow, without the clips \
        of announcements, and then Crier's own tones that can be made. The states are system, file, available (the \
        tone can be made), missing (the chosen tone has no file) and unplayable.
        """)

    @Flag(help: "Print one line of JSON for each tone: name, duration_ms, state, chosen, title.")
    var json = false

    @OptionGroup(title: "Group") var publishing: PublishingOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let library = try publishing.library(home: home.folder)
      let tones = GroupTones(library: library, own: ToneDescriptions(directory: files.installation.tones))
      for row in try rows(tones) { try StandardOutput.write(json ? try row.jsonLine : row.text) }
    }

    private func rows(_ tones: GroupTones) throws -> [Row] {
      let chosen = try tones.preference.tone()
      let files = try tones.library.tones()
      var rows = [Row(name: SoundChoice.defaultName, state: .system, chosen: chosen == nil)]
      for name in files {
        var row = Row(name: name, state: .file, chosen: name == chosen)
        do {
          row.durationMs = try tones.milliseconds(of: name)
        } catch {
          row.state = .unplayable
          Terminal.note(Terminal.printableLines("\(error)"))
        }
        rows.append(row)
      }
      // A clip of an announcement can also be chosen, by an app.
      if let chosen, !files.contains(chosen) {
        let exists = tones.library.hasSound(chosen)
        rows.append(Row(name: chosen, state: exists ? .file : .missing, chosen: true))
        if !exists { Terminal.note(Sounds.Tone.missing(chosen, tones.library)) }
      }
      let own = ownTones(tones)
      for index in rows.indices { rows[index].title = own.first { $0.fileName == rows[index].name }?.title }
      rows += own.filter { !files.contains($0.fileName) }.map {
        Row(name: $0.name, durationMs: $0.durationMilliseconds, state: .available, chosen: false, title: $0.title)
      }
      return rows
    }

    /// Returns Crier's own tones. A tone that cannot be made is reported and left out.
    private func ownTones(_ tones: GroupTones) -> [MadeTone] {
      do throws(ToneError) {
        var made: [MadeTone] = []
        for name in try tones.own.names() {
          do throws(ToneError) {
            made.append(try MadeTone(name, from: tones.own))
          } catch {
            Terminal.note(Terminal.printable("\(error)"))
          }
        }
        return made
      } catch {
        Terminal.note(Terminal.printable("\(error)"))
        return []
      }
    }
  }
}

/// A line of the list.
private struct Row: Encodable {
  enum State: String, Encodable {
    case system, file, available, missing, unplayable

    var text: String {
      switch self {
      case .system: "the phone's default sound"
      case .file: "file"
      case .available: "can be made"
      case .missing: "missing"
      case .unplayable: "cannot be played"
      }
    }
  }

  var name: String
  /// The length in ms; nil if it is unknown.
  @ExplicitNull var durationMs: Int? = nil
  var state: State
  var chosen: Bool
  /// The title of one of Crier's own tones.
  @ExplicitNull var title: String? = nil

  var text: String {
    // The digits are not rounded, so that a tone just below 30 s is not shown with 30 s.
    let length = durationMs.map { "\($0 / 1000).\($0 % 1000 / 100)\($0 % 100 / 10) s" } ?? "-"
    let cells = [Terminal.printable(name), length, state.text] + (chosen ? ["chosen"] : [])
    return cells.joined(separator: "\t")
  }
}
