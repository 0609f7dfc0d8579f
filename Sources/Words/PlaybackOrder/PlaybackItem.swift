// SPDX-License-Identifier: Apache-2.0

/// The properties of an announcement that determine its turn.
public struct PlaybackItem: Sendable, Hashable {
  /// The announcement's number. Numbers rise in the order of acceptance and are never reused.
  public var number: Int64
  public var category: Category

  /// The sequence number, which rises by one with each announcement for a device; `nil` if the payload has none. Money
  /// is played in the order of its sequence numbers. In other categories, the sequence number has only one effect: it
  /// does not count as a missing number, for which the order would wait.
  public var sequence: Int64?

  /// The time of acceptance, in ms. It is measured by the clock of the order's owner, which never goes back.
  public var acceptedAt: Int64

  /// The time from which the announcement is not played any more, in ms of the same clock. It only applies to
  /// categories that may expire.
  public var expiresAt: Int64?

  /// The duration of the sound in ms, if it is known.
  public var durationMilliseconds: Int64?

  public init(
    number: Int64, category: Category, sequence: Int64? = nil, acceptedAt: Int64, expiresAt: Int64? = nil,
    durationMilliseconds: Int64? = nil
  ) {
    self.number = number
    self.category = category
    self.sequence = sequence
    self.acceptedAt = acceptedAt
    self.expiresAt = expiresAt
    self.durationMilliseconds = durationMilliseconds
  }

  /// Whether the announcement has expired. An announcement of a payment or a refund never expires.
  public func hasExpired(at now: Int64) -> Bool { category.mayExpire && expiresAt.map { $0 <= now } ?? false }
}
