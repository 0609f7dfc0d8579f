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
import SoundFiles
import SoundLibrary

/// The lists of announcements that are rendered one after another. An accepted list survives a restart of the service:
/// it is on disk, and its rendering is started again. Clips that already exist are not made again.
actor Batches {
  /// The maximum number of batches that run or wait at once, for all accounts together.
  static let mostUnfinished = 16
  /// The longest time for which a batch is kept after its end, in seconds. A shorter retention time limits it, because
  /// lists and results have names and notes.
  static let longestLifetime: TimeInterval = 7 * 86_400

  let files: BatchFiles
  let announcer: Announcer
  let clips: Clips
  let urls: ClipURLs
  let settings: ServiceSettings
  let metrics: ServiceMetrics
  let work: AccountWork
  let ledger: Ledger
  let logger: Logger
  let libraryChanged: @Sendable () -> Void
  var records: [String: Record] = [:]
  /// The clips that are not in the ledger yet, by batch id.
  var held: [String: HeldClips] = [:]
  /// The ids of the batches that run or wait.
  var queue: [String] = []
  /// The batches that were running at two ends of the process in a row, and that run later.
  var setAside = SetAsideWork<String, ContinuousClock.Instant>()
  /// The id of the running batch when it is to be cancelled. No further row of its list is read then.
  let stopping = Locked<String?>(nil)
  /// The id of the running batch.
  var running: String?
  /// The accounts whose lists are being written to disk, by batch id.
  private var accepting: [String: String] = [:]
  /// The account of the batch that ran last.
  private var lastAccount: String?
  private var isLoaded = false
  /// The turns for a batch's start, end and cancellation, which each wait for the disk.
  let turns = Turns<String>()
  var watchers: [String: [Int: AsyncStream<Status>.Continuation]] = [:]
  private var nextWatcher = 0
  private var wakeUp: CheckedContinuation<Void, Never>?

  /// - Parameter libraryChanged: Called when clips were added to the library. It must return at once.
  init(
    files: BatchFiles, announcer: Announcer, clips: Clips, urls: ClipURLs, settings: ServiceSettings,
    metrics: ServiceMetrics,
    work: AccountWork, ledger: Ledger, logger: Logger, libraryChanged: @escaping @Sendable () -> Void
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
  /// - Throws: ``Problem`` with 429 if the maximum number of batches is under way; the operating system's error if the
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
    wakeUp?.resume()
    wakeUp = nil
    return record.status
  }

  /// Checks that an account may send another batch.
  ///
  /// - Throws: ``Problem`` with 429 if the maximum number of batches is under way, for the account or for all accounts.
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
        await waitForWork()
        continue
      }
      await run(id)
      if Task.isCancelled { return }
      queue.removeAll { $0 == id }
    }
  }

  /// Waits until a batch is accepted, until the time of the next one that is set aside, or until the task is cancelled.
  private func waitForWork() async {
    let alarm = setAside.nextMoment.map { moment in
      Task {
        try await Task.sleep(until: moment, clock: .continuous)
        self.wake()
      }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { continuation.resume() } else { wakeUp = continuation }
      }
    } onCancel: {
      Task { await self.wake() }
    }
    alarm?.cancel()
  }

  /// Returns the batch that has waited longest, preferring accounts other than that of the last batch. An account that
  /// sends many batches therefore does not keep the others waiting for all of them. A batch that is set aside runs when
  /// its time has come and no other waits, or when others have waited for ten minutes since.
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

  private func wake() {
    wakeUp?.resume()
    wakeUp = nil
  }

  /// Loads the batches that an earlier run of the service left, and removes files that it did not finish writing.
  func load() async {
    guard !isLoaded else { return }
    isLoaded = true
    let found = await files.records()
    // A batch that was accepted while the files were read is known already.
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
        // From here on no client finds the batch, so none reads a result that is being removed.
        (records[id], held[id]) = (nil, nil)
        await files.remove(id)
      } catch {
        logger.warning(
          "An old batch could not be removed. The service tries again in an hour.",
          metadata: ["batch": "\(id)", "error": "\(error)"])
      }
    }
  }

  func tell(_ status: Status) {
    records[status.id]?.status = status
    for watcher in (watchers[status.id] ?? [:]).values { watcher.yield(status) }
  }
}
