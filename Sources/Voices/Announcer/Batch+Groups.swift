// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import SoundLibrary

extension Announcer {
  /// The largest number of clips that are published together. If more rows than this are rendered at the same time,
  /// their number is the limit of a group instead. While a group is being published, the next clips are made or wait.
  /// Both groups together fit into the 64 temporary names of a folder.
  private static let largestGroup = 32

  /// Renders and publishes the announcements of a list, as `batch(_:options:into:limit:permit:keeps:each:)` does, but
  /// publishes the clips in groups.
  ///
  /// Synchronizing a folder to the disk takes longer than making a clip from a voice pack. While a group of clips is
  /// being published, the clips of the next group are made. An outcome is delivered only when its clip survives a power
  /// cut, and outcomes are delivered in the order in which the rows were rendered. If the batch ends early, the clips
  /// of its last groups may be missing, or may be published without an outcome.
  ///
  /// - Parameters:
  ///   - rows: Returns the next row, such as ``BatchSource/next()``, or `nil` at the end.
  ///   - limit: The number of rows rendered at the same time. It is at least 1, and at most the number of requests that
  ///     may wait for the engine.
  ///   - each: Receives an outcome. It runs in the caller's isolation.
  /// - Throws: The errors of `batch(_:options:into:limit:permit:keeps:each:)`.
  public func batch(
    _ rows: @escaping @Sendable () async throws -> BatchRow?, options: RenderOptions = RenderOptions(),
    inGroupsInto library: SoundLibrary, limit: Int, each: (BatchOutcome) async throws -> Void
  ) async throws {
    try options.check()
    try packs.check(options.pack)
    let groups = GroupedPublishing(library: library)
    try await withTaskExecutorPreference(WaitingThreads.shared) {
      try await concurrentlyInGroups(
        limit: limit, largestGroup: max(limit, Self.largestGroup), next: rows,
        work: { row in
          var unpublished: PreparedClip?
          let outcome = await Self.outcome(of: row) { announcement in
            let rendered = try await Self.waitingForEngine {
              try await self.rendered(announcement, options, into: ClipPlace(library: library, groups: groups), .always)
            }
            unpublished = rendered.unpublished
            return rendered.clip.report
          }
          return FinishedRow(outcome: outcome, unpublished: unpublished)
        },
        complete: { rows in Self.published(rows, by: groups) },
        each: { outcome in
          if case .failure(let error) = outcome.result, Self.failsEveryRow(error) { throw error }
          try await each(outcome)
        })
    }
  }

  /// Publishes the clips of finished rows, and returns the rows' outcomes.
  private static func published(_ rows: [FinishedRow], by groups: GroupedPublishing) -> [BatchOutcome] {
    var outcomes = rows.map(\.outcome)
    let unpublished = rows.indices.filter { rows[$0].unpublished != nil }
    guard !unpublished.isEmpty else { return outcomes }
    for (index, error) in zip(unpublished, groups.publish(unpublished.compactMap { rows[$0].unpublished })) {
      if let error { outcomes[index].result = .failure(error) }
    }
    return outcomes
  }
}

/// A row that was rendered, and its clip if the clip is not published yet.
private struct FinishedRow: Sendable {
  var outcome: BatchOutcome
  var unpublished: PreparedClip?
}
