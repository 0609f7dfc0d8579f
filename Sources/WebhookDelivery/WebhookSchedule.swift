// SPDX-License-Identifier: Apache-2.0

import DequeModule
public import Foundation
import HeapModule
public import Ledger

/// The decision which messages are sent next.
///
/// Each endpoint has a line of its own, and the endpoints take turns, so an endpoint that is slow or fails delays no
/// other. At most a few messages are under way to an endpoint. To an endpoint that fails, only one is, with pauses in between.
/// Their order is not promised.
///
/// It is a value without a clock: the caller passes the time, sends what it gets, and reports what became of it.
public struct WebhookSchedule: Sendable {
  /// The messages to an endpoint.
  private struct Line {
    var ready: Deque<Int64> = []
    var underWay = 0
    /// Whether the latest attempt that ended did not succeed.
    var isFailing = false
    /// Whether the endpoint is in ``turns``.
    var hasTurn = false
    /// The time before which nothing is sent, because the latest attempt failed.
    var restsUntil: Date?
  }

  /// A message that waits for a time, or an endpoint whose rest ends then.
  private struct Alarm: Comparable {
    var at: Date
    /// nil for the end of a rest.
    var message: Int64?
    var endpoint: Int64

    static func < (a: Alarm, b: Alarm) -> Bool { (a.at, a.message ?? 0) < (b.at, b.message ?? 0) }
  }

  /// What an attempt says about its endpoint.
  public enum Result: Hashable, Sendable {
    /// Nothing: the endpoint got no message.
    case unknown
    case succeeded
    /// Nothing more is sent to the endpoint until a time.
    case failed(restUntil: Date)
  }

  /// A message, and where it goes.
  public struct Entry: Hashable, Sendable {
    public var message: Int64
    public var endpoint: Int64
  }

  /// The maximum number of messages that are under way to an endpoint.
  private let mostOfOne: Int
  private var lines: [Int64: Line] = [:]
  /// The endpoints whose turn comes next.
  private var turns: Deque<Int64> = []
  private var alarms: Heap<Alarm> = []
  /// The messages that have not ended, with their endpoints.
  private var known: [Int64: Int64] = [:]

  /// The number of messages that are under way.
  public private(set) var underWay = 0
  /// The number of messages that have not ended.
  public var count: Int { known.count }

  /// - Parameter mostOfOne: The maximum number of messages that are under way to an endpoint.
  public init(mostOfOne: Int = 4) { self.mostOfOne = max(1, mostOfOne) }

  /// Adds a message. One that is known already is not added again.
  public mutating func add(_ message: Ledger.UnfinishedWebhook) {
    guard known.updateValue(message.endpoint, forKey: message.number) == nil else { return }
    alarms.insert(Alarm(at: message.nextAt, message: message.number, endpoint: message.endpoint))
  }

  /// Returns the messages whose turn it is.
  ///
  /// - Parameter room: The maximum number of messages.
  public mutating func next(at now: Date, room: Int) -> [Entry] {
    while let alarm = alarms.min, alarm.at <= now {
      alarms.removeMin()
      if let message = alarm.message {
        // A message that has ended leaves its alarm behind.
        guard known[message] != nil else { continue }
        lines[alarm.endpoint, default: Line()].ready.append(message)
      } else if lines[alarm.endpoint]?.restsUntil == alarm.at {
        lines[alarm.endpoint]?.restsUntil = nil
      }
      giveTurn(alarm.endpoint)
    }
    var entries: [Entry] = []
    while entries.count < room, let endpoint = turns.popFirst() {
      lines[endpoint]?.hasTurn = false
      // An endpoint that has begun to fail gets its turn again when fewer messages are under way to it.
      guard mayStart(endpoint) else { continue }
      while let message = lines[endpoint]?.ready.popFirst() {
        guard known[message] != nil else { continue }
        lines[endpoint]?.underWay += 1
        underWay += 1
        entries.append(Entry(message: message, endpoint: endpoint))
        break
      }
      giveTurn(endpoint)
      dropIfIdle(endpoint)
    }
    return entries
  }

  /// Lets an endpoint take part, if it has something to send and may send it.
  private mutating func giveTurn(_ endpoint: Int64) {
    guard let line = lines[endpoint], !line.hasTurn, !line.ready.isEmpty, mayStart(endpoint) else { return }
    lines[endpoint]?.hasTurn = true
    turns.append(endpoint)
  }

  private func mayStart(_ endpoint: Int64) -> Bool {
    lines[endpoint].map { $0.restsUntil == nil && $0.underWay < ($0.isFailing ? 1 : mostOfOne) } ?? false
  }

  private mutating func dropIfIdle(_ endpoint: Int64) {
    // That an endpoint fails is remembered until a message is delivered, or until the endpoint is disabled.
    guard let line = lines[endpoint], line.underWay == 0, line.ready.isEmpty, !line.isFailing else { return }
    lines[endpoint] = nil
  }

  /// The time at which ``next(at:room:)`` may have something to do, if nothing is added or reported before; nil for
  /// never.
  public var nextMoment: Date? { turns.isEmpty ? alarms.min?.at : .distantPast }

  /// Reports that a message that was under way has ended, or has left the outbox.
  public mutating func ended(_ entry: Entry, _ result: Result) {
    known[entry.message] = nil
    arrived(entry, result)
  }

  /// Reports that a message that was under way must be sent again.
  public mutating func retry(_ entry: Entry, at moment: Date, _ result: Result) {
    arrived(entry, result)
    guard known[entry.message] != nil else { return }
    alarms.insert(Alarm(at: moment, message: entry.message, endpoint: entry.endpoint))
  }

  private mutating func arrived(_ entry: Entry, _ result: Result) {
    guard lines[entry.endpoint] != nil else { return }
    lines[entry.endpoint]?.underWay -= 1
    underWay -= 1
    switch result {
    case .unknown: break
    case .succeeded:
      lines[entry.endpoint]?.isFailing = false
      lines[entry.endpoint]?.restsUntil = nil
    case .failed(let moment):
      lines[entry.endpoint]?.isFailing = true
      lines[entry.endpoint]?.restsUntil = moment
      alarms.insert(Alarm(at: moment, message: nil, endpoint: entry.endpoint))
    }
    giveTurn(entry.endpoint)
    dropIfIdle(entry.endpoint)
  }

  /// Drops messages that ended together with their endpoint. Those that are under way are still reported.
  public mutating func drop(_ messages: [Int64], of endpoint: Int64) {
    for message in messages { known[message] = nil }
    lines[endpoint]?.isFailing = false
    lines[endpoint]?.restsUntil = nil
    dropIfIdle(endpoint)
  }
}
