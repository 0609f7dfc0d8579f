// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Remembers the signed requests of the last minutes, so that none is done twice.
///
/// A pure value of bounded size. When it is full it refuses what is new rather than forget what it has, so one a key is
/// better than one for all.
public struct ReplayGuard: Sendable {
  /// At most so many requests are remembered, of about 100 bytes each.
  public let capacity: Int
  /// As many are remembered.
  public private(set) var count = 0

  /// The signatures of each second of the senders' clocks.
  private var seen: [Int64: Set<Data>] = [:]
  /// Requests from before it are refused, since they may have come and been forgotten. It never falls, whatever the
  /// clock does.
  private var start: Int64

  /// - Parameters:
  ///   - capacity: at least 1.
  ///   - start: requests signed before it are refused: the service's start, from before which nothing is remembered.
  ///     Nil to take them: then a restart lets the last ones be sent again.
  public init(capacity: Int = 100_000, start: Date? = nil) {
    precondition(capacity > 0, "A guard that remembers nothing guards nothing.")
    self.capacity = capacity
    self.start = start?.wholeSeconds ?? .min
  }

  /// Admits a request whose signature was found right, once.
  ///
  /// - Throws: ``AccessError`` with `replayed`, `timestampOutsideWindow` or `tooManyRemembered`.
  public mutating func admit(_ request: SignedRequest, at now: Date) throws(AccessError) {
    let now = now.wholeSeconds
    forget(before: now - SignedRequest.window)
    guard request.timestamp >= start, request.timestamp <= now + SignedRequest.window else {
      throw AccessError(.timestampOutsideWindow)
    }
    guard seen[request.timestamp]?.contains(request.signature) != true else { throw AccessError(.replayed) }
    guard count < capacity else { throw AccessError(.tooManyRemembered) }
    seen[request.timestamp, default: []].insert(request.signature)
    count += 1
  }

  private mutating func forget(before moment: Int64) {
    guard moment > start else { return }
    start = moment
    // There are at most as many seconds as the window has, both ways.
    for second in seen.keys where second < start { count -= seen.removeValue(forKey: second)?.count ?? 0 }
  }
}

extension Date {
  /// The whole seconds since 1970, far enough from the ends of `Int64` to be reckoned with.
  fileprivate var wholeSeconds: Int64 { Int64(min(max(timeIntervalSince1970.rounded(.down), -1e15), 1e15)) }
}
