// SPDX-License-Identifier: Apache-2.0

import DequeModule
public import Foundation
import HeapModule
public import Ledger

/// The decision which pushes are sent next.
///
/// The pushes to a device are sent one after the other, in the order of their numbers, so that an announcement never
/// overtakes an earlier one. A device that has to wait delays no other device. The devices take turns.
///
/// It is a value without a clock: the caller passes the time, sends what it gets, and reports what became of it.
public struct PushSchedule: Sendable {
  /// A device of an account.
  struct DeviceKey: Hashable, Sendable {
    var account: String
    var device: String
  }

  /// An app in an environment. All its pushes use one key and one server.
  public struct App: Hashable, Sendable {
    public var bundleID: String
    public var environment: NewDevice.Environment

    public init(bundleID: String, environment: NewDevice.Environment) {
      self.bundleID = bundleID
      self.environment = environment
    }
  }

  /// The pushes to a device.
  private struct Line {
    var waiting: Deque<Ledger.UnfinishedPush> = []
    /// Whether the first push is being sent.
    var isSending = false
    /// The time before which nothing is sent.
    var notBefore = Date.distantPast
    /// Whether the device is in ``ready``.
    var isReady = false
    /// The time of the device's latest alarm, which makes its earlier ones void.
    var alarm: Date?
  }

  private struct Alarm: Comparable {
    var at: Date
    var device: DeviceKey

    static func < (a: Alarm, b: Alarm) -> Bool { a.at < b.at }
  }

  private var lines: [DeviceKey: Line] = [:]
  /// The devices whose turn comes next.
  private var ready: Deque<DeviceKey> = []
  /// The times at which waiting devices are looked at again.
  private var alarms: Heap<Alarm> = []
  /// The apps to which nothing is sent before a time.
  private var pauses: [App: Date] = [:]
  /// The apps to which one push is being sent, to find out whether the app's fault is over.
  private var trials: [App: DeviceKey] = [:]

  /// The number of pushes that have not ended.
  public private(set) var count = 0
  /// The number of pushes that are being sent.
  public private(set) var underWay = 0

  public init() {}

  /// Adds a push. Add pushes in the order of their numbers.
  public mutating func add(_ push: Ledger.UnfinishedPush) {
    let key = DeviceKey(account: push.account, device: push.device)
    lines[key, default: Line()].waiting.append(push)
    count += 1
    makeReady(key)
  }

  private mutating func makeReady(_ key: DeviceKey) {
    guard let line = lines[key], !line.isSending, !line.isReady, !line.waiting.isEmpty else { return }
    lines[key]?.isReady = true
    ready.append(key)
  }

  /// The pushes to deal with now.
  public struct Turn: Sendable {
    /// The pushes to send, each to another device.
    public var send: [Ledger.UnfinishedPush] = []
    /// The pushes that are no longer news. They have left the schedule.
    public var expired: [Ledger.UnfinishedPush] = []
  }

  /// Returns the pushes whose turn it is.
  ///
  /// - Parameter room: The maximum number of pushes to send.
  public mutating func next(at now: Date, room: Int) -> Turn {
    while let alarm = alarms.min, alarm.at <= now {
      alarms.removeMin()
      guard lines[alarm.device]?.alarm == alarm.at else { continue }
      lines[alarm.device]?.alarm = nil
      makeReady(alarm.device)
    }
    var turn = Turn()
    while turn.send.count < room, let key = ready.popFirst() {
      lines[key]?.isReady = false
      dropExpired(key, at: now, into: &turn)
      guard let line = lines[key], let first = line.waiting.first else { continue }
      let app = App(bundleID: first.app, environment: first.environment)
      let pause = pauses[app].map { trials[app] == nil ? $0 : .distantFuture } ?? .distantPast
      let start = max(line.notBefore, pause)
      guard start <= now else {
        // The device is looked at again when it may send, or when its first push is no longer news. A device whose app
        // is on trial is looked at when the trial ends.
        setAlarm(for: key, at: min(start, first.expiresAt))
        continue
      }
      if pauses[app] != nil { trials[app] = key }
      lines[key]?.isSending = true
      underWay += 1
      turn.send.append(first)
    }
    return turn
  }

  private mutating func setAlarm(for key: DeviceKey, at moment: Date) {
    guard lines[key]?.alarm != moment else { return }
    lines[key]?.alarm = moment
    alarms.insert(Alarm(at: moment, device: key))
  }

  private mutating func dropExpired(_ key: DeviceKey, at now: Date, into turn: inout Turn) {
    while let first = lines[key]?.waiting.first, first.expiresAt <= now {
      lines[key]?.waiting.removeFirst()
      count -= 1
      turn.expired.append(first)
    }
    if lines[key]?.waiting.isEmpty == true, lines[key]?.isSending == false { lines[key] = nil }
  }

  /// The time at which ``next(at:room:)`` may have something to do, if nothing is added or reported before; nil for
  /// never.
  public var nextMoment: Date? { ready.isEmpty ? alarms.min?.at : .distantPast }

  /// Reports that a push that was being sent has ended.
  ///
  /// - Parameter provesApp: Whether the outcome shows that the app's pushes can be sent.
  public mutating func ended(_ push: Ledger.UnfinishedPush, provesApp: Bool = true) {
    let key = DeviceKey(account: push.account, device: push.device)
    guard lines[key]?.isSending == true, lines[key]?.waiting.first?.number == push.number else { return }
    lines[key]?.waiting.removeFirst()
    lines[key]?.isSending = false
    lines[key]?.notBefore = .distantPast
    count -= 1
    underWay -= 1
    let app = App(bundleID: push.app, environment: push.environment)
    let isResumed = provesApp && pauses.removeValue(forKey: app) != nil
    let wasTrial = trials[app] == key
    if wasTrial { trials[app] = nil }
    if isResumed || wasTrial { letGo(app) }
    if lines[key]?.waiting.isEmpty == true { lines[key] = nil } else { makeReady(key) }
  }

  /// Reports that a push that was being sent must be sent again. The later pushes to its device wait for it.
  public mutating func retry(_ push: Ledger.UnfinishedPush, at moment: Date) {
    let key = DeviceKey(account: push.account, device: push.device)
    guard lines[key]?.isSending == true else { return }
    lines[key]?.isSending = false
    lines[key]?.notBefore = moment
    underWay -= 1
    let app = App(bundleID: push.app, environment: push.environment)
    if trials[app] == key {
      trials[app] = nil
      letGo(app)
    }
    setAlarm(for: key, at: min(moment, push.expiresAt))
  }

  /// Sends nothing to an app before a time. Then one push is sent, and the others follow when it has succeeded.
  ///
  /// - Returns: Whether the app was not paused before.
  @discardableResult
  public mutating func pause(_ app: App, until moment: Date) -> Bool {
    let isNew = pauses[app] == nil
    pauses[app] = max(pauses[app] ?? .distantPast, moment)
    return isNew
  }

  /// Whether nothing is sent to an app for the moment.
  public func isPaused(_ app: App) -> Bool { pauses[app] != nil }

  /// Lets the devices that waited for the end of a pause or of a trial look at it.
  private mutating func letGo(_ app: App) {
    for (key, line) in lines where line.waiting.first?.app == app.bundleID { makeReady(key) }
  }
}
