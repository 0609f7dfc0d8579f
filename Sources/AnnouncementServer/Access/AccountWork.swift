// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import FileSystem
import Foundation
import HTTPTypes
import ServiceAccess

/// The new clips that each account has had made, and whether it may have more.
///
/// What counts for a day is kept over a restart: a service that is started anew gives nobody a new day. It is written once
/// a minute and at the end, so that a crash forgets a minute at most.
final class AccountWork: Sendable {
  /// An account may not have a new clip made.
  struct Refusal: Error, Sendable, Hashable {
    var account: String
    var shortage: AccountBudget.Shortage
  }

  /// The list of a row that waits is taken back: the row is not begun.
  struct ListStopped: Error {}

  /// What new clips are for.
  enum Purpose: Sendable {
    case announcement
    /// Rows of a list. They wait while enough clips of the account are being made, until the list is taken back.
    case list(isStopping: @Sendable () -> Bool)
  }

  /// How it is kept.
  private struct Stored: Codable {
    var at: Date
    var accounts: [String: AccountBudget.Use]
  }

  /// Between two looks of a batch whose account has enough clips under way.
  private static let patience: Duration = .milliseconds(200)

  private let limits: WorkLimits
  private let file: URL
  private let time: @Sendable () -> Duration
  private let budgets: Locked<[String: AccountBudget]>
  private let waitingRows = Locked(0)

  /// How many rows of lists wait, since enough clips of their account are being made.
  var waiting: Int { waitingRows.withLock { $0 } }

  /// - Parameters:
  ///   - file: where it is kept; one that is not there or cannot be read counts as nothing.
  ///   - now: the time by the calendar, for what another service kept.
  ///   - time: since a moment of its own; never runs backwards.
  init(limits: WorkLimits, file: URL, now: Date = Date(), time: @escaping @Sendable () -> Duration) {
    self.limits = limits
    self.file = file
    self.time = time
    let stored = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Stored.self, from: $0) }
    // A clock that was set back makes nothing worse than it was.
    let age = max(0, stored.map { now.timeIntervalSince($0.at) } ?? 0)
    let moment = time() - .seconds(min(age, 1e9))
    budgets = Locked((stored?.accounts ?? [:]).mapValues { AccountBudget(limits, used: $0, at: moment) })
  }

  convenience init(limits: WorkLimits, file: URL) {
    let origin = ContinuousClock.now
    self.init(limits: limits, file: file) { ContinuousClock.now - origin }
  }

  /// A permit for an account's new clips.
  ///
  /// Its `begin` throws ``Refusal`` and, for a list, ``ListStopped``.
  func permit(_ account: String, for purpose: Purpose = .announcement) -> NewClipPermit {
    NewClipPermit { [self] in
      switch purpose {
      case .announcement:
        if let shortage = begin(account, .announcement) { throw Refusal(account: account, shortage: shortage) }
      case .list(let isStopping): try await beginRow(account, isStopping)
      }
    } end: { [self] ending in
      let now = time()
      let bytes: Int? =
        switch ending {
        case .made(let bytes): bytes
        case .contentFailed: 0
        case .serviceFailed: nil
        }
      budgets.withLock { $0[account]?.end(bytes: bytes, at: now) }
    }
  }

  private func begin(_ account: String, _ purpose: AccountBudget.Purpose) -> AccountBudget.Shortage? {
    let now = time()
    return budgets.withLock { $0[account, default: AccountBudget(limits)].begin(purpose, at: now) }
  }

  private func beginRow(_ account: String, _ isStopping: @Sendable () -> Bool) async throws {
    waitingRows.withLock { $0 += 1 }
    defer { waitingRows.withLock { $0 -= 1 } }
    while true {
      guard !isStopping() else { throw ListStopped() }
      guard let shortage = begin(account, .list) else { return }
      guard shortage == .clipsAtOnce else { throw Refusal(account: account, shortage: shortage) }
      try await Task.sleep(for: Self.patience)
    }
  }

  /// What an account has used of its day.
  func use(of account: String) -> AccountBudget.Use {
    let now = time()
    return budgets.withLock { $0[account]?.use(at: now) ?? AccountBudget.Use(clips: 0, bytes: 0) }
  }

  /// Writes down what was used, and forgets what has come back.
  ///
  /// - Throws: the system's errors of the disk.
  func save(at date: Date = Date()) async throws {
    let now = time()
    let used = budgets.withLock { budgets in
      budgets = budgets.filter { !$0.value.isUnused(at: now) }
      return budgets.mapValues { $0.use(at: now) }
    }
    let data = try JSONEncoder().encode(Stored(at: date, accounts: used))
    try await onWaitingThread { [file] in
      // A service that made nothing leaves nothing behind.
      if used.isEmpty, !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) { return }
      try DurableFile.write(data, to: file)
    }
  }
}

extension Problem {
  init(_ refusal: AccountWork.Refusal) {
    switch refusal.shortage {
    case .clipsAtOnce:
      self = .accountBusy("So many new clips of the account are being made that no more may be", retryAfter: 1)
    case .day(let wait):
      self.init(
        .tooManyRequests, "daily_limit",
        "The account has had as many new clips made as it may in a day, of which lists may use four fifths: some may be "
          + "made again as Retry-After says. Clips that stand already are answered all the same.",
        retryAfter: max(1, Int(wait.components.seconds) + (wait.components.attoseconds > 0 ? 1 : 0)))
    }
  }

  /// An account has as many of something at once as it may.
  ///
  /// - Parameter what: a sentence without its end.
  static func accountBusy(_ what: String, retryAfter: Int) -> Problem {
    Problem(.tooManyRequests, "account_busy", "\(what): try again when one has ended.", retryAfter: retryAfter)
  }
}
