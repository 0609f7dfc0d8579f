// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Foundation
import Ledger
import Logging

/// The batches of a service whose ledger is a file. Only this service works on them, one at a time.
actor FileBatches: BatchPlace {
  nonisolated let lookInterval: Duration? = nil
  nonisolated let progressInterval: Duration = .milliseconds(100)

  private let files: BatchFiles
  private let logger: Logger
  var records: [String: Batches.Record] = [:]
  /// The accounts whose lists are being written to disk, by batch id.
  private var accepting: [String: String] = [:]
  /// The id of the running batch.
  private var running: String?
  /// The id of the running batch once it is being cancelled; nil before.
  private nonisolated let stopping = Locked<String?>(nil)
  /// The locks that keep a batch's start, end and cancellation apart, because each of them waits for the disk.
  private let turns = Turns<String>()

  init(files: BatchFiles, logger: Logger) { (self.files, self.logger) = (files, logger) }

  nonisolated func isStopping(_ id: String) -> Bool { stopping.withLock { $0 == id } }

  func load() async {
    let found = await files.records()
    // A batch that was accepted while the files were being read is known already, and is skipped.
    for record in found where records[record.status.id] == nil && !accepting.keys.contains(record.status.id) {
      records[record.status.id] = record
    }
  }

  // MARK: Accepting and reading

  func admission(of account: String, _ limits: Ledger.BatchLimits) -> Ledger.BatchAdmission {
    let accounts = records.values.filter { $0.status.state == .running }.map(\.account) + accepting.values
    return limits.admission(own: accounts.count { $0 == account }, all: accounts.count)
  }

  func accept(
    _ record: Batches.Record, list: Data, _ limits: Ledger.BatchLimits
  ) async throws -> Ledger.BatchAdmission {
    let admission = admission(of: record.account, limits)
    guard admission == .accepted else { return admission }
    let id = record.status.id
    accepting[id] = record.account
    defer { accepting[id] = nil }
    do {
      try await files.store(record, list: list)
    } catch {
      await files.remove(id)
      throw error
    }
    records[id] = record
    return .accepted
  }

  func status(_ id: String, account: String) -> Batches.Status? {
    records[id].flatMap { $0.account == account ? $0.status : nil }
  }

  func statuses(account: String, limit: Int) -> [Batches.Status] {
    Array(
      records.values.filter { $0.account == account }.map(\.status)
        .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }.prefix(limit))
  }

  func result(_ id: String) async -> BatchResultReader? {
    guard let reader = await files.resultReader(id) else { return nil }
    return { try await reader.next() }
  }

  func unfinished() -> [UnfinishedBatch] {
    records.values.filter { $0.status.state == .running }
      .sorted { ($0.status.createdAt, $0.status.id) < ($1.status.createdAt, $1.status.id) }
      .map {
        UnfinishedBatch(
          id: $0.status.id, account: $0.account, starts: $0.starts ?? 0, isWaiting: $0.status.id != running)
      }
  }

  // MARK: Working

  func begin(_ id: String) async -> (any BatchWork)? {
    guard let record = await turns.take([id], { await self.start(id) }) else { return nil }
    return FileBatchWork(record, of: self, files: files)
  }

  private func start(_ id: String) async -> Batches.Record? {
    guard var record = records[id], record.status.state == .running else { return nil }
    running = id
    await noteStarts((record.starts ?? 0) + 1, of: id)
    // The result is made anew.
    record.status = Batches.Status(id: id, name: record.status.name, createdAt: record.status.createdAt)
    return record
  }

  /// Stores how often a batch was started, so that a batch that crashes the process does not crash it again and again.
  private func noteStarts(_ starts: Int, of id: String) async {
    // If the batch was cancelled meanwhile, its record on the disk says so, and must not be replaced.
    guard records[id]?.status.state == .running, !isStopping(id) else { return }
    records[id]?.starts = starts
    guard let record = records[id] else { return }
    do {
      try await files.save(record)
    } catch {
      logger.warning("The start of a batch could not be stored.", metadata: ["batch": "\(id)", "error": "\(error)"])
    }
  }

  /// Notes the progress of the running batch.
  fileprivate func tell(_ status: Batches.Status) { records[status.id]?.status = status }

  /// Ends the running batch. It waits for a cancellation that is being written, so that the cancellation counts.
  fileprivate func end(_ record: Batches.Record, _ outcome: Batches.Status, areClipsNoted: Bool) async {
    await turns.take([record.status.id]) { await self.finish(record, outcome, areClipsNoted: areClipsNoted) }
  }

  private func finish(_ record: Batches.Record, _ outcome: Batches.Status, areClipsNoted: Bool) async {
    var record = record
    record.status = outcome.ended(isCancelled: isStopping(outcome.id), at: Date())
    if areClipsNoted { record.areClipsNoted = true }
    do {
      try await files.save(record)
    } catch {
      logger.error("The result of a batch could not be saved. The service runs the batch again after a restart.")
    }
    records[outcome.id]?.areClipsNoted = record.areClipsNoted
    tell(record.status)
    running = nil
  }

  fileprivate func stop(_ id: String) async {
    await turns.take([id]) { await self.noteStarts(0, of: id) }
    running = nil
  }

  func cancel(_ id: String, account: String) async throws -> BatchCancellation {
    try await turns.take([id]) { try await self.writeCancellation(id, account: account) }
  }

  private func writeCancellation(_ id: String, account: String) async throws -> BatchCancellation {
    guard let record = records[id], record.account == account else { return .unknown }
    guard record.status.state == .running, !isStopping(id) else { return .alreadyEnded }
    var cancelled = record
    cancelled.status = record.status.ended(isCancelled: true, at: Date())
    try await files.save(cancelled)
    if running == id {
      stopping.withLock { $0 = id }
      return .stopping(cancelled.status)
    }
    tell(cancelled.status)
    return .ended(cancelled.status)
  }

  // MARK: Removing

  func ended(before moment: Date) -> [String] {
    records.values.filter { $0.status.finishedAt.map { $0 < moment } ?? false }.map(\.status.id)
  }

  func remove(_ id: String) async {
    // From here on no client finds the batch, so no client reads a result that is being removed.
    records[id] = nil
    await files.remove(id)
  }

  // MARK: Clips

  func unnotedClips(group: @Sendable (Batches.Record) -> String) async -> [UnnotedClips] {
    var all: [UnnotedClips] = []
    for record in records.values where record.areClipsNoted != true {
      let id = record.status.id
      let clips = await files.clips(inResultOf: id, group: group(record))
      all.append(UnnotedClips(id: id, account: record.account, names: clips.names, files: clips.files))
    }
    return all
  }

  func noteClips(of id: String) async {
    guard var record = records[id], record.status.state != .running else { return }
    record.areClipsNoted = true
    records[id] = record
    // If the record cannot be saved, the service reads the clips again at its next start.
    try? await files.save(record)
  }
}

/// The work on a batch whose list and result are files. The result is written as the rows end.
private final class FileBatchWork: BatchWork {
  let record: Batches.Record
  private let place: FileBatches
  private let files: BatchFiles
  private let handles = Locked<(list: FileHandle, result: FileHandle)?>(nil)

  init(_ record: Batches.Record, of place: FileBatches, files: BatchFiles) {
    (self.record, self.place, self.files) = (record, place, files)
  }

  deinit {
    guard let handles = handles.withLock({ $0 }) else { return }
    try? handles.list.close()
    try? handles.result.close()
  }

  private var id: String { record.status.id }
  var isStopping: Bool { place.isStopping(id) }
  var isLost: Bool { false }

  /// The clips are noted from the files if the service ends before it has noted them.
  func open(noteClips: @escaping @Sendable () async -> Void) throws {
    let list = try files.openList(id)
    let result = try files.makeResult(id)
    handles.withLock { $0 = (list, result) }
  }

  func piece() throws -> [UInt8] {
    [UInt8](try handles.withLock { $0 }?.list.read(upToCount: 1 << 16) ?? Data())
  }

  func hasResult(ofRow row: Int) -> Bool { false }

  func add(_ line: String, ofRow row: Int, _ status: Batches.Status) async throws {
    try handles.withLock { $0 }?.result.write(contentsOf: Data((line + "\n").utf8))
    await place.tell(status)
  }

  /// Each line is stored when it is added.
  func keepStoring() {}

  func synchronize() throws { try handles.withLock { $0 }?.result.synchronize() }

  func end(_ outcome: Batches.Status, areClipsNoted: Bool) async {
    await place.end(record, outcome, areClipsNoted: areClipsNoted)
  }

  func stop() async { await place.stop(id) }
}
