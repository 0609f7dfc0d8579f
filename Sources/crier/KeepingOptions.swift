// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import ArgumentParser
import Foundation
import Ledger
import SoundLibrary

/// The options that limit the clips in the folder of an app group.
struct KeepingOptions: ParsableArguments {
  @Option(help: "Remove clips, those unused for the longest time first, until all files have at most this many MiB.")
  var maxMb: Int?

  @Option(help: "Remove clips, those unused for the longest time first, until there are at most this many files.")
  var maxFiles: Int?

  @Option(help: "Remove clips that nobody asked for in this many days.")
  var unusedDays: Int?

  func validate() throws {
    for (name, value) in [("max-mb", maxMb), ("max-files", maxFiles), ("unused-days", unusedDays)] {
      if let value, !(0...1_000_000_000).contains(value) {
        throw ValidationError("--\(name) \(value) is out of range: give 0 to 1000000000.")
      }
    }
  }

  /// Whether any limit is given.
  var isGiven: Bool { maxMb != nil || maxFiles != nil || unusedDays != nil }

  /// Removes the clips that exceed the limits. Clips that the home's service still needs stay: those of unfinished
  /// announcements and batches, and those with links that are valid.
  ///
  /// - Parameter removes: Whether the clips are really removed.
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`, `LedgerError`, `SoundLibraryError`.
  func prune(_ library: SoundLibrary, of home: CrierHome, removes: Bool = true) async throws -> [SoundKeeping.Removal] {
    let (needed, lifetime) = try await Self.needs(of: home)
    return try library.prune(
      SoundKeeping(
        mostBytes: maxMb.map { $0 << 20 }, mostFiles: maxFiles, longestUnused: unusedDays.map { Double($0) * 86_400 },
        keptAfterUse: lifetime),
      needed: needed, removes: removes, failed: { Terminal.note("\($0)") })
  }

  /// Returns the names of the clips that the home's service needs, and the time for which it keeps a clip after its last
  /// use, in seconds. A home without a ledger needs nothing.
  ///
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`, `LedgerError`.
  static func needs(of home: CrierHome) async throws -> (clips: Set<String>, lifetime: TimeInterval) {
    if CrierHome.isMissing(home.ledger) { return ([], 0) }
    // The home folder must be safe before its settings file is trusted.
    let ledger = try home.openLedger()
    let configuration = try await ServiceConfiguration(
      flags: [:], environment: ProcessInfo.processInfo.environment, file: nil, home: home)
    return (
      try await ledger.neededClips(ofBatches: try await UnfinishedBatches.ids(in: home.batches)),
      configuration.settings.clipLifetime
    )
  }

  /// Removes the clips that exceed the limits after a command has published clips. Nothing is removed if no limit is
  /// given.
  ///
  /// The clips are published by then, so an error is only reported.
  func pruneIfAsked(_ library: SoundLibrary, of home: CrierHome) async {
    guard isGiven else { return }
    do {
      let removed = try await prune(library, of: home)
      if !removed.isEmpty { Terminal.note("Removed \(removed.count) clips: \(Self.reasons(removed)).") }
    } catch {
      Terminal.note("Old clips could not be removed. \(error)")
    }
  }

  static func reasons(_ removals: [SoundKeeping.Removal]) -> String {
    let unused = removals.count { $0.reason == .unused }
    let bytes = removals.reduce(0) { $0 + $1.sound.byteCount }
    let parts = [
      unused > 0 ? "\(unused) unused" : nil,
      unused < removals.count ? "\(removals.count - unused) over the limits" : nil,
    ]
    return parts.compactMap(\.self).joined(separator: ", ") + ", \(bytes) bytes"
  }
}
