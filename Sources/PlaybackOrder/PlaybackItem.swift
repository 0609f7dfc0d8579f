// SPDX-License-Identifier: Apache-2.0

/// An announcement, as far as its turn depends on it.
public struct PlaybackItem: Sendable, Hashable {
  /// The order of acceptance: rises with each, and is never used again.
  public var number: Int64
  public var category: Category

  /// Rises by one with each announcement for a device; `nil` where the payload has none. Money is said in its order;
  /// for the others it tells only that the number is not missing.
  public var sequence: Int64?

  /// In ms of the owner's clock, which only goes forward.
  public var acceptedAt: Int64

  /// In ms of the same clock: from then on it is not said. Taken into account only where the category may expire.
  public var expiresAt: Int64?

  /// How long its sound is, in ms, once that is known.
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

  /// Whether it is not said any more. Money always is.
  public func hasExpired(at now: Int64) -> Bool { category.mayExpire && expiresAt.map { $0 <= now } ?? false }
}
