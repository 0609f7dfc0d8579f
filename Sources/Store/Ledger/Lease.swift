// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// A right that one of several nodes has for a while. The value describes the right as its holder sees it.
  ///
  /// - The database's clock alone decides when another node may take the right: ``Terms/length`` after the database has
  ///   carried out the last renewal.
  /// - The holder cannot read that clock without the database. It counts on its own monotonic clock, from the moment
  ///   before it asked for the renewal, and stops ``Terms/margin`` earlier. The database counts from a later moment, so
  ///   the holder stops first, whatever the wall clocks show.
  /// - A node that was stopped and continues later does not know this at once. Each of its writes therefore carries the
  ///   ``epoch``, which rises with each new holder, and the database refuses a write with an older one.
  ///
  /// The value has no clock: its user passes the time.
  public struct Lease: Sendable, Hashable {
    /// How long a lease lasts, and when it is renewed. All nodes of a database must have the same ``length``.
    public struct Terms: Sendable, Hashable {
      /// The time after a renewal from which another node may take the lease.
      public var length: Duration = .seconds(10)
      /// The time by which the holder stops earlier than the end of ``length``.
      public var margin: Duration = .seconds(1)
      /// The time between two renewals.
      public var renewal: Duration = .seconds(3)
      /// The time between a renewal that failed and the next attempt.
      public var retry: Duration = .seconds(1)

      public init() {}
    }

    /// The number of the holder: the first one has 1. A node that takes the lease again is a new holder.
    public let epoch: Int64
    public let terms: Terms
    /// The moment before the request for the lease, or for the last renewal that succeeded.
    public private(set) var renewedAt: ContinuousClock.Instant
    /// The moment of the next renewal.
    public private(set) var nextRenewal: ContinuousClock.Instant
    /// Whether the lease ended before its time, because another node has it or because it was given back.
    public private(set) var hasEnded = false

    /// - Parameter moment: The moment before the database was asked for the lease.
    public init(epoch: Int64, terms: Terms = Terms(), askedAt moment: ContinuousClock.Instant) {
      self.epoch = epoch
      self.terms = terms
      renewedAt = moment
      nextRenewal = moment + terms.renewal
    }

    /// The moment from which the holder must not use the lease, unless it is renewed before.
    public var usableUntil: ContinuousClock.Instant { renewedAt + terms.length - terms.margin }

    /// Returns whether the holder may use the lease.
    public func isUsable(at moment: ContinuousClock.Instant) -> Bool { !hasEnded && moment < usableUntil }

    /// Returns how long a renewal may take before it is tried again.
    public func limit(ofRenewalAt moment: ContinuousClock.Instant) -> Duration {
      max(.seconds(1), min(terms.renewal, usableUntil - moment))
    }

    /// Notes that the database has renewed the lease.
    ///
    /// - Parameter moment: The moment before the database was asked.
    public mutating func renewed(askedAt moment: ContinuousClock.Instant) {
      // An earlier request may be answered late.
      renewedAt = max(renewedAt, moment)
      nextRenewal = renewedAt + terms.renewal
    }

    /// Notes that the lease could not be renewed, for example because the database did not answer.
    ///
    /// - Parameter moment: The moment at which that was known.
    public mutating func notRenewed(at moment: ContinuousClock.Instant) { nextRenewal = moment + terms.retry }

    /// Notes that another node has the lease, or that it was given back.
    public mutating func end() { hasEnded = true }
  }
}
