// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import ArgumentParser
import Foundation
import Ledger
import SoundOutputs

/// The options that select the queue that a command shows or changes. A queue belongs to an output of a home folder.
struct QueueOptions: ParsableArguments {
  @Option(
    help: """
      The output: default, alsa:NAME (see aplay -L), null, or file:PATH. Without this option, the output is the one \
      that somebody chose through the service. If nobody chose one, it is the output in CRIER_OUTPUT or in the home's \
      crier.yaml, and otherwise default.
      """)
  var output: String?

  @OptionGroup var home: HomeOptions

  /// Returns the name of the queue's lane and the ledger. No ledger is made: an empty one would look like an idle
  /// service, although the service uses another home.
  ///
  /// - Throws: ``UnsafeHome``, ``CommandError``, `ServiceConfiguration.Fault`, `OutputError`, `LedgerError`.
  func open() async throws -> (lane: String, ledger: any Ledger.Store) {
    let home = home.folder
    // The home folder must be safe before its settings file is trusted.
    try home.requirePrivate()
    guard try home.hasLedger() else {
      throw CommandError(
        65, "\(home.typed): this home has no ledger; give the home folder of the service or program with --home.")
    }
    let lane = LaneOptions(output: try output ?? Self.output(of: home))
    // A faulty output is reported before a ledger that cannot be opened.
    _ = try lane.name()
    let ledger = try await lane.ledger(in: home)
    return (try lane.lane(in: ledger), ledger)
  }

  /// Returns the output that a service with this home plays to. A service that plays nothing has no queue, so the
  /// default output is shown, together with the other outputs on which announcements wait. The output that somebody
  /// chose through the service takes precedence over its settings, as in the service.
  private static func output(of home: CrierHome) throws -> String {
    let configuration = try ServiceConfiguration(
      flags: [:], environment: ProcessInfo.processInfo.environment, file: nil, home: home)
    guard configuration.output != "none" else { return LaneOptions.standard }
    do {
      _ = try OutputName(configuration.output)
    } catch {
      throw configuration.invalidOutput(error)
    }
    return PlayerParts.chosenOutput(in: home.playerPreferences) ?? configuration.output
  }
}
