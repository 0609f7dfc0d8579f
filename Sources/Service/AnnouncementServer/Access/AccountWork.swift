// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import FileSystem
import Foundation
import HTTPTypes
import ServiceAccess

/// The record of the new clips that the service has made for each account. It decides whether more may be made.
///
/// The usage of the current day survives a restart, so that a restart gives no account a new daily budget. The usage is
/// saved once a minute and when the service stops, so a crash loses at most one minute of it.
final class AccountWork: Sendable {
  /// The error for an account that may not have another new clip made.
  struct Refusal: Error, Sendable, Hashable {
    var account: String
    var shortage: AccountBudget.Shortage
  }

  /// The error for a waiting row whose list was cancelled. The row is not started.
  struct ListStopped: Error {}

  /// The purpose for which new clips are made.
  enum Purpose: Sendable {
    case announcement
    /// Rows of a list. A row waits while the account is at its limit of simultaneous clips. The wait ends early if the
    /// list is cancelled.
    case list(isStopping: @Sendable () -> Bool)
  }

  /// The content of the stored file.
  private struct Stored: Codable {
    var at: Date
    var accounts: [String: AccountBudget.Use]
  }

  /// The interval at which a waiting row checks whether its account may have another clip made.
  private static let patience: Duration = .milliseconds(200)

  private let limits: WorkLimits
  private let file: URL
  private let time: @Sendable () -> Duration
  private let budgets: Locked<[String: AccountBudget]>
  private let waitingRows = Locked(0)

  /// The number of list rows that wait because their account has reached its limit of simultaneous clips.
  var waiting: Int { waitingRows.withLock { $0 } }

  /// - Parameters:
  ///   - file: The file that stores the usage. A missing or unreadable file counts as no usage.
  ///   - now: The calendar time, from which the age of the stored usage is computed.
  ///   - time: The time since an arbitrary origin; it never runs backwards.
  init(limits: WorkLimits, file: URL, now: Date = Date(), time: @escaping @Sendable () -> Duration) {
    self.limits = limits
    self.file = file
    self.time = time
    let stored = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Stored.self, from: $0) }
    // If the clock was set back, the age would be negative. Zero is used instead.
    let age = max(0, stored.map { now.timeIntervalSince($0.at) } ?? 0)
    let moment = time() - .seconds(min(age, 1e9))
    budgets = Locked((stored?.accounts ?? [:]).mapValues { AccountBudget(limits, used: $0, at: moment) })
  }

  /// Returns a permit for new clips of an account.
  ///
  /// The permit's `begin` throws ``Refusal``, and for a list also ``ListStopped``.
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
      // The row polls, because it is in no hurry. Its wait ends when another clip of the account is finished, or when
      // the list is cancelled.
      try await Task.sleep(for: Self.patience)
    }
  }

  /// Returns how much of its daily budget an account has used.
  func use(of account: String) -> AccountBudget.Use {
    let now = time()
    return budgets.withLock { $0[account]?.use(at: now) ?? AccountBudget.Use(clips: 0, bytes: 0) }
  }

  /// Saves the usage of all accounts, and drops accounts whose usage has expired.
  ///
  /// - Throws: The operating system's error if the file cannot be written.
  func save(at date: Date = Date()) async throws {
    let now = time()
    let used = budgets.withLock { budgets in
      budgets = budgets.filter { !$0.value.isUnused(at: now) }
      return budgets.mapValues { $0.use(at: now) }
    }
    let data = try JSONEncoder().encode(Stored(at: date, accounts: used))
    try await onWaitingThread { [file] in
      // If no clips were made and there is no file, no file is created.
      if used.isEmpty, !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) { return }
      try DurableFile.write(data, to: file)
    }
  }
}

extension Problem {
  init(_ refusal: AccountWork.Refusal) {
    switch refusal.shortage {
    case .clipsAtOnce:
      self = .accountBusy("Too many new clips of the account are being made", retryAfter: 1)
    case .day(let wait):
      self.init(
        .tooManyRequests, "daily_limit",
        "The account's batches have used their share, four fifths of the account's daily limit of new clips. Try again "
          + "after the time in Retry-After. Existing clips are still available.",
        retryAfter: max(1, Int(wait.components.seconds) + (wait.components.attoseconds > 0 ? 1 : 0)))
    }
  }

  /// Returns the problem for an account that has reached a limit of simultaneous work.
  ///
  /// - Parameter what: The limit that was reached, as a sentence without its final period. The remedy is appended.
  static func accountBusy(_ what: String, retryAfter: Int) -> Problem {
    Problem(.tooManyRequests, "account_busy", "\(what). Try again when one has ended.", retryAfter: retryAfter)
  }
}
