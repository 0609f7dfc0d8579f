// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcer
import ArgumentParser
import Crypto
import Foundation
import Ledger
import Playback
import SoundLibrary
import SoundOutputs
import TextFormats
import ToneMaking

/// The options for where sounds are played. Each output is one lane: announcements from all processes on an output play
/// one after another.
struct LaneOptions: ParsableArguments {
  @Option(
    help: "The output: default, alsa:NAME (see aplay -L), null, or file:PATH to write a playback log instead.")
  var output = LaneOptions.standard

  static let standard = "default"

  init() {}

  init(output: String) { self.output = output }

  /// - Throws: `OutputError` for an invalid output name.
  func name() throws(OutputError) -> OutputName {
    let name = try OutputName(output)
    // Processes in different working folders must get the same lane for the same file.
    guard case .file(let path) = name else { return name }
    return .file(URL(filePath: path).absoluteURL.standardizedFileURL.path(percentEncoded: false))
  }

  /// Returns the lane's name in a ledger.
  func lane(in ledger: any Ledger.SeatStore) throws(OutputError) -> String {
    try lane(named: ledger.lane(ofOutput:))
  }

  /// Returns the lane's name. A ledger allows 100 bytes, so a longer name is replaced by its digest.
  ///
  /// - Parameter named: Returns the name of an output's lane, of any length.
  func lane(named: (_ output: String) -> String) throws(OutputError) -> String {
    let text = named(try name().description)
    guard text.utf8.count > 100 else { return text }
    return "sha256:" + SHA256.hash(data: Data(text.utf8)).hexadecimal
  }

  /// Returns the output with its lane.
  ///
  /// - Throws: `OutputError` for an invalid output name.
  func parts(waking: Waking, in ledger: any Ledger.SeatStore) throws(OutputError) -> OutputParts {
    let name = try name()
    return OutputParts(name: name.description, lane: try lane(in: ledger)) { name.makeOutput(waking: waking) }
  }

  /// - Throws: ``UnsafeHome``, ``CommandError``, `ServiceConfiguration.Fault`, `LedgerError`.
  func ledger(in home: CrierHome) async throws -> any Ledger.Store {
    // The check can take long for a large ledger. The service checks its ledger when it starts.
    try await home.openLedger(checksIntegrity: false)
  }
}

/// The options for how sounds are played.
struct PlayerOptions: ParsableArguments {
  @OptionGroup var lane: LaneOptions

  @OptionGroup var home: HomeOptions

  @Option(help: "The volume in per cent, 0 to 100.")
  var volume = 100

  @Option(help: "The silence between two announcements, 0 to 60000 ms.")
  var gap = 250

  @Option(
    help:
      "A sound to play before each announcement, at the same loudness: a file, or tone:NAME for one of Crier's tones.",
    completion: .file())
  var chime: String?

  @Option(
    help:
      "The chimes of kinds of payments, such as 'refunded=tone:falling,failed=none'. Other kinds use --chime."
  )
  var chimes: String?

  @Option(
    help:
      "The length of the lead-in for a loudspeaker that sleeps and swallows the first sound, 0 to 2000 ms.")
  var leadIn = 0

  @Option(help: "The sound of the lead-in.")
  var wakeSound = Waking.Sound.silence

  @Option(help: "How long the device stays open without a sound, 1 to 86400 seconds, or always.")
  var keepAwake = KeepAwake.standard

  private var sink: SinkSettings { SinkSettings(leadIn: leadIn, sound: wakeSound, keepAwake: keepAwake) }

  func validate() throws {
    guard (0...100).contains(volume) else {
      throw ValidationError("--volume \(volume) is out of range: give 0 to 100.")
    }
    guard (0...60_000).contains(gap) else { throw ValidationError("--gap \(gap) is out of range: give 0 to 60000 ms.") }
    guard SinkSettings.leadIns.contains(leadIn) else {
      throw ValidationError("--lead-in \(leadIn) is out of range: give 0 to \(SinkSettings.leadIns.upperBound) ms.")
    }
    if chime == "" { throw ValidationError("--chime is empty: name a sound file.") }
    if let chimes, chimes.isEmpty || ChimeSounds.choices(in: chimes) == nil {
      throw ValidationError("--chimes \(chimes): \(ChimeSounds.rule).")
    }
  }

  private func settings(_ sounds: ChimeSounds) throws -> Player.Settings {
    var settings = Player.Settings()
    settings.volume = volume
    settings.gap = Int64(gap)
    settings.idleRelease = keepAwake.milliseconds
    settings.chimes.all = try sounds.chime(chime ?? "")
    settings.chimes.own = try sounds.own(ChimeSounds.choices(in: chimes ?? "") ?? [:])
    return settings
  }

  /// Returns the progress of a command that plays with these options.
  func progress() -> PlayProgress {
    PlayProgress(hasSettings: volume != 100 || gap != 250 || chime != nil || chimes != nil || sink != SinkSettings())
  }

  /// Plays the announcements and prints how each one ended. Progress goes to standard error. An interrupt cancels the
  /// announcements.
  ///
  /// - Parameters:
  ///   - mustBeHeard: Whether it is an error that somebody skips or cancels an announcement.
  ///   - progress: The progress of a command that plays several times, so that nothing is reported twice.
  /// - Throws: ``CommandError``, `OutputError`, `LedgerError`. Without an error, every announcement was
  ///   heard to its end, or somebody skipped it.
  func play(
    _ announcements: [StoredAnnouncement], titles: [String], files: DataOptions, mustBeHeard: Bool = false,
    progress: PlayProgress? = nil
  ) async throws {
    let (settings, waking) = (
      try settings(ChimeSounds(tones: ToneDescriptions(directory: files.installation.tones))), sink.waking
    )
    let name = try lane.name()
    let home = home.folder
    let ledger = try await self.lane.ledger(in: home)
    let lane = try lane.lane(in: ledger)
    let library = SoundLibrary(container: try GroupContainer(containers: home.containers, group: "group.crier"))
    // Announcements of other programs may need phrase books. A sound file needs none.
    let announcer = try? files.announcer(speakers: 1, home: home, copiesPacks: true)
    let rendering = AnnouncerRendering(announcer) { _ in library }
    let shared = SharedLane(lane: lane, ledger: ledger) {
      Player(
        lane: lane, ledger: ledger, output: name.makeOutput(waking: waking), render: rendering, settings: settings)
    }
    let progress = progress ?? self.progress()
    progress.begin(Dictionary(zip(announcements.map(\.id), titles)) { first, _ in first })
    defer { progress.end() }
    // A closed standard error must not end the process with a signal.
    signal(SIGPIPE, SIG_IGN)
    let entries = try await Interruption.cancelling {
      try await shared.play(announcements) { progress.update($0) }
    }
    progress.end()
    for (entry, title) in zip(entries, titles) {
      switch entry.state {
      case .failed:
        let code = entry.detail["code"] ?? "unknown"
        throw CommandError(
          65, "\(title): cannot be played (\(code)); check that the file still exists and is complete.")
      case .expired:
        throw Self.notHeard(title, progress.obstacle ?? "earlier announcements took too long")
      case .cancelled where mustBeHeard: throw Self.notHeard(title, "it was skipped or cancelled")
      case .cancelled: Terminal.note("crier: \(Terminal.printable(title)): skipped.")
      default: break
      }
    }
  }

  /// The error for a sound that was accepted and not heard to its end.
  private static func notHeard(_ title: String, _ reason: String) -> CommandError {
    CommandError(69, "\(title): was not heard to its end, because \(reason); see crier queue.")
  }
}
