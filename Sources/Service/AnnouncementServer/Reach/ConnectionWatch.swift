// SPDX-License-Identifier: Apache-2.0

/// The decision when it is told that a destination cannot be reached, and that it can be reached again.
///
/// A destination is unreachable when no attempt has reached it for a minute, however many attempts there were. That is
/// told once as a warning, and then as an error after 10, 20, 40, … minutes, at least once a day, if attempts have
/// failed since.
///
/// It is a value without a clock. All times are durations since the same moment, and never decrease.
struct ConnectionWatch<Destination: Hashable & Sendable>: Sendable {
  /// The attempts since the last one that reached the destination.
  struct Outage: Sendable, Hashable {
    /// The time of the first attempt that failed.
    var began: Duration
    /// The time of the latest attempt that failed.
    fileprivate(set) var latest: Duration
    var failures = 0
    /// Why the latest attempt failed, as a code.
    var reason: String
    /// The time of the next warning or error.
    fileprivate var nextTelling: Duration
    /// The number of failures that the latest warning or error told; nil before the warning.
    fileprivate var toldFailures: Int?

    fileprivate init(at began: Duration, patience: Duration) {
      (self.began, latest, reason, nextTelling) = (began, began, "", began + patience)
    }
  }

  /// A message about whether a destination is reached.
  struct News: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      /// It was not reached for a minute.
      case unreachable
      /// It is still not reached, and more attempts have failed.
      case stillUnreachable
      /// It is reached again, after a message said that it is not.
      case reachedAgain
    }

    var kind: Kind
    var destination: Destination
    var outage: Outage
  }

  /// The time without success after which a destination counts as unreachable.
  static var patience: Duration { .seconds(60) }
  /// The time of the first error, counted from the first failure, and the longest pause between two errors.
  private static var firstError: Duration { .seconds(600) }
  private static var longestPause: Duration { .seconds(86_400) }

  private var outages: [Destination: Outage] = [:]

  /// Whether an attempt has failed at a destination that was not reached since.
  var isEmpty: Bool { outages.isEmpty }

  /// The destinations at which the latest attempt has failed.
  var failing: Set<Destination> { Set(outages.keys) }

  mutating func failed(_ destination: Destination, reason: String, at now: Duration) {
    var outage = outages[destination] ?? Outage(at: now, patience: Self.patience)
    outage.failures += 1
    (outage.latest, outage.reason) = (now, reason)
    outages[destination] = outage
  }

  /// - Returns: The news that the destination is reached again; nil if it was not told that it is unreachable.
  mutating func reached(_ destination: Destination) -> News? {
    guard let outage = outages.removeValue(forKey: destination), outage.toldFailures != nil else { return nil }
    return News(kind: .reachedAgain, destination: destination, outage: outage)
  }

  /// Forgets destinations that are gone. Nothing is told of them any more.
  mutating func forget(where isGone: (Destination) -> Bool) { outages = outages.filter { !isGone($0.key) } }

  /// Returns what is told now.
  mutating func due(at now: Duration) -> [News] {
    var news: [News] = []
    for (destination, var outage) in outages where outage.nextTelling <= now {
      if outage.toldFailures == nil {
        news.append(News(kind: .unreachable, destination: destination, outage: outage))
        outage.toldFailures = outage.failures
      } else if outage.toldFailures != outage.failures {
        news.append(News(kind: .stillUnreachable, destination: destination, outage: outage))
        outage.toldFailures = outage.failures
      }
      let age = now - outage.began
      outage.nextTelling = outage.began + max(Self.firstError, age + min(age, Self.longestPause))
      outages[destination] = outage
    }
    return news
  }

  /// The destinations that are unreachable.
  ///
  /// - Parameter isAnythingWaiting: Whether anything is still to be sent. If not, nothing is tried any more, so that the
  ///   end of the outage would never be noticed: the outage counts for ten more minutes.
  func unreachable(at now: Duration, isAnythingWaiting: Bool = true) -> [Destination: Outage] {
    outages.filter {
      now - $0.value.began >= Self.patience && (isAnythingWaiting || now - $0.value.latest < Self.firstError)
    }
  }
}
