// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
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

  /// Returns the clips that exceed the limits, except those that are still needed.
  ///
  /// - Parameter tidies: Whether leftovers of ended processes are removed; see `SoundLibrary.excess`.
  /// - Throws: `SoundLibraryError`.
  func excess(
    _ library: SoundLibrary, needs: ClipNeeds, tidies: Bool = false
  ) throws(SoundLibraryError) -> [SoundKeeping.Removal] {
    try library.excess(
      SoundKeeping(
        mostBytes: maxMb.map { $0 << 20 }, mostFiles: maxFiles, longestUnused: unusedDays.map { Double($0) * 86_400 },
        keptAfterUse: needs.lifetime),
      needed: needs.clips, tidies: tidies)
  }

  /// Removes the clips that exceed the limits, except those that are still needed. The ledger is read again before each
  /// group of clips, because a service may have begun to need some of them.
  ///
  /// - Parameter report: Called with each group of removed clips.
  /// - Throws: `SoundLibraryError`, `LedgerError`, and the errors of `report`.
  func prune(
    _ library: SoundLibrary, needs: ClipNeeds, report: (ArraySlice<SoundKeeping.Removal>) throws -> Void
  ) async throws {
    for group in SoundKeeping.groups(of: try excess(library, needs: needs, tidies: true)) {
      let needed = try await needs.clipsNeededNow(among: group.map(\.sound.name))
      let removed = try library.remove(group, unless: needed.contains, failed: { Terminal.note("\($0)") })
      try report(removed[...])
    }
  }

  /// Removes the clips that exceed the limits after a command has published clips. Nothing is removed if no limit is
  /// given.
  ///
  /// The clips are published by then, so an error is only reported.
  ///
  /// - Parameters:
  ///   - publishing: The options with which the clips were published.
  ///   - own: The names of the clips that the command published. They stay, however long the command ran.
  func pruneIfAsked(_ library: SoundLibrary, to publishing: PublishingOptions, own: Set<String>) async {
    guard isGiven else { return }
    do {
      var needs = try await ClipNeeds.read(of: publishing.owner())
      needs.clips.formUnion(own)
      // A missing ledger is usual where no service runs.
      if let gap = needs.gap, gap == .unknownHome { Terminal.note("\(gap)") }
      var removed: [SoundKeeping.Removal] = []
      try await prune(library, needs: needs) { removed += $0 }
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
