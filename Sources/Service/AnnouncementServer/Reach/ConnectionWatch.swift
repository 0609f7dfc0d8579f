// SPDX-License-Identifier: Apache-2.0

/// The state machine that decides when to report that a destination cannot be reached, and that it can be reached
/// again.
///
/// A destination is unreachable when no attempt has reached it for a minute, however many attempts there were. This is
/// reported once as a warning, and then as an error after 10, 20, 40, … minutes, at least once a day, if attempts have
/// failed since.
///
/// It is a value that reads no clock. The caller passes all times, which are durations since the same moment and never
/// decrease.
struct ConnectionWatch<Destination: Hashable & Sendable>: Sendable {
  /// The attempts since the last one that reached the destination.
  struct Outage: Sendable, Hashable {
    /// The time of the first attempt that failed.
    var began: Duration
    /// The time of the latest attempt that failed.
    fileprivate(set) var latest: Duration
    var failures = 0
    /// The code of the reason why the latest attempt failed.
    var reason: String
    /// The time of the next warning or error.
    fileprivate var nextTelling: Duration
    /// The number of failures in the latest warning or error; nil before the warning.
    fileprivate var toldFailures: Int?

    fileprivate init(at began: Duration, patience: Duration) {
      (self.began, latest, reason, nextTelling) = (began, began, "", began + patience)
    }
  }

  /// A report about the reachability of a destination.
  struct News: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      /// The destination was not reached for a minute.
      case unreachable
      /// The destination is still not reached, and more attempts have failed.
      case stillUnreachable
      /// The destination is reached again, after a report that it was not.
      case reachedAgain
    }

    var kind: Kind
    var destination: Destination
    var outage: Outage
  }

  /// The time without success after which a destination counts as unreachable.
  static var patience: Duration { .seconds(60) }
  /// The time from the first failure to the first error.
  private static var firstError: Duration { .seconds(600) }
  /// The longest pause between two errors.
  private static var longestPause: Duration { .seconds(86_400) }

  private var outages: [Destination: Outage] = [:]

  /// Whether no destination fails: the latest attempt to reach each of them succeeded.
  var isEmpty: Bool { outages.isEmpty }

  /// The destinations at which the latest attempt has failed.
  var failing: Set<Destination> { Set(outages.keys) }

  mutating func failed(_ destination: Destination, reason: String, at now: Duration) {
    var outage = outages[destination] ?? Outage(at: now, patience: Self.patience)
    outage.failures += 1
    (outage.latest, outage.reason) = (now, reason)
    outages[destination] = outage
  }

  /// - Returns: The news that the destination is reached again; nil if it was not reported as unreachable.
  mutating func reached(_ destination: Destination) -> News? {
    guard let outage = outages.removeValue(forKey: destination), outage.toldFailures != nil else { return nil }
    return News(kind: .reachedAgain, destination: destination, outage: outage)
  }

  /// Forgets destinations that are gone. They are not reported any more.
  mutating func forget(where isGone: (Destination) -> Bool) { outages = outages.filter { !isGone($0.key) } }

  /// Returns the reports that are due now.
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
  /// - Parameter isAnythingWaiting: Whether anything is still to be sent. If nothing is waiting, no attempt would
  ///   notice the end of the outage, so the outage counts for ten more minutes only.
  func unreachable(at now: Duration, isAnythingWaiting: Bool = true) -> [Destination: Outage] {
    outages.filter {
      now - $0.value.began >= Self.patience && (isAnythingWaiting || now - $0.value.latest < Self.firstError)
    }
  }
}
