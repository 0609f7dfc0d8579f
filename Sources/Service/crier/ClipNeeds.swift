// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Foundation
import Ledger

/// The clips that the service of a home still needs.
struct ClipNeeds: Sendable {
  /// The reason why no ledger was read.
  enum Gap: Sendable, Hashable, CustomStringConvertible {
    /// The folder of `--containers` belongs to no known home.
    case unknownHome
    /// The home has no ledger.
    case noLedger(home: String)

    var description: String {
      switch self {
      case .unknownHome: "The folder of --containers belongs to no known home, so no clip counts as needed."
      case .noLedger(let home):
        "The service has never run in \(Terminal.printable(home)), so no announcement needs a clip."
      }
    }
  }

  /// The names of the clips that must stay.
  var clips: Set<String> = []
  /// The time for which the service keeps a clip after its last use, in seconds.
  var lifetime: TimeInterval = 0
  /// The reason why no ledger was read; nil if one was read.
  var gap: Gap?
  /// The ledger that was read, and the folder of its service's batches.
  private var source: (ledger: any Ledger.BatchStore, batches: URL)?

  /// A sentence for the user of a command that has `--home`; nil if a ledger was read.
  var noteWithRemedy: String? {
    guard let gap else { return nil }
    return gap == .unknownHome ? "\(gap) If a service uses the folder, name its home with --home." : "\(gap)"
  }

  private init(gap: Gap) { self.gap = gap }

  private init(ledger: any Ledger.BatchStore, batches: URL, lifetime: TimeInterval) async throws {
    self.lifetime = lifetime
    source = (ledger, batches)
    clips = try await Self.clips(source, among: nil)
  }

  /// Reads which clips the service of a home needs. A home without a ledger needs nothing.
  ///
  /// - Parameters:
  ///   - home: The home to which the clips belong; nil if there is none. See ``PublishingOptions/owner(home:)``.
  ///   - changesNothing: Whether the ledger is only read. Otherwise, a ledger of an earlier version is migrated.
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`, `LedgerError`.
  static func read(of home: CrierHome?, changesNothing: Bool = false) async throws -> ClipNeeds {
    guard let home else { return ClipNeeds(gap: .unknownHome) }
    guard try home.hasLedger() else { return ClipNeeds(gap: .noLedger(home: home.typed)) }
    // The home folder must be safe before its settings file is trusted. Opening the ledger checks this.
    let ledger = try await changesNothing ? home.readLedger() : home.openLedger()
    let configuration = try ServiceConfiguration(
      flags: [:], environment: ProcessInfo.processInfo.environment, file: nil, home: home)
    return try await ClipNeeds(
      ledger: ledger, batches: home.batches, lifetime: configuration.settings.clipLifetime)
  }

  /// Reads the ledger again and returns which of some clips are needed by now.
  ///
  /// - Throws: `LedgerError`, and the errors of reading the folder of the batches.
  func clipsNeededNow(among names: [String]) async throws -> Set<String> { try await Self.clips(source, among: names) }

  private static func clips(
    _ source: (ledger: any Ledger.BatchStore, batches: URL)?, among names: [String]?
  ) async throws -> Set<String> {
    guard let source else { return [] }
    let shared = try await source.ledger.sharedBatches?.unfinishedBatches().map(\.id) ?? []
    return try await source.ledger.neededClips(
      ofBatches: try await UnfinishedBatches.ids(in: source.batches) + shared, among: names)
  }
}

extension PublishingOptions {
  /// Returns the home whose service uses the clips of ``containers``.
  ///
  /// - Parameter given: The path given with `--home`; nil if there is none.
  /// - Returns: The given home. If none is given, the home that has the containers and a ledger, or the usual home if
  ///   the containers are its own. Nil for other containers, because the ledger of another home knows nothing about
  ///   their clips.
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`.
  func owner(home given: String? = nil) throws -> CrierHome? {
    let usual = CrierHome(given)
    guard given == nil, let containers else { return usual }
    let folder = URL(filePath: containers, directoryHint: .isDirectory).absoluteURL
    if folder.isSamePlace(as: usual.containers) { return usual }
    // The path may be a link to the containers.
    let places = [folder.standardizedFileURL, folder.standardizedFileURL.resolvingSymlinksInPath()]
    // The environment is about the usual home, and would name another ledger.
    let parents = places.map { CrierHome($0.deletingLastPathComponent().path(percentEncoded: false), environment: [:]) }
    return try parents.first { try folder.isSamePlace(as: $0.containers) && $0.hasLedger() }
  }
}

extension URL {
  fileprivate func isSamePlace(as other: URL) -> Bool {
    standardizedFileURL.resolvingSymlinksInPath().pathComponents
      == other.standardizedFileURL.resolvingSymlinksInPath().pathComponents
  }
}
