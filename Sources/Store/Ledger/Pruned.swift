// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The minimum time for which the log of administration is kept, in seconds: 365 days. The log is kept longer if
  /// announcements are kept longer.
  public static let administrationRetention: TimeInterval = 365 * 86_400

  /// The numbers of rows that ``PruningStore/prune(finishedBefore:)`` removed.
  public struct Pruned: Sendable, Hashable {
    public var announcements = 0
    public var events = 0
    public var commands = 0
    public var administrativeActs = 0
    public var pushes = 0
    public var libraryChanges = 0
    public var webhooks = 0
    public var providerPayments = 0
    public var providerIDs = 0

    package init(
      announcements: Int = 0, events: Int = 0, commands: Int = 0, administrativeActs: Int = 0, pushes: Int = 0,
      libraryChanges: Int = 0, webhooks: Int = 0, providerPayments: Int = 0, providerIDs: Int = 0
    ) {
      self.announcements = announcements
      self.events = events
      self.commands = commands
      self.administrativeActs = administrativeActs
      self.pushes = pushes
      self.libraryChanges = libraryChanges
      self.webhooks = webhooks
      self.providerPayments = providerPayments
      self.providerIDs = providerIDs
    }
  }

  /// The time for which messages to webhook endpoints are kept after their end, in seconds: a day. After that, only the
  /// endpoint's counters include them.
  public static let webhookRetention: TimeInterval = 86_400

  /// The moments before which pruning removes rows that are kept for a time of their own, in milliseconds since 1970.
  package struct PruningMoments: Sendable, Hashable {
    package let webhooks: Int64
    package let administrativeActs: Int64

    /// - Parameters:
    ///   - finished: The moment before which an announcement must have ended to be removed.
    ///   - now: The present time.
    package init(finishedBefore finished: Int64, at now: Int64) {
      webhooks = max(finished, now - Int64(webhookRetention * 1000))
      administrativeActs = min(finished, now - Int64(administrationRetention * 1000))
    }
  }
}
