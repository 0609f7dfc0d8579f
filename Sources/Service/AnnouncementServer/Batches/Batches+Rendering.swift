// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import Logging
import SoundLibrary

/// The rendering of a batch.
extension Batches {
  /// The numbers of the rows that are being rendered, by the offsets in the list at which they end.
  private struct ReadRows {
    /// The number of rows that were read so far, with those whose results are stored.
    var count = 0
    /// The number of rows that are being rendered or have results.
    var begun: Int
    var numbers: [Int: Int] = [:]
  }

  /// Renders the rows of a batch that have no result yet, and adds their results.
  ///
  /// - Returns: The status after the last row, with the error if there was one; nil if the service stops before that, or
  ///   if the batch is now another node's. In this case, the batch is started again, here or there.
  @concurrent nonisolated func render(_ work: any BatchWork) async -> Status? {
    let record = work.record
    let id = record.status.id
    var status = record.status
    let read = Locked(ReadRows(begun: status.done + status.failed))
    do {
      let options = try RenderOptions(
        record.options.options, defaults: record.options.defaults, base: RenderOptions(defaultLocale: settings.locale))
      let group = group(of: record)
      let library = try clips.library(group)
      try await work.open { [heldClips] in await heldClips.write(of: id) }
      async let _: Void = work.keepStoring()
      let source = BatchSource(
        format: BatchRows.Format(rawValue: record.format), unknownKeys: record.options.unknownKeys
      ) { try await work.piece() }
      var loggedCodes: Set<String> = []
      // A list uses at most half of the processors, so that payments do not wait behind it.
      let limit = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
      try await announcer.batch(
        { try await Self.nextRow(of: source, read, work) }, options: options, into: library, limit: limit,
        permit: self.work.permit(record.account, for: .list { work.isStopping }),
        keeps: { [clips, heldClips, account = record.account] report in
          // From now on, the clip remains when another account removes an announcement with the same clip.
          await clips.turns.share([report.clip.name]) {
            guard Clips.isThere(report) else { return false }
            await heldClips.hold(
              [report.clip.name], files: [LibrarySound(report, group: group)], account: account, batch: id)
            return true
          }
        }
      ) { outcome in
        var outcome = outcome
        let row = read.withLock { $0.numbers.removeValue(forKey: outcome.endOffset) }
        // The batch was cancelled before the row was started. The row counts as not read.
        if case .failure(is AccountWork.ListStopped) = outcome.result {
          read.withLock { $0.begun -= 1 }
          return
        }
        // A row that fails because the service stops is made later.
        if case .failure = outcome.result { try Task.checkCancellation() }
        // Every other row would be refused as well, so the batch ends. The list may be sent again, and the clips that
        // were made remain.
        if case .failure(let refusal as AccountWork.Refusal) = outcome.result { throw refusal }
        if case .success(var report) = outcome.result {
          report.clip.url = try urls.url(ofClip: report.clip.name, authority: record.authority)
          outcome.result = .success(report)
        }
        var next = status
        next.rows = read.withLock { $0.begun }
        count(outcome, in: &next, of: id, &loggedCodes)
        try await work.add(try outcome.json { Self.reported(Problem($0)) }, ofRow: row ?? 0, next)
        status = next
        if (status.done + status.failed) % HeldClips.rowsOfWrite == 0 { await heldClips.write(of: id) }
      }
      try await work.synchronize()
      status.rows = read.withLock { $0.begun }
      if work.isLost { return nil }
    } catch {
      if Task.isCancelled || error is CancellationError || work.isLost { return nil }
      status.rows = read.withLock { $0.begun }
      status.error = Self.reported(Problem(error))
    }
    return status
  }

  /// Returns the next row that has no result yet; nil at the end of the list, or if no further row may be read.
  private static func nextRow(
    of source: BatchSource, _ read: Locked<ReadRows>, _ work: any BatchWork
  ) async throws -> BatchRow? {
    while !work.isStopping, let row = try await source.next() {
      let number = read.withLock { read in
        defer { read.count += 1 }
        return read.count
      }
      if await work.hasResult(ofRow: number) { continue }
      read.withLock { read in
        read.begun += 1
        read.numbers[row.endOffset] = number
      }
      return row
    }
    return nil
  }

  /// Counts a row that has ended.
  private nonisolated func count(
    _ outcome: BatchOutcome, in status: inout Status, of id: String, _ loggedCodes: inout Set<String>
  ) {
    guard case .failure(let error) = outcome.result else {
      status.done += 1
      return metrics.countBatchRow(isFailure: false)
    }
    status.failed += 1
    let problem = Problem(error)
    status.add(
      Status.RowFault(
        line: outcome.line, element: outcome.element, id: outcome.id, column: Self.column(of: error),
        code: problem.code, message: problem.detail))
    // An internal error is logged once for each code, because a list may have a million rows.
    if problem.status == .internalServerError, loggedCodes.insert(problem.code).inserted {
      logger.error(
        "A row of a batch failed. Other rows may have failed with the same error.",
        metadata: [
          "batch": "\(id)", "line": "\(outcome.line)", "code": "\(problem.code)",
          "error": "\(Problem.loggable(error))",
        ])
    }
    metrics.countBatchRow(isFailure: true)
  }

  /// Returns the column or the key that an error of a row names.
  private static func column(of error: any Error) -> String? {
    guard let subject = (error as? AnnouncementError)?.subject else { return nil }
    return PayloadDecoder.rowKeys.contains(subject) ? subject : nil
  }

  /// Returns the error report for a row. It contains the same text as a response to a request, and nothing about the
  /// service's folders.
  private static func reported(_ problem: Problem) -> ErrorReport {
    ErrorReport(code: problem.code, message: problem.detail)
  }
}
