// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Crypto
import Foundation
import Ledger
import Playback
import SoundLibrary
import SoundOutputs
import VoicePackIntegrity

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where sounds are heard. An output is a lane of its own: what is played on it by any process is heard one after another.
struct LaneOptions: ParsableArguments {
  @Option(
    help: "Where it is heard: default, alsa:NAME (see aplay -L), null, or file:PATH for a log of what was played.")
  var output = "default"

  /// - Throws: `OutputError` for what is no output's name.
  func name() throws(OutputError) -> OutputName {
    let name = try OutputName(output)
    // Processes in different folders mean the same file.
    guard case .file(let path) = name else { return name }
    return .file(URL(filePath: path).absoluteURL.standardizedFileURL.path(percentEncoded: false))
  }

  /// The lane's name in the ledger, which takes 100 bytes: a longer one is told from others by its digest.
  func lane() throws(OutputError) -> String {
    let text = try name().description
    guard text.utf8.count > 100 else { return text }
    return "sha256:" + SHA256.hash(data: Data(text.utf8)).hexadecimal
  }

  /// - Throws: ``UnsafeHome``, `LedgerError`.
  func ledger() throws -> Ledger {
    var options = Ledger.Options()
    // It may be long; the service reads all of it when it starts.
    options.checksIntegrity = false
    return try CrierHome().openLedger(options: options)
  }
}

/// How sounds are played.
struct PlayerOptions: ParsableArguments {
  @OptionGroup var lane: LaneOptions

  @Option(help: "How loud, in per cent.")
  var volume = 100

  @Option(help: "The silence between two announcements, in ms.")
  var gap = 250

  @Option(help: "A sound file heard before each announcement, made as loud as it.", completion: .file())
  var chime: String?

  func validate() throws {
    guard (0...100).contains(volume) else { throw ValidationError("--volume \(volume) is out of range: 0 to 100.") }
    guard (0...60_000).contains(gap) else { throw ValidationError("--gap \(gap) is out of range: 0 to 60000 ms.") }
    if chime == "" { throw ValidationError("--chime is empty: name a sound file.") }
  }

  func settings() throws(PlayableFileError) -> Player.Settings {
    var settings = Player.Settings()
    settings.volume = volume
    settings.gap = Int64(gap)
    if let chime { settings.chime = try PlayableFile.chime(of: URL(filePath: chime)) }
    return settings
  }

  /// Plays these and returns how each ended; progress goes to standard error. An interrupt takes them back.
  func play(_ announcements: [StoredAnnouncement], titles: [String], files: DataOptions) async throws {
    let settings = try settings()
    let (name, lane) = (try lane.name(), try lane.lane())
    let ledger = try self.lane.ledger()
    let library = SoundLibrary(container: try GroupContainer(containers: CrierHome().containers, group: "group.crier"))
    // What others left may need phrase books; a file does not.
    let rendering = AnnouncerRendering(try? files.announcer(speakers: 1), library: library)
    let shared = SharedLane(lane: lane, ledger: ledger) { () throws(OutputError) in
      Player(lane: lane, ledger: ledger, output: try name.makeOutput(), render: rendering, settings: settings)
    }
    let progress = PlayProgress(
      titles: Dictionary(zip(announcements.map(\.id), titles)) { first, _ in first },
      hasSettings: volume != 100 || gap != 250 || chime != nil)
    defer { progress.end() }
    // A log's reader that goes away is an error to be told, and no reason to die.
    signal(SIGPIPE, SIG_IGN)
    let entries = try await Interruption.cancelling {
      try await shared.play(announcements) { progress.update($0) }
    }
    progress.end()
    for (entry, title) in zip(entries, titles) {
      switch entry.state {
      case .failed: throw PlayFailure(title: title, code: entry.detail["code"] ?? "unknown")
      case .expired:
        Terminal.note("crier: \(Terminal.printable(title)): not played, for others went before it too long.")
      case .cancelled: Terminal.note("crier: \(Terminal.printable(title)): skipped.")
      default: break
      }
    }
  }
}

/// A sound that was accepted and could not be made.
struct PlayFailure: Error, CustomStringConvertible {
  var title: String
  var code: String
  var description: String { "\(title): could not be played (\(code)); see whether the file is still there and whole." }
}
