// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Foundation
import Ledger

/// The clips that the service of a home still needs.
struct ClipNeeds: Sendable, Hashable {
  /// The names of the clips that must stay.
  var clips: Set<String> = []
  /// The time for which the service keeps a clip after its last use, in seconds.
  var lifetime: TimeInterval = 0
  /// A sentence for the user that says why no ledger was read; nil if one was read.
  var note: String?

  /// Reads what the service of a home needs. A home without a ledger needs nothing.
  ///
  /// - Parameters:
  ///   - home: The home to which the clips belong; nil if there is none. See ``PublishingOptions/owner(home:)``.
  ///   - changesNothing: Whether the ledger is only read. Otherwise, a ledger of an earlier version is migrated.
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`, `LedgerError`.
  static func read(of home: CrierHome?, changesNothing: Bool = false) async throws -> ClipNeeds {
    guard let home else {
      return ClipNeeds(
        note: "The folder of --containers belongs to no known home, so no clip counts as needed. If a service uses the "
          + "folder, name its home with --home.")
    }
    if CrierHome.isMissing(home.ledger) {
      return ClipNeeds(note: "There is no ledger in \(Terminal.printable(home.typed)), so no clip counts as needed.")
    }
    // The home folder must be safe before its settings file is trusted.
    let ledger = try changesNothing ? home.readLedger() : home.openLedger()
    let configuration = try ServiceConfiguration(
      flags: [:], environment: ProcessInfo.processInfo.environment, file: nil, home: home)
    return ClipNeeds(
      clips: try await ledger.neededClips(ofBatches: try await UnfinishedBatches.ids(in: home.batches)),
      lifetime: configuration.settings.clipLifetime)
  }
}

extension PublishingOptions {
  /// Returns the home whose service uses the clips of ``containers``.
  ///
  /// - Parameter given: The path given with `--home`; nil if there is none.
  /// - Returns: The given home. Without one, the home that has the containers and a ledger, or the usual home if the
  ///   containers are its own; nil for other containers. The ledger of another home knows nothing about their clips.
  func owner(home given: String? = nil) -> CrierHome? {
    let usual = CrierHome(given)
    guard given == nil, let containers else { return usual }
    let folder = URL(filePath: containers, directoryHint: .isDirectory).absoluteURL
    if folder.isSamePlace(as: usual.containers) { return usual }
    let parent = CrierHome(folder.standardizedFileURL.deletingLastPathComponent().path(percentEncoded: false))
    return folder.isSamePlace(as: parent.containers) && !CrierHome.isMissing(parent.ledger) ? parent : nil
  }
}

extension URL {
  fileprivate func isSamePlace(as other: URL) -> Bool {
    standardizedFileURL.resolvingSymlinksInPath().pathComponents
      == other.standardizedFileURL.resolvingSymlinksInPath().pathComponents
  }
}
