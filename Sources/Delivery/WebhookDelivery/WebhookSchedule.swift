// SPDX-License-Identifier: Apache-2.0

import DequeModule
public import Foundation
import HeapModule
public import Ledger

/// The schedule that decides which messages are sent next.
///
/// Each endpoint has its own line, and the endpoints take turns, so an endpoint that is slow or fails does not delay
/// the others. Only a few messages are sent to an endpoint at a time. To an endpoint that fails, only one is sent at a
/// time, with pauses in between. The order of messages is not guaranteed.
///
/// Messages that a crash interrupted are suspects: one of them may have caused it. Few of them are sent at a time, so
/// that a second crash shows which one it was. A message that two crashes in a row interrupted is set aside, and sent
/// later, alone; see `InterruptedWork`.
///
/// The schedule has no clock and sends nothing: the caller passes the time, sends the messages that it gets, and
/// reports their outcomes. All times are times of a monotonic clock such as `SteadyClock`.
public struct WebhookSchedule: Sendable {
  /// The messages to an endpoint.
  private struct Line {
    var ready: Deque<Int64> = []
    var underWay = 0
    /// Whether the attempt that ended last has failed.
    var isFailing = false
    /// Whether the endpoint is in ``turns``.
    var hasTurn = false
    /// The time before which nothing is sent, because the latest attempt failed.
    var restsUntil: Date?
  }

  /// A time at which a message becomes due, or at which the rest of an endpoint ends.
  private struct Alarm: Comparable {
    var at: Date
    /// The number of the message; nil for the end of a rest.
    var message: Int64?
    var endpoint: Int64

    static func < (a: Alarm, b: Alarm) -> Bool { (a.at, a.message ?? 0) < (b.at, b.message ?? 0) }
  }

  /// The result of an attempt for its endpoint.
  public enum Result: Hashable, Sendable {
    /// Unknown, because the endpoint got no message.
    case unknown
    case succeeded
    /// Nothing more is sent to the endpoint until a time.
    case failed(restUntil: Date)
  }

  /// A message and its endpoint.
  public struct Entry: Hashable, Sendable {
    public var message: Int64
    public var endpoint: Int64
    /// The time for which this attempt was planned.
    public var dueAt: Date
    /// The time of the first attempt; nil before it.
    public var firstAttemptAt: Date?
  }

  /// The maximum number of messages that are under way to an endpoint.
  private let mostOfOne: Int
  private var lines: [Int64: Line] = [:]
  /// The endpoints whose turn comes next.
  private var turns: Deque<Int64> = []
  private var alarms: Heap<Alarm> = []
  /// The messages that have not ended.
  private var known: [Int64: Entry] = [:]
  /// The suspects that have not been tried again.
  private var suspects: Set<Int64> = []
  private var dueSuspects: Deque<Int64> = []
  /// The number of suspects that were added.
  private var suspectCount = 0
  /// The suspects that are under way.
  private var suspectsUnderWay: Set<Int64> = []
  /// The messages that were set aside. They are sent after all others, one at a time.
  private var setAside = SetAsideWork<Int64, Date>()
  /// The message that was set aside and is under way.
  private var alone: Int64?
  /// The time before which no further message that was set aside is sent, so that ordinary messages get their turns.
  private var notAloneBefore = Date.distantPast
  /// Whether nothing more is sent until all messages that are under way have their outcomes, because a message that was
  /// set aside comes next.
  private var isDraining = false

  /// The number of messages that are under way.
  public private(set) var underWay = 0
  /// The number of messages that have not ended.
  public var count: Int { known.count }
  /// The number of messages that are set aside.
  public var setAsideCount: Int { setAside.count + (alone == nil ? 0 : 1) }

  /// - Parameter mostOfOne: The maximum number of messages that are under way to an endpoint.
  public init(mostOfOne: Int = 4) { self.mostOfOne = max(1, mostOfOne) }

  /// Adds a message. A message that is already known is not added again.
  ///
  /// - Parameter moment: The time before which the message is set aside; nil if it is not.
  public mutating func add(_ message: Ledger.UnfinishedWebhook, setAsideUntil moment: Date? = nil) {
    guard known[message.number] == nil else { return }
    known[message.number] = Entry(
      message: message.number, endpoint: message.endpoint, dueAt: message.nextAt,
      firstAttemptAt: message.firstAttemptAt)
    if message.starts == 1 {
      suspects.insert(message.number)
      suspectCount += 1
    }
    if let moment {
      setAside.add(message.number, until: max(moment, message.nextAt))
    } else {
      alarms.insert(Alarm(at: message.nextAt, message: message.number, endpoint: message.endpoint))
    }
  }

  /// Returns the messages whose turn it is.
  ///
  /// - Parameter room: The maximum number of messages.
  public mutating func next(at now: Date, room: Int) -> [Entry] {
    while let alarm = alarms.min, alarm.at <= now {
      alarms.removeMin()
      if let message = alarm.message {
        // The alarm of a message stays even after the message has ended.
        guard known[message] != nil else { continue }
        guard suspects.remove(message) == nil else {
          dueSuspects.append(message)
          continue
        }
        lines[alarm.endpoint, default: Line()].ready.append(message)
      } else if lines[alarm.endpoint]?.restsUntil == alarm.at {
        lines[alarm.endpoint]?.restsUntil = nil
      }
      giveTurn(alarm.endpoint)
    }
    guard alone == nil else { return [] }
    let isAsideDue = nextAlone.map { $0 <= now } ?? false
    isDraining = isAsideDue && underWay > 0
    if isAsideDue { return isDraining ? [] : startAlone(at: now) }
    var entries = startSuspects(room)
    while entries.count < room, let endpoint = turns.popFirst() {
      lines[endpoint]?.hasTurn = false
      // If the endpoint has begun to fail, it gets its turn again when fewer messages are under way to it.
      guard mayStart(endpoint) else { continue }
      while let message = lines[endpoint]?.ready.popFirst() {
        guard let entry = known[message] else { continue }
        lines[endpoint]?.underWay += 1
        underWay += 1
        entries.append(entry)
        break
      }
      giveTurn(endpoint)
      dropIfIdle(endpoint)
    }
    return entries
  }

  /// Starts the next suspects whose endpoints accept a message, up to the allowed number at a time.
  private mutating func startSuspects(_ room: Int) -> [Entry] {
    let most = InterruptedWork.mostSuspects(of: suspectCount)
    var entries: [Entry] = []
    var passedOver: [Int64] = []
    while entries.count < room, suspectsUnderWay.count < most, let message = dueSuspects.popFirst() {
      guard let entry = known[message] else { continue }
      guard lines[entry.endpoint] == nil || mayStart(entry.endpoint) else {
        passedOver.append(message)
        continue
      }
      lines[entry.endpoint, default: Line()].underWay += 1
      underWay += 1
      suspectsUnderWay.insert(message)
      entries.append(entry)
    }
    dueSuspects.prepend(contentsOf: passedOver)
    return entries
  }

  /// Starts the next message that is set aside.
  private mutating func startAlone(at now: Date) -> [Entry] {
    while let message = setAside.next(at: now) {
      guard let entry = known[message] else { continue }
      lines[entry.endpoint, default: Line()].underWay += 1
      underWay += 1
      alone = message
      notAloneBefore = now.addingTimeInterval(InterruptedWork.rest)
      return [entry]
    }
    return []
  }

  /// Gives an endpoint a turn, if it has a message that may be sent now.
  private mutating func giveTurn(_ endpoint: Int64) {
    guard let line = lines[endpoint], !line.hasTurn, !line.ready.isEmpty, mayStart(endpoint) else { return }
    lines[endpoint]?.hasTurn = true
    turns.append(endpoint)
  }

  private func mayStart(_ endpoint: Int64) -> Bool {
    lines[endpoint].map { $0.restsUntil == nil && $0.underWay < ($0.isFailing ? 1 : mostOfOne) } ?? false
  }

  private mutating func dropIfIdle(_ endpoint: Int64) {
    // A line that is failing is kept, so that the failure is known until a message is delivered or the endpoint is
    // disabled.
    guard let line = lines[endpoint], line.underWay == 0, line.ready.isEmpty, !line.isFailing else { return }
    lines[endpoint] = nil
  }

  /// The time at which ``next(at:room:)`` may have something to do, if nothing is added or reported before; nil for
  /// never.
  public var nextMoment: Date? {
    // Nothing can be sent before a message that is under way has ended.
    guard alone == nil, !isDraining else { return nil }
    guard turns.isEmpty else { return .distantPast }
    return [alarms.min?.at, nextAlone].compactMap(\.self).min()
  }

  /// The time of the next message that is set aside; nil if there is none.
  private var nextAlone: Date? { setAside.nextMoment.map { max($0, notAloneBefore) } }

  /// Reports that a message that was under way has ended, or has left the outbox.
  public mutating func ended(_ entry: Entry, _ result: Result) {
    known[entry.message] = nil
    arrived(entry, result)
  }

  /// Reports that a message that was under way must be sent again.
  public mutating func retry(_ entry: Entry, at moment: Date, _ result: Result) {
    arrived(entry, result)
    guard known[entry.message] != nil else { return }
    known[entry.message]?.dueAt = moment
    known[entry.message]?.firstAttemptAt = entry.firstAttemptAt
    alarms.insert(Alarm(at: moment, message: entry.message, endpoint: entry.endpoint))
  }

  /// Reports that a message could not be marked, and so was not sent. A message that was set aside or was a suspect
  /// stays as it was.
  public mutating func notStarted(_ entry: Entry, at moment: Date) {
    let (wasAlone, wasSuspect) = (alone == entry.message, suspectsUnderWay.contains(entry.message))
    arrived(entry, .unknown)
    guard known[entry.message] != nil else { return }
    if wasAlone { return setAside.add(entry.message, until: moment) }
    if wasSuspect { suspects.insert(entry.message) }
    alarms.insert(Alarm(at: moment, message: entry.message, endpoint: entry.endpoint))
  }

  private mutating func arrived(_ entry: Entry, _ result: Result) {
    if alone == entry.message { alone = nil }
    suspectsUnderWay.remove(entry.message)
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

  /// Drops messages that ended together with their endpoint. The outcomes of those that are under way are still
  /// reported.
  public mutating func drop(_ messages: [Int64], of endpoint: Int64) {
    for message in messages { known[message] = nil }
    _ = setAside.remove { known[$0] == nil }
    lines[endpoint]?.isFailing = false
    lines[endpoint]?.restsUntil = nil
    dropIfIdle(endpoint)
  }
}
