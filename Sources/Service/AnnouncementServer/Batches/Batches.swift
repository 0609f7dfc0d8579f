// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import Logging
import ServiceAccess
import ServiceLifecycle

/// The lists of announcements that are rendered one after another. An accepted list survives a restart of the service:
/// it is stored, and its rendering is started again. Clips that already exist are not made again.
actor Batches {
  /// The maximum number of batches that run or wait at once, for all accounts together.
  static let mostUnfinished = 16
  /// The longest time for which a batch is kept after its end, in seconds. A shorter retention time takes precedence,
  /// because lists and results contain names and notes.
  static let longestLifetime: TimeInterval = 7 * 86_400

  nonisolated let place: any BatchPlace
  nonisolated let heldClips: HeldClips
  let announcer: Announcer
  let clips: Clips
  let urls: ClipURLs
  let settings: ServiceSettings
  let metrics: ServiceMetrics
  let work: AccountWork
  let logger: Logger
  private let ledger: any Ledger.BatchStore
  private let failures: RepeatedFailureLog
  /// The batches that were interrupted by two crashes in a row. They run later than the others.
  private(set) var setAside = SetAsideWork<String, ContinuousClock.Instant>()
  /// The number of starts for which each unfinished batch was set aside, so that each crash sets it aside once.
  private var startsSetAside: [String: Int] = [:]
  /// The account of the batch that ran last.
  private var lastAccount: String?
  private var isLoaded = false
  /// Wakes the task that renders batches.
  private let signal = WorkSignal()

  /// - Parameter libraryChanged: Called when clips were added to the library. It must return at once.
  init(
    place: any BatchPlace, announcer: Announcer, clips: Clips, urls: ClipURLs, settings: ServiceSettings,
    metrics: ServiceMetrics,
    work: AccountWork, ledger: any Ledger.BatchStore, logger: Logger, libraryChanged: @escaping @Sendable () -> Void
  ) {
    self.place = place
    self.announcer = announcer
    self.clips = clips
    self.urls = urls
    self.settings = settings
    self.metrics = metrics
    self.work = work
    self.ledger = ledger
    self.logger = logger
    heldClips = HeldClips(ledger, logger: logger, libraryChanged: libraryChanged)
    failures = RepeatedFailureLog("The batches could not be read. The service tries again.", logger)
  }

  // MARK: Accepting and watching

  private var limits: Ledger.BatchLimits {
    Ledger.BatchLimits(ofAccount: settings.work.batches, ofAll: Self.mostUnfinished)
  }

  /// Accepts a list. When this function returns, the list is durable.
  ///
  /// - Throws: ``Problem`` with 429 if the maximum number of batches runs or waits; the error of the operating system or
  ///   of the ledger if the list cannot be stored.
  func accept(
    _ list: Data, named name: String? = nil, format: BatchRows.Format, account: String, authority: String?,
    requested: Requested
  ) async throws -> Status {
    let id = UUID().uuidString.lowercased()
    let record = Record(
      account: account, authority: authority, format: format.rawValue, options: requested,
      status: Status(id: id, name: name, createdAt: Date()))
    try require(try await place.accept(record, list: list, limits))
    signal.wake()
    return record.status
  }

  /// Checks that an account may send another batch.
  ///
  /// - Throws: ``Problem`` with 429 if the maximum number of batches runs or waits, for the account or for all accounts
  ///   together; the error of the ledger.
  func checkCapacity(for account: String) async throws { try require(try await place.admission(of: account, limits)) }

  private func require(_ admission: Ledger.BatchAdmission) throws(Problem) {
    switch admission {
    case .accepted: return
    case .accountBusy:
      throw .accountBusy(
        "The account has reached its limit of unfinished batches, which is \(settings.work.batches)", retryAfter: 30)
    case .busy:
      throw Problem(
        .tooManyRequests, "busy",
        "The service has reached its limit of unfinished batches. Try again when one has ended.",
        retryAfter: 30)
    }
  }

  func status(_ id: String, account: String) async throws -> Status? {
    try await place.status(id, account: account)
  }

  /// Returns the status of an account's batches, newest first.
  func statuses(account: String, limit: Int) async throws -> [Status] {
    try await place.statuses(account: account, limit: limit)
  }

  /// Returns a stream of a batch's status that starts with the present status and ends with the batch. A slow reader
  /// receives only the newest status.
  nonisolated func progress(_ id: String, account: String) -> AsyncStream<Status> {
    let (stream, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(1))
    let looking = Task { [place] in
      var last: Status?
      while !Task.isCancelled {
        // While the ledger cannot be read, the reader waits.
        let status: Status?
        do { status = try await place.status(id, account: account) } catch { status = last }
        guard let status else { break }
        if status != last { continuation.yield(status) }
        last = status
        guard status.state == .running else { break }
        try? await Task.sleep(for: place.progressInterval)
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in looking.cancel() }
    return stream
  }

  // MARK: Rendering

  /// Loads the batches that an earlier run of the service left, and renders batches until the task is cancelled.
  func work() async {
    await load()
    while !Task.isCancelled {
      if let work = await next() {
        await run(work)
      } else {
        let rest = setAside.nextMoment.map { ContinuousClock.now.duration(to: $0) }
        await signal.wait(atMost: [rest, place.lookInterval].compactMap(\.self).min())
      }
    }
  }

  /// Begins the next batch that nobody works on.
  private func next() async -> (any BatchWork)? {
    var waiting: [UnfinishedBatch]
    do { waiting = try await look() } catch {
      failures.tell(error)
      return nil
    }
    while let batch = choose(among: waiting) {
      do {
        if let work = try await place.begin(batch.id) { return work }
      } catch {
        failures.tell(error)
      }
      waiting.removeAll { $0.id == batch.id }
    }
    return nil
  }

  /// Returns the batches that nobody works on, and sets those aside that two crashes in a row have interrupted.
  private func look() async throws -> [UnfinishedBatch] {
    let unfinished = try await place.unfinished()
    let waiting = unfinished.filter(\.isWaiting)
    let ids = Set(waiting.map(\.id))
    _ = setAside.remove { !ids.contains($0) }
    startsSetAside = startsSetAside.filter { id, _ in unfinished.contains { $0.id == id } }
    let count = setAside.count
    for batch in waiting where startsSetAside[batch.id] != batch.starts {
      guard let pause = InterruptedWork.pause(afterStarts: batch.starts) else { continue }
      _ = setAside.remove { $0 == batch.id }
      setAside.add(batch.id, until: .now + .seconds(pause))
      startsSetAside[batch.id] = batch.starts
    }
    if setAside.count > count { logger.logSetAside(setAside.count, "batches") }
    return waiting
  }

  /// Returns the batch that has waited longest. A batch of another account than the last batch's is preferred, so that
  /// an account with many batches does not make the other accounts wait for all of them. A batch that is set aside runs
  /// when its time has come and no other batch waits, but at the latest ten minutes after that time.
  private func choose(among waiting: [UnfinishedBatch]) -> UnfinishedBatch? {
    let later = Set(setAside.all)
    let ready = waiting.filter { !later.contains($0.id) }
    let latest: ContinuousClock.Instant = ready.isEmpty ? .now : .now - .seconds(InterruptedWork.longestDelay)
    if let id = setAside.next(at: latest), let batch = waiting.first(where: { $0.id == id }) { return batch }
    let batch = ready.first { $0.account != lastAccount } ?? ready.first
    lastAccount = batch?.account ?? lastAccount
    return batch
  }

  /// Loads the batches that an earlier run of the service left.
  func load() async {
    guard !isLoaded else { return }
    isLoaded = true
    await place.load()
    do { _ = try await look() } catch { failures.tell(error) }
    for batch in await place.unnotedClips(group: { self.group(of: $0) }) {
      await heldClips.hold(batch.names, files: batch.files, account: batch.account, batch: batch.id)
      await settleClips(of: batch.id)
    }
  }

  /// Renders a batch.
  private func run(_ work: any BatchWork) async {
    // The list is read, and the result written, by threads that may block. The task of a batch blocks often, so it has
    // such a thread from beginning to end.
    let outcome = await withTaskExecutorPreference(WaitingThreads.shared) { await render(work) }
    let id = work.record.status.id
    guard let outcome else {
      // The next holder of the batch makes the rows whose results are not stored, and notes their clips.
      if work.isLost { await heldClips.forget(batch: id) }
      return await work.stop()
    }
    await work.end(outcome, areClipsNoted: await heldClips.write(of: id))
  }

  /// Cancels a batch. A waiting batch is not started. A running batch starts no further row. Clips that were made
  /// remain, because other announcements may use them, and because their rows are in the result.
  ///
  /// The cancellation is durable before anything is stopped, so that no restart begins the batch again.
  ///
  /// - Returns: The final status of the batch, with the work done until then; nil if the account has no batch with this
  ///   id.
  /// - Throws: ``Problem`` with 409 `already_ended`; the error of the operating system or of the ledger if the
  ///   cancellation cannot be stored. In both cases nothing is cancelled.
  func cancel(_ id: String, account: String) async throws -> Status? {
    switch try await place.cancel(id, account: account) {
    case .unknown: return nil
    case .alreadyEnded:
      throw Problem(
        .conflict, "already_ended", "The batch has already ended or was cancelled, so it cannot be cancelled.")
    case .ended(let status):
      _ = setAside.remove { $0 == id }
      return status
    case .stopping(let cancelled):
      // The rows that are being rendered finish first. If the service stops during this wait, the cancellation is
      // already stored.
      var last = cancelled
      for await status in progress(id, account: account).cancelOnGracefulShutdown() where status.state != .running {
        last = status
      }
      return last
    }
  }

  // MARK: Clips and old batches

  /// The ids of the unfinished batches, with their clips that the ledger may not know yet.
  ///
  /// - Throws: The error of the ledger.
  var unfinished: (ids: [String], clips: Set<String>) {
    get async throws {
      let ids = try await place.unfinished().map(\.id)
      return (ids, await heldClips.names(ofBatches: ids))
    }
  }

  /// Returns the app group in whose folder the clips of a batch are.
  nonisolated func group(of record: Record) -> String {
    record.options.group ?? record.options.defaultGroup ?? settings.group
  }

  /// Writes the held clips of a batch to the ledger. On success, notes that the ledger has the clips of the batch, if the
  /// batch has ended.
  private func settleClips(of id: String) async {
    if await heldClips.write(of: id) { await place.noteClips(of: id) }
  }

  /// The time for which a batch is kept after its end, in seconds.
  private var lifetime: TimeInterval { min(Self.longestLifetime, settings.retention) }

  /// Removes batches that ended more than ``lifetime`` ago.
  func prune() async {
    for id in await heldClips.batches { await settleClips(of: id) }
    do {
      for id in try await place.ended(before: Date(timeIntervalSinceNow: -lifetime)) {
        try await ledger.forgetClips(ofBatch: id)
        await heldClips.forget(batch: id)
        try await place.remove(id)
      }
    } catch {
      logger.warning(
        "An old batch could not be removed. The service tries again in an hour.",
        metadata: ["error": "\(Problem.loggable(error))"])
    }
  }
}
