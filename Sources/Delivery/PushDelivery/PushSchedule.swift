// SPDX-License-Identifier: Apache-2.0

import DequeModule
public import Foundation
import HeapModule
public import Ledger
public import PushMessages

/// The schedule that decides which pushes are sent next.
///
/// The pushes of a kind to a device are sent one after the other, in the order of their numbers, so that an
/// announcement never overtakes an earlier one. A device that has to wait does not delay other devices, and a push that
/// only prepares the phone does not delay announcements. The devices take turns.
///
/// Pushes that a crash interrupted are suspects: one of them may have caused it. Few of them are sent at a time, so
/// that a second crash shows which one it was. A push that two crashes in a row interrupted leaves its place, and is
/// sent later, alone; see `InterruptedWork`.
///
/// The schedule has no clock and sends nothing: the caller passes the time, sends the pushes that it gets, and reports
/// their outcomes. All times, including the expiries, are times of a monotonic clock such as `SteadyClock`.
public struct PushSchedule: Sendable {
  /// The pushes of a kind to a device of an account.
  private struct LineKey: Hashable {
    var account: String
    var device: String
    var kind: PushType

    init(_ push: Ledger.UnfinishedPush) { (account, device, kind) = (push.account, push.device, push.kind) }
  }

  /// An app in one of the two environments of APNs. All its pushes use one key and one server.
  public struct App: Hashable, Sendable {
    public var bundleID: String
    public var environment: PushEnvironment

    public init(bundleID: String, environment: PushEnvironment) {
      self.bundleID = bundleID
      self.environment = environment
    }
  }

  /// A topic that APNs accepts or refuses for all devices: an app's own topic, or the topic of its file provider.
  public struct Topic: Hashable, Sendable {
    public var app: App
    public var isFileProvider: Bool

    public init(_ app: App, isFileProvider: Bool = false) {
      self.app = app
      self.isFileProvider = isFileProvider
    }

    init(_ push: Ledger.UnfinishedPush) {
      self.init(
        App(bundleID: push.app, environment: push.environment), isFileProvider: push.kind == .fileProvider)
    }
  }

  private struct Line {
    var waiting: Deque<Ledger.UnfinishedPush> = []
    /// Whether the first push is being sent.
    var isSending = false
    /// The time before which nothing is sent.
    var notBefore = Date.distantPast
    /// Whether the line is in ``ready``.
    var isReady = false
    /// Whether the line is in ``held``.
    var isHeld = false
    /// The time of the line's latest alarm. It replaces the earlier ones.
    var alarm: Date?
  }

  private struct Alarm: Comparable {
    var at: Date
    var line: LineKey

    static func < (a: Alarm, b: Alarm) -> Bool { a.at < b.at }
  }

  private var lines: [LineKey: Line] = [:]
  /// The lines whose turn comes next.
  private var ready: Deque<LineKey> = []
  /// The lines that wait until fewer pushes to their app are being sent, in the order of their turns.
  private var held: [App: Deque<LineKey>] = [:]
  /// The number of pushes that are being sent to each app.
  private var underWayToApp: [App: Int] = [:]
  /// The times at which the schedule must look at waiting lines again.
  private var alarms: Heap<Alarm> = []
  /// The topics to which nothing is sent before the given time.
  private var pauses: [Topic: Date] = [:]
  /// The topics to which one push is being sent, to find out whether APNs accepts them again.
  private var trials: [Topic: LineKey] = [:]

  /// The number of suspects that were added.
  private var suspectCount = 0
  /// The suspects that are being sent.
  private var suspects: Set<Int64> = []
  /// The lines that wait for the outcome of a suspect that is being sent. A suspect is a push that a crash interrupted.
  private var linesOfSuspects: Deque<LineKey> = []
  /// The pushes that are sent later, one at a time and alone.
  private var setAside = SetAsideWork<Ledger.UnfinishedPush, Date>()
  /// The number of the push that was set aside and is being sent.
  private var alone: Int64?
  /// The time before which no further push that was set aside is sent, so that ordinary pushes get their turns.
  private var notAloneBefore = Date.distantPast
  /// Whether nothing more is sent until all pushes that are being sent have their outcomes, because a push that was set
  /// aside comes next.
  private var isDraining = false

  /// The number of pushes that have not ended.
  public private(set) var count = 0
  /// The number of pushes that are being sent.
  public private(set) var underWay = 0

  /// The number of pushes that are set aside.
  public var setAsideCount: Int { setAside.count + (alone == nil ? 0 : 1) }

  public init() {}

  /// Sets a push aside until a time.
  public mutating func setAside(_ push: Ledger.UnfinishedPush, until moment: Date) {
    setAside.add(push, until: moment)
    count += 1
  }

  /// Adds a push. Add pushes in the order of their numbers.
  public mutating func add(_ push: Ledger.UnfinishedPush) {
    let key = LineKey(push)
    lines[key, default: Line()].waiting.append(push)
    count += 1
    if push.starts == 1 { suspectCount += 1 }
    makeReady(key)
  }

  private mutating func makeReady(_ key: LineKey) {
    guard let line = lines[key], !line.isSending, !line.isReady, !line.waiting.isEmpty else { return }
    lines[key]?.isReady = true
    ready.append(key)
  }

  /// The pushes to deal with now.
  public struct Turn: Sendable {
    /// The pushes to send: at most one of each kind to each device.
    public var send: [Ledger.UnfinishedPush] = []
    /// The expired pushes, which have left the schedule.
    public var expired: [Ledger.UnfinishedPush] = []
  }

  /// Returns the pushes whose turn it is.
  ///
  /// - Parameters:
  ///   - room: The maximum number of pushes to send.
  ///   - mostToApp: The maximum number of pushes that are being sent to an app at a time. An app whose server does not
  ///     answer then leaves room for the others.
  public mutating func next(at now: Date, room: Int, mostToApp: Int = .max) -> Turn {
    while let alarm = alarms.min, alarm.at <= now {
      alarms.removeMin()
      guard lines[alarm.line]?.alarm == alarm.at else { continue }
      lines[alarm.line]?.alarm = nil
      makeReady(alarm.line)
    }
    var turn = Turn()
    turn.expired = setAside.remove { $0.expiresAt <= now }
    count -= turn.expired.count
    guard alone == nil else { return turn }
    let isAsideDue = nextAlone.map { $0 <= now } ?? false
    isDraining = isAsideDue && underWay > 0
    if isAsideDue {
      if !isDraining, room > 0 { startAlone(at: now, into: &turn) }
      return turn
    }
    while turn.send.count < room {
      if ready.isEmpty { letGoHeld(mostToApp) }
      guard let key = ready.popFirst() else { break }
      lines[key]?.isReady = false
      dropExpired(key, at: now, into: &turn)
      guard let line = lines[key], let first = line.waiting.first else { continue }
      let topic = Topic(first)
      let pause = pauses[topic].map { trials[topic] == nil ? $0 : .distantFuture } ?? .distantPast
      let start = max(line.notBefore, pause)
      guard start <= now else {
        // The alarm is for the time at which the line may send, or at which its first push expires. A line whose topic
        // is on trial also gets its turn when the trial ends.
        setAlarm(for: key, at: min(start, first.expiresAt))
        continue
      }
      guard underWayToApp[topic.app, default: 0] < mostToApp else {
        hold(key, until: first.expiresAt, app: topic.app)
        continue
      }
      if first.starts == 1 {
        guard suspects.count < InterruptedWork.mostSuspects(of: suspectCount) else {
          setAlarm(for: key, at: first.expiresAt)
          linesOfSuspects.append(key)
          continue
        }
        suspects.insert(first.number)
      }
      if pauses[topic] != nil { trials[topic] = key }
      lines[key]?.isSending = true
      underWay += 1
      underWayToApp[topic.app, default: 0] += 1
      turn.send.append(first)
    }
    return turn
  }

  /// Starts the next push that is set aside, before the other pushes to its device, unless its topic or its device is
  /// paused.
  private mutating func startAlone(at now: Date, into turn: inout Turn) {
    guard let push = setAside.next(at: now) else { return }
    let (key, topic) = (LineKey(push), Topic(push))
    let start = max(pauses[topic] ?? .distantPast, lines[key]?.notBefore ?? .distantPast)
    guard start <= now else { return setAside.add(push, until: min(start, push.expiresAt)) }
    if pauses[topic] != nil { trials[topic] = key }
    lines[key, default: Line()].waiting.prepend(push)
    lines[key]?.isSending = true
    alone = push.number
    notAloneBefore = now.addingTimeInterval(InterruptedWork.rest)
    underWay += 1
    underWayToApp[topic.app, default: 0] += 1
    turn.send.append(push)
  }

  /// Lets a line wait until another push to its app has its outcome, or until its own first push has expired.
  private mutating func hold(_ key: LineKey, until expiry: Date, app: App) {
    setAlarm(for: key, at: expiry)
    guard lines[key]?.isHeld == false else { return }
    lines[key]?.isHeld = true
    held[app, default: []].append(key)
  }

  /// Counts a push that is not being sent any more, and gives its place to the next line that waits for one.
  private mutating func leave(_ push: Ledger.UnfinishedPush) {
    // While a push that was set aside is being sent, no other push is. Therefore either the push that left was set
    // aside, or `alone` is nil already.
    alone = nil
    if suspects.remove(push.number) != nil {
      while let key = linesOfSuspects.popFirst() { makeReady(key) }
    }
    let app = Topic(push).app
    underWay -= 1
    underWayToApp[app, default: 0] -= 1
    if underWayToApp[app] == 0 { underWayToApp[app] = nil }
    letGoHeld(app)
  }

  /// Wakes the next line that waits for a place of its app, so that it tries to get the place.
  private mutating func letGoHeld(_ app: App) {
    // The line may have lost its pushes since it began to wait.
    while let key = held[app]?.popFirst() {
      guard lines[key]?.isHeld == true else { continue }
      lines[key]?.isHeld = false
      return makeReady(key)
    }
    held[app] = nil
  }

  /// Wakes one line of each app that has a free place. This is necessary because a line that was woken before may not
  /// have taken the place.
  private mutating func letGoHeld(_ mostToApp: Int) {
    for app in Array(held.keys) where underWayToApp[app, default: 0] < mostToApp { letGoHeld(app) }
  }

  private mutating func setAlarm(for key: LineKey, at moment: Date) {
    guard lines[key]?.alarm != moment else { return }
    lines[key]?.alarm = moment
    alarms.insert(Alarm(at: moment, line: key))
  }

  private mutating func dropExpired(_ key: LineKey, at now: Date, into turn: inout Turn) {
    while let first = lines[key]?.waiting.first, first.expiresAt <= now {
      lines[key]?.waiting.removeFirst()
      count -= 1
      turn.expired.append(first)
    }
    if lines[key]?.waiting.isEmpty == true, lines[key]?.isSending == false { lines[key] = nil }
  }

  /// The time at which ``next(at:room:)`` may have something to do, unless something is added or reported earlier; nil
  /// for never.
  public var nextMoment: Date? {
    // Nothing can be sent before a push that is being sent has ended.
    guard alone == nil, !isDraining else { return nil }
    guard ready.isEmpty else { return .distantPast }
    return [alarms.min?.at, nextAlone, setAside.earliest(\.expiresAt)].compactMap(\.self).min()
  }

  /// The time of the next push that is set aside; nil if there is none.
  private var nextAlone: Date? { setAside.nextMoment.map { max($0, notAloneBefore) } }

  /// Reports that a push that was being sent has ended.
  ///
  /// - Parameter provesTopic: Whether the outcome shows that pushes to the topic can be sent.
  public mutating func ended(_ push: Ledger.UnfinishedPush, provesTopic: Bool = true) {
    let key = LineKey(push)
    guard lines[key]?.isSending == true, lines[key]?.waiting.first?.number == push.number else { return }
    lines[key]?.waiting.removeFirst()
    lines[key]?.isSending = false
    lines[key]?.notBefore = .distantPast
    count -= 1
    let topic = Topic(push)
    leave(push)
    let isResumed = provesTopic && pauses.removeValue(forKey: topic) != nil
    let wasTrial = trials[topic] == key
    if wasTrial { trials[topic] = nil }
    if isResumed || wasTrial { letGo(topic) }
    if lines[key]?.waiting.isEmpty == true { lines[key] = nil } else { makeReady(key) }
  }

  /// Reports that a push that was being sent must be sent again. The later pushes of its kind to its device wait for
  /// it. The schedule keeps the push as it is passed here, with its reason.
  ///
  /// - Parameter wasStarted: Whether there was an attempt. After an attempt, the push is an ordinary push again, even
  ///   if it was set aside or was a suspect. Without an attempt, it stays as it was.
  public mutating func retry(_ push: Ledger.UnfinishedPush, at moment: Date, wasStarted: Bool = true) {
    let key = LineKey(push)
    guard lines[key]?.isSending == true else { return }
    if !wasStarted, alone == push.number { return setAsideAgain(push, until: moment) }
    lines[key]?.waiting[0] = push
    if wasStarted { lines[key]?.waiting[0].starts = 0 }
    lines[key]?.isSending = false
    lines[key]?.notBefore = moment
    let topic = Topic(push)
    leave(push)
    if trials[topic] == key {
      trials[topic] = nil
      letGo(topic)
    }
    setAlarm(for: key, at: min(moment, push.expiresAt))
  }

  private mutating func setAsideAgain(_ push: Ledger.UnfinishedPush, until moment: Date) {
    let (key, topic) = (LineKey(push), Topic(push))
    leave(push)
    lines[key]?.waiting.removeFirst()
    lines[key]?.isSending = false
    if lines[key]?.waiting.isEmpty == true { lines[key] = nil } else { makeReady(key) }
    if trials[topic] == key {
      trials[topic] = nil
      letGo(topic)
    }
    setAside.add(push, until: moment)
  }

  /// Pauses a topic: nothing is sent to it before a time. Then one push is sent, and the others follow when it has
  /// succeeded.
  public mutating func pause(_ topic: Topic, until moment: Date) {
    pauses[topic] = max(pauses[topic] ?? .distantPast, moment)
  }

  /// Ends the pause of a topic, because a push to it has succeeded elsewhere.
  public mutating func resume(_ topic: Topic) {
    guard pauses.removeValue(forKey: topic) != nil else { return }
    trials[topic] = nil
    // The devices of pushes that were stopped wait until the same time as the topic, so their waiting times end too. A
    // device that itself asked for a wait is then tried once too early, and asks for a wait again.
    for (key, line) in lines where !line.isSending && line.waiting.first.map({ Topic($0) == topic }) ?? false {
      lines[key]?.notBefore = .distantPast
    }
    letGo(topic)
  }

  /// Returns whether a topic is paused at a time.
  public func isPaused(_ topic: Topic, at now: Date) -> Bool { pauses[topic].map { $0 > now } ?? false }

  /// Returns the number of pushes that wait for a topic. The time of the call grows with the number of devices that
  /// have pushes.
  public func waitingCount(of topic: Topic) -> Int {
    lines.values.reduce(0) { count, line in
      line.waiting.first.map { Topic($0) == topic } == true ? count + line.waiting.count : count
    }
  }

  /// Wakes the lines that waited for the end of a pause or of a trial.
  private mutating func letGo(_ topic: Topic) {
    for (key, line) in lines where line.waiting.first.map({ Topic($0) == topic }) ?? false { makeReady(key) }
  }
}
