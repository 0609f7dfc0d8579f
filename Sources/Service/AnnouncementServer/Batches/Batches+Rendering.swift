// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import Logging

/// The rendering of a batch.
extension Batches {
  /// Renders a batch, unless it has ended meanwhile.
  func run(_ id: String) async {
    guard let record = await turns.take([id], { await self.begin(id) }) else { return }
    defer { running = nil }
    // The list is read, and the result written, by threads that may block. The task of a batch blocks often, so it has
    // such a thread from beginning to end.
    let outcome = await withTaskExecutorPreference(WaitingThreads.shared) { await render(record) }
    guard let outcome else { return await turns.take([id]) { await self.noteStarts(0, of: id) } }
    await turns.take([id]) { await self.finish(record, outcome) }
  }

  private func begin(_ id: String) async -> Record? {
    guard let record = records[id], record.status.state == .running else { return nil }
    running = id
    await noteStarts((record.starts ?? 0) + 1, of: id)
    return record
  }

  /// Writes how often a batch was started, so that one that ends the process does not do so again and again.
  private func noteStarts(_ starts: Int, of id: String) async {
    // A cancellation is on the disk already, and must stay there.
    guard records[id]?.status.state == .running, !isStopping(id) else { return }
    records[id]?.starts = starts
    guard let record = records[id] else { return }
    do {
      try await files.save(record)
    } catch {
      logger.warning("The start of a batch could not be recorded.", metadata: ["batch": "\(id)", "error": "\(error)"])
    }
  }

  /// Renders the rows of a batch and writes its result.
  ///
  /// - Returns: The status after the last row, with the error if there was one; nil if the service stops before that.
  ///   The batch is started again when the service starts the next time.
  @concurrent private nonisolated func render(_ record: Record) async -> Status? {
    let id = record.status.id
    var status = Status(id: id, name: record.status.name, createdAt: record.status.createdAt)
    // The rows that were read so far.
    let rows = Locked(0)
    do {
      let options = try RenderOptions(
        record.options.options, defaults: record.options.defaults, base: RenderOptions(defaultLocale: settings.locale))
      let group = group(of: record)
      let library = try clips.library(group)
      let input = try files.openList(id)
      defer { try? input.close() }
      let output = try files.makeResult(id)
      defer { try? output.close() }
      let source = BatchSource(
        format: BatchRows.Format(rawValue: record.format), unknownKeys: record.options.unknownKeys
      ) {
        [UInt8](try input.read(upToCount: 1 << 16) ?? Data())
      }
      var loggedCodes: Set<String> = []
      // A list uses at most half of the processors, so that payments do not wait behind it.
      let limit = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
      try await announcer.batch(
        { [stopping] in
          guard stopping.withLock({ $0 != id }) else { return nil }
          let row = try await source.next()
          if row != nil { rows.withLock { $0 += 1 } }
          return row
        }, options: options, into: library, limit: limit,
        permit: work.permit(record.account, for: .list { [stopping] in stopping.withLock { $0 == id } }),
        keeps: { [clips, account = record.account] report in
          // From now on, the clip remains when another account removes an announcement with the same clip.
          await clips.turns.share([report.clip.name]) {
            guard Clips.isThere(report) else { return false }
            await self.hold(
              [report.clip.name], files: [LibrarySound(report, group: group)], account: account, batch: id)
            return true
          }
        }
      ) { outcome in
        var outcome = outcome
        // The batch was cancelled before the row was started. The row counts as not read.
        if case .failure(is AccountWork.ListStopped) = outcome.result {
          rows.withLock { $0 -= 1 }
          return
        }
        // Every other row would be refused as well, so the batch ends. The list may be sent again, and the clips that
        // were made remain.
        if case .failure(let refusal as AccountWork.Refusal) = outcome.result { throw refusal }
        if case .success(var report) = outcome.result {
          report.clip.url = try urls.url(ofClip: report.clip.name, authority: record.authority)
          outcome.result = .success(report)
        }
        try output.write(contentsOf: Data((try outcome.json { Self.reported(Problem($0)) } + "\n").utf8))
        switch outcome.result {
        case .success:
          status.done += 1
          metrics.countBatchRow(isFailure: false)
        case .failure(let error):
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
        status.rows = rows.withLock { $0 }
        await tell(status)
        if (status.done + status.failed) % Self.rowsOfWrite == 0 { _ = await writeClips(of: id) }
      }
      try output.synchronize()
      status.rows = rows.withLock { $0 }
    } catch {
      if Task.isCancelled || error is CancellationError { return nil }
      let problem = Problem(error)
      status.rows = rows.withLock { $0 }
      status.error = Status.Fault(code: problem.code, message: problem.detail)
    }
    return status
  }

  /// Writes the end of a batch to disk and tells its clients. Call this in the batch's turn, so that a cancellation
  /// that is being written comes first.
  private func finish(_ record: Record, _ outcome: Status) async {
    let id = record.status.id
    var (record, status) = (record, outcome)
    if isStopping(id) {
      (status.state, status.error) = (.cancelled, nil)
    } else {
      status.state = status.error == nil ? .done : .failed
    }
    status.finishedAt = Date()
    record.status = status
    if await writeClips(of: id) { record.areClipsNoted = true }
    do {
      try await files.save(record)
    } catch {
      logger.error("The result of a batch could not be saved. The service runs the batch again after a restart.")
    }
    end(status)
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
