// SPDX-License-Identifier: Apache-2.0

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

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The lists of announcements that are rendered one after another. An accepted list survives a restart of the service:
/// it is on disk, and its rendering is started again. Clips that already exist are not made again.
actor Batches {
  /// The maximum number of batches that run or wait at once, for all accounts together.
  static let mostUnfinished = 16
  /// The time for which a batch is kept after its end, in seconds.
  static let lifetime: TimeInterval = 7 * 86_400

  private let folder: URL
  private let announcer: Announcer
  private let clips: Clips
  private let urls: ClipURLs
  private let settings: ServiceSettings
  private let metrics: ServiceMetrics
  private let work: AccountWork
  let ledger: Ledger
  let logger: Logger
  var records: [String: Record] = [:]
  /// The clips that are not in the ledger yet, by batch id.
  var held: [String: HeldClips] = [:]
  /// The ids of the batches that run or wait.
  var queue: [String] = []
  /// The id of the running batch when it is to be cancelled. No further row of its list is read then.
  let stopping = Locked<String?>(nil)
  /// The id of the running batch.
  var running: String?
  /// The accounts whose lists are being written to disk.
  private var accepting: [String] = []
  /// The account of the batch that ran last.
  private var lastAccount: String?
  private var isLoaded = false
  private let disk = DispatchQueue(label: "crier.service.batches")
  var watchers: [String: [Int: AsyncStream<Status>.Continuation]] = [:]
  private var nextWatcher = 0
  private var wakeUp: CheckedContinuation<Void, Never>?

  init(
    folder: URL, announcer: Announcer, clips: Clips, urls: ClipURLs, settings: ServiceSettings, metrics: ServiceMetrics,
    work: AccountWork, ledger: Ledger, logger: Logger
  ) {
    self.folder = folder
    self.announcer = announcer
    self.clips = clips
    self.urls = urls
    self.settings = settings
    self.metrics = metrics
    self.work = work
    self.ledger = ledger
    self.logger = logger
  }

  // MARK: Accepting and watching

  /// Accepts a list. When this function returns, the list is on disk.
  ///
  /// - Throws: ``Problem`` with 429 if the maximum number of batches is under way; the operating system's error if the
  ///   list cannot be written.
  func accept(
    _ list: Data, format: BatchRows.Format, account: String, authority: String?, requested: Requested
  ) async throws -> Status {
    try checkCapacity(for: account)
    accepting.append(account)
    defer { accepting.firstIndex(of: account).map { _ = accepting.remove(at: $0) } }
    let id = UUID().uuidString.lowercased()
    let record = Record(
      account: account, authority: authority, format: format.rawValue, options: requested,
      status: Status(id: id, createdAt: Date()))
    let (folder, listFile, recordFile) = (folder, self.list(id), recordFile(id))
    let written: Result<Void, any Error> = await waitForAnswer { answer in
      disk.async {
        answer.give(
          Result {
            try DurableFolder.make(folder, .ownerOnly)
            try DurableFile.write(list, to: listFile)
            try DurableFile.write(try JSONEncoder().encode(record), to: recordFile)
          })
      }
    }
    do {
      try written.get()
    } catch {
      remove(id)
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
    let own = queue.count { records[$0]?.account == account } + accepting.count { $0 == account }
    guard own < settings.work.batches else {
      throw .accountBusy(
        "The account has reached its limit of unfinished batches, which is \(settings.work.batches)", retryAfter: 30)
    }
    guard queue.count + accepting.count < Self.mostUnfinished else {
      throw Problem(
        .tooManyRequests, "busy",
        "The service has reached its limit of unfinished batches. Try again when one has ended.",
        retryAfter: 30)
    }
  }

  func status(_ id: String, account: String) -> Status? {
    records[id].flatMap { $0.account == account ? $0.status : nil }
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

  func result(_ id: String) -> URL { folder.appending(path: "\(id).result.jsonl") }

  private func list(_ id: String) -> URL { folder.appending(path: "\(id).list") }
  private func recordFile(_ id: String) -> URL { folder.appending(path: "\(id).json") }

  func save(_ record: Record) throws {
    try DurableFile.write(try JSONEncoder().encode(record), to: recordFile(record.status.id))
  }

  private func remove(_ id: String) {
    for file in [list(id), recordFile(id), result(id)] { try? FileManager.default.removeItem(at: file) }
    (records[id], held[id]) = (nil, nil)
  }

  // MARK: Rendering

  /// Loads the batches that an earlier run of the service left, and renders batches until the task is cancelled.
  func work() async {
    await load()
    while !Task.isCancelled {
      guard let id = next() else {
        await withTaskCancellationHandler {
          await withCheckedContinuation { continuation in
            if Task.isCancelled { continuation.resume() } else { wakeUp = continuation }
          }
        } onCancel: {
          Task { await self.wake() }
        }
        continue
      }
      await run(id)
      if Task.isCancelled { return }
      queue.removeAll { $0 == id }
    }
  }

  /// Returns the batch that has waited longest, preferring accounts other than that of the last batch. An account that
  /// sends many batches therefore does not keep the others waiting for all of them.
  private func next() -> String? {
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
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    var found: [Record] = []
    for name in names where name.hasSuffix(".json") {
      guard let data = try? Data(contentsOf: folder.appending(path: name)),
        let record = try? JSONDecoder().decode(Record.self, from: data), "\(record.status.id).json" == name,
        records[record.status.id] == nil
      else { continue }
      found.append(record)
    }
    let known = Set(names.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) })
    for name in names
    where name.hasSuffix(".new") || name.hasSuffix(".list") && !known.contains(String(name.dropLast(".list".count))) {
      try? FileManager.default.removeItem(at: folder.appending(path: name))
    }
    for record in found.sorted(by: { $0.status.createdAt < $1.status.createdAt }) {
      records[record.status.id] = record
      if record.status.state == .running { queue.append(record.status.id) }
    }
    await noteEarlierClips()
  }

  /// Removes batches that ended more than ``lifetime`` ago.
  func prune() async {
    for id in held.keys { await settleClips(of: id) }
    let moment = Date(timeIntervalSinceNow: -Self.lifetime)
    for (id, record) in records {
      guard let end = record.status.finishedAt, end < moment else { continue }
      do {
        try await ledger.forgetClips(ofBatch: id)
        remove(id)
      } catch {
        logger.warning(
          "An old batch could not be removed. The service tries again in an hour.",
          metadata: ["batch": "\(id)", "error": "\(error)"])
      }
    }
  }

  private func run(_ id: String) async {
    guard var record = records[id], record.status.state == .running else { return }
    running = id
    defer { running = nil }
    var status = Status(id: id, createdAt: record.status.createdAt)
    do {
      let options = try RenderOptions(
        record.options.options, defaults: record.options.defaults, base: RenderOptions(defaultLocale: settings.locale))
      let library = try clips.library(record.options.group ?? record.options.defaultGroup ?? settings.group)
      let input = try FileHandle(forReadingFrom: list(id))
      defer { try? input.close() }
      try DurableFile.write(Data(), to: result(id))
      let output = try FileHandle(forWritingTo: result(id))
      defer { try? output.close() }
      let source = BatchSource(
        format: BatchRows.Format(rawValue: record.format), unknownKeys: record.options.unknownKeys
      ) {
        [UInt8](try input.read(upToCount: 1 << 16) ?? Data())
      }
      let rows = Locked(0)
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
          await clips.turns.share(report.clip.name) {
            guard Clips.isThere(report) else { return false }
            await self.hold([report.clip.name], account: account, batch: id)
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
        tell(status)
        if (status.done + status.failed) % Self.rowsOfWrite == 0 { _ = await writeClips(of: id) }
      }
      try output.synchronize()
      status.rows = rows.withLock { $0 }
      status.state = isStopping(id) ? .cancelled : .done
    } catch {
      // The batch is started again when the service starts the next time.
      if Task.isCancelled || error is CancellationError { return }
      let problem = Problem(error)
      status.state = isStopping(id) ? .cancelled : .failed
      if status.state == .failed { status.error = Status.Fault(code: problem.code, message: problem.detail) }
    }
    status.finishedAt = Date()
    record.status = status
    if await writeClips(of: id) { record.areClipsNoted = true }
    do {
      try save(record)
    } catch {
      logger.error("The result of a batch could not be saved. The service runs the batch again after a restart.")
    }
    end(status)
  }

  /// Returns the error report for a row. It contains the same text as a response to a request, and nothing about the
  /// service's folders.
  private static func reported(_ problem: Problem) -> ErrorReport {
    ErrorReport(code: problem.code, message: problem.detail)
  }

  func tell(_ status: Status) {
    records[status.id]?.status = status
    for watcher in (watchers[status.id] ?? [:]).values { watcher.yield(status) }
  }
}
