// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import FileSystem
import Foundation
import HTTPTypes
import Ledger
import Logging
import ServiceAccess
import ServiceLifecycle
import SoundFiles
import SoundLibrary

// This file is not split, because the actor's state is private to the file, so that only the actor's methods can change
// it.

/// The lists of announcements that are rendered one after another. An accepted list survives a restart of the service:
/// it is on disk, and its rendering is started again. Clips that already exist are not made again.
actor Batches {
  /// The maximum number of batches that run or wait at once, for all accounts together.
  static let mostUnfinished = 16
  /// The longest time for which a batch is kept after its end, in seconds. A shorter retention time takes precedence,
  /// because lists and results contain names and notes.
  static let longestLifetime: TimeInterval = 7 * 86_400

  let files: BatchFiles
  private let announcer: Announcer
  private let clips: Clips
  private let urls: ClipURLs
  private let settings: ServiceSettings
  private let metrics: ServiceMetrics
  private let work: AccountWork
  private let ledger: any Ledger.BatchStore
  private let logger: Logger
  private let libraryChanged: @Sendable () -> Void
  var records: [String: Record] = [:]
  /// The clips that are not in the ledger yet, by batch id.
  private var held: [String: HeldClips] = [:]
  /// The ids of the batches that run or wait.
  private var queue: [String] = []
  /// The batches that were interrupted by two crashes in a row. They run later than the others.
  private(set) var setAside = SetAsideWork<String, ContinuousClock.Instant>()
  /// The id of the running batch once it is being cancelled; nil before. While the id is set, no further row of the
  /// batch's list is read.
  private let stopping = Locked<String?>(nil)
  /// The id of the running batch.
  private var running: String?
  /// The accounts whose lists are being written to disk, by batch id.
  private var accepting: [String: String] = [:]
  /// The account of the batch that ran last.
  private var lastAccount: String?
  private var isLoaded = false
  /// The locks that keep a batch's start, end and cancellation apart, because each of them waits for the disk.
  private let turns = Turns<String>()
  private var watchers: [String: [Int: AsyncStream<Status>.Continuation]] = [:]
  private var nextWatcher = 0
  /// Wakes the task that renders batches.
  private let signal = WorkSignal()

  /// - Parameter libraryChanged: Called when clips were added to the library. It must return at once.
  init(
    files: BatchFiles, announcer: Announcer, clips: Clips, urls: ClipURLs, settings: ServiceSettings,
    metrics: ServiceMetrics,
    work: AccountWork, ledger: any Ledger.BatchStore, logger: Logger, libraryChanged: @escaping @Sendable () -> Void
  ) {
    self.files = files
    self.announcer = announcer
    self.clips = clips
    self.urls = urls
    self.settings = settings
    self.metrics = metrics
    self.work = work
    self.ledger = ledger
    self.logger = logger
    self.libraryChanged = libraryChanged
  }

  // MARK: Accepting and watching

  /// Accepts a list. When this function returns, the list is on disk.
  ///
  /// - Throws: ``Problem`` with 429 if the maximum number of batches runs or waits; the operating system's error if the
  ///   list cannot be written.
  func accept(
    _ list: Data, named name: String? = nil, format: BatchRows.Format, account: String, authority: String?,
    requested: Requested
  ) async throws -> Status {
    try checkCapacity(for: account)
    let id = UUID().uuidString.lowercased()
    accepting[id] = account
    defer { accepting[id] = nil }
    let record = Record(
      account: account, authority: authority, format: format.rawValue, options: requested,
      status: Status(id: id, name: name, createdAt: Date()))
    do {
      try await files.store(record, list: list)
    } catch {
      await files.remove(id)
      throw error
    }
    records[id] = record
    queue.append(id)
    signal.wake()
    return record.status
  }

  /// Checks that an account may send another batch.
  ///
  /// - Throws: ``Problem`` with 429 if the maximum number of batches runs or waits, for the account or for all accounts
  ///   together.
  func checkCapacity(for account: String) throws(Problem) {
    let unfinished = records.values.filter { $0.status.state == .running }
    let own = unfinished.count { $0.account == account } + accepting.values.count { $0 == account }
    guard own < settings.work.batches else {
      throw .accountBusy(
        "The account has reached its limit of unfinished batches, which is \(settings.work.batches)", retryAfter: 30)
    }
    guard unfinished.count + accepting.count < Self.mostUnfinished else {
      throw Problem(
        .tooManyRequests, "busy",
        "The service has reached its limit of unfinished batches. Try again when one has ended.",
        retryAfter: 30)
    }
  }

  func status(_ id: String, account: String) -> Status? {
    records[id].flatMap { $0.account == account ? $0.status : nil }
  }

  /// Returns the status of an account's batches, newest first.
  func statuses(account: String) -> [Status] {
    records.values.filter { $0.account == account }.map(\.status)
      .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
  }

  /// Returns a stream of a batch's status that starts with the present status and ends with the batch. A slow reader
  /// receives only the newest status.
  func progress(_ id: String) -> AsyncStream<Status> {
    let (stream, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(1))
    guard let status = records[id]?.status else {
      continuation.finish()
      return stream
    }
    continuation.yield(status)
    guard status.state == .running else {
      continuation.finish()
      return stream
    }
    nextWatcher += 1
    let key = nextWatcher
    watchers[id, default: [:]][key] = continuation
    continuation.onTermination = { _ in Task { await self.forget(watcher: key, of: id) } }
    return stream
  }

  private func forget(watcher: Int, of id: String) { watchers[id]?[watcher] = nil }

  // MARK: Rendering

  /// Loads the batches that an earlier run of the service left, and renders batches until the task is cancelled.
  func work() async {
    await load()
    while !Task.isCancelled {
      guard let id = next() else {
        await signal.wait(atMost: setAside.nextMoment.map { ContinuousClock.now.duration(to: $0) })
        continue
      }
      await run(id)
      if Task.isCancelled { return }
      queue.removeAll { $0 == id }
    }
  }

  /// Returns the batch that has waited longest. A batch of another account than the last batch's is preferred, so that
  /// an account with many batches does not make the other accounts wait for all of them. A batch that is set aside runs
  /// when its time has come and no other batch waits, but at the latest ten minutes after that time.
  private func next() -> String? {
    let latest: ContinuousClock.Instant = queue.isEmpty ? .now : .now - .seconds(InterruptedWork.longestDelay)
    if let id = setAside.next(at: latest) {
      queue.insert(id, at: 0)
      return id
    }
    let id = queue.first { records[$0]?.account != lastAccount } ?? queue.first
    lastAccount = id.flatMap { records[$0]?.account }
    return id
  }

  /// Loads the batches that an earlier run of the service left, and removes files that the earlier run did not finish
  /// writing.
  func load() async {
    guard !isLoaded else { return }
    isLoaded = true
    let found = await files.records()
    // A batch that was accepted while the files were being read is known already, and is skipped.
    for record in found.sorted(by: { $0.status.createdAt < $1.status.createdAt })
    where records[record.status.id] == nil && !accepting.keys.contains(record.status.id) {
      records[record.status.id] = record
      guard record.status.state == .running else { continue }
      if let pause = InterruptedWork.pause(afterStarts: record.starts ?? 0) {
        setAside.add(record.status.id, until: .now + .seconds(pause))
      } else {
        queue.append(record.status.id)
      }
    }
    if setAside.count > 0 { logger.logSetAside(setAside.count, "batches") }
    await noteEarlierClips()
  }

  /// The time for which a batch is kept after its end, in seconds.
  private var lifetime: TimeInterval { min(Self.longestLifetime, settings.retention) }

  /// Removes batches that ended more than ``lifetime`` ago.
  func prune() async {
    for id in held.keys { await settleClips(of: id) }
    let moment = Date(timeIntervalSinceNow: -lifetime)
    for (id, record) in records {
      guard let end = record.status.finishedAt, end < moment else { continue }
      do {
        try await ledger.forgetClips(ofBatch: id)
        // From here on no client finds the batch, so no client reads a result that is being removed.
        (records[id], held[id]) = (nil, nil)
        await files.remove(id)
      } catch {
        logger.warning(
          "An old batch could not be removed. The service tries again in an hour.",
          metadata: ["batch": "\(id)", "error": "\(error)"])
      }
    }
  }

  private func tell(_ status: Status) {
    records[status.id]?.status = status
    for watcher in (watchers[status.id] ?? [:]).values { watcher.yield(status) }
  }
}

/// The rendering of a batch.
extension Batches {
  /// Renders a batch, unless it ended before its turn came.
  private func run(_ id: String) async {
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

  /// Renders the rows of a batch and writes its result.
  ///
  /// - Returns: The status after the last row, with the error if there was one; nil if the service stops before that.
  ///   In this case, the batch is started again at the next start of the service.
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
      status.rows = rows.withLock { $0 }
      status.error = Self.reported(Problem(error))
    }
    return status
  }

  /// Writes the end of a batch to disk and tells its clients. Call this while holding the batch's lock, so that a
  /// cancellation that is being written comes first.
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

extension Batches {
  /// Cancels a batch. A waiting batch is not started. A running batch starts no further row. Clips that were made
  /// remain, because other announcements may use them, and because their rows are in the result.
  ///
  /// The cancellation is on disk before anything is stopped, so that no restart begins the batch again.
  ///
  /// - Returns: The final status of the batch, with the work done until then; nil if the account has no batch with this
  ///   id.
  /// - Throws: ``Problem`` with 409 `already_ended`; the operating system's error if the cancellation cannot be
  ///   written. In both cases nothing is cancelled.
  func cancel(_ id: String, account: String) async throws -> Status? {
    guard let cancelled = try await turns.take([id], { try await self.writeCancellation(id, account: account) }) else {
      return nil
    }
    // The rows that are being rendered finish first. If the service stops during this wait, the batch is already
    // cancelled on disk.
    for await _ in progress(id).cancelOnGracefulShutdown() {}
    guard let status = records[id]?.status, status.state != .running else { return cancelled }
    return status
  }

  /// Writes a cancellation to disk. Then ends the batch if it is waiting, or stops the reading of its list if it is
  /// running. Call this while holding the batch's lock: the batch must neither start nor end while the cancellation is
  /// written.
  private func writeCancellation(_ id: String, account: String) async throws -> Status? {
    guard var record = records[id], record.account == account else { return nil }
    guard record.status.state == .running, !isStopping(id) else { throw Self.ended }
    record.status.state = .cancelled
    record.status.finishedAt = Date()
    try await files.save(record)
    if running == id {
      stopping.withLock { $0 = id }
    } else {
      queue.removeAll { $0 == id }
      _ = setAside.remove { $0 == id }
      end(record.status)
    }
    return record.status
  }

  func isStopping(_ id: String) -> Bool { stopping.withLock { $0 == id } }

  /// Publishes the final status of a batch and ends its streams.
  private func end(_ status: Status) {
    tell(status)
    for watcher in (watchers.removeValue(forKey: status.id) ?? [:]).values { watcher.finish() }
  }

  private static let ended = Problem(
    .conflict, "already_ended", "The batch has already ended or was cancelled, so it cannot be cancelled.")
}

/// The clips in the results of batches. Such a clip remains when another account removes an announcement with the same
/// clip. The names are held in memory first, because a disk write for each row would slow down a list whose clips
/// already exist.
extension Batches {
  /// The clips of a result that are not in the ledger yet.
  private struct HeldClips: Sendable {
    var account: String
    var names: Set<String> = []
    /// The known files of the clips, by the names of the clips.
    var files: [String: LibrarySound] = [:]
  }

  /// The number of rows whose clips are written to the ledger at once.
  private static let rowsOfWrite = 500

  /// Returns whether a result of another account contains the clip, and the ledger does not know this yet.
  func holds(_ name: String, forOthersThan account: String) -> Bool {
    held.values.contains { $0.account != account && $0.names.contains(name) }
  }

  /// The ids of the unfinished batches, with their clips that the ledger may not know yet.
  var unfinished: (ids: [String], clips: Set<String>) {
    let ids = records.values.filter { $0.status.state == .running }.map(\.status.id)
    return (ids, ids.reduce(into: []) { $0.formUnion(held[$1]?.names ?? []) })
  }

  func hold(_ names: Set<String>, files: [LibrarySound] = [], account: String, batch id: String) {
    held[id, default: HeldClips(account: account)].names.formUnion(names)
    for file in files { held[id]?.files[file.name] = file }
  }

  /// Returns the app group in whose folder the clips of a batch are.
  private nonisolated func group(of record: Record) -> String {
    record.options.group ?? record.options.defaultGroup ?? settings.group
  }

  /// Writes the held clips of a batch to the ledger. Clips that cannot be written remain held.
  ///
  /// - Returns: Whether the ledger has all clips of the batch.
  func writeClips(of id: String) async -> Bool {
    guard let clips = held[id] else { return true }
    var names = clips.names.sorted()[...]
    while !names.isEmpty {
      let some = names.prefix(Self.rowsOfWrite)
      do {
        try await ledger.note(
          clips: Array(some), ofBatch: id, account: clips.account, files: some.compactMap { clips.files[$0] })
      } catch {
        logger.warning(
          "The clips of a batch could not be entered in the ledger. The service tries again.",
          metadata: ["batch": "\(id)", "error": "\(error)"])
        return false
      }
      held[id]?.names.subtract(some)
      for name in some { held[id]?.files[name] = nil }
      names.removeFirst(some.count)
      libraryChanged()
    }
    if held[id]?.names.isEmpty == true { held[id] = nil }
    return held[id] == nil
  }

  /// Writes the held clips of a finished batch to the ledger. On success, notes in the batch's record that the ledger
  /// has them.
  private func settleClips(of id: String) async {
    guard await writeClips(of: id), var record = records[id], record.status.state != .running else { return }
    record.areClipsNoted = true
    records[id] = record
    // If the record cannot be saved, the service reads the clips again at its next start.
    try? await files.save(record)
  }

  /// Reads the results whose clips are not in the ledger: results of earlier versions, and results of a service that
  /// ended before it wrote the clips to the ledger.
  private func noteEarlierClips() async {
    let earlier = records.values.filter { $0.areClipsNoted != true }
    for record in earlier {
      let clips = await files.clips(inResultOf: record.status.id, group: group(of: record))
      hold(clips.names, files: clips.files, account: record.account, batch: record.status.id)
      await settleClips(of: record.status.id)
    }
  }
}
