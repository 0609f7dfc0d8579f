// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages

/// A push that is to be sent to a device.
public struct NewPush: Sendable {
  /// The id of a device of the account, 1 to 128 bytes.
  public var device: String
  public var kind: PushType
  /// 10, 5 or 1, as APNs defines them.
  public var priority: Int
  /// The value of `apns-collapse-id`, 1 to 64 bytes; nil for none.
  public var collapseID: String?
  /// The name of the clip that the phone fetches, 1 to 255 bytes; nil for none. The clip is kept until the push has
  /// ended.
  public var clip: String?
  /// The time from which the push has expired and is not sent any more.
  public var expiresAt: Date
  /// The JSON object that is sent.
  public var body: Body

  /// The body of a push: a JSON object of at most 4,096 bytes. Only the number in it differs from device to device, so
  /// the rest is made once for all devices.
  public struct Body: Sendable, Hashable {
    let beforeSequence: Data
    let afterSequence: Data
    private let hasSequence: Bool

    /// Creates a body without a number.
    public init(_ bytes: Data) { (beforeSequence, afterSequence, hasSequence) = (bytes, Data(), false) }

    /// Creates a body with a gap for the push's number among the announcements to its device.
    public init(beforeSequence: Data, afterSequence: Data) {
      (self.beforeSequence, self.afterSequence, hasSequence) = (beforeSequence, afterSequence, true)
    }

    /// Returns the bytes that are sent.
    ///
    /// - Parameter sequence: The number; nil for pushes other than alerts.
    package func bytes(sequence: Int64?) -> Data {
      guard hasSequence else { return beforeSequence }
      return beforeSequence + Data((sequence.map(String.init) ?? "null").utf8) + afterSequence
    }
  }

  public init(
    device: String, kind: PushType, priority: Int, collapseID: String? = nil, clip: String? = nil, expiresAt: Date,
    body: Body
  ) {
    self.device = device
    self.kind = kind
    self.priority = priority
    self.collapseID = collapseID
    self.clip = clip
    self.expiresAt = expiresAt
    self.body = body
  }

  /// The first rule that a value breaks; nil when the push can be stored. The body is checked when it is made.
  package var brokenRule: String? {
    if !isText(device, 1...128) { return "device (1 to 128 bytes without NUL)" }
    if ![10, 5, 1].contains(priority) { return "priority (10, 5 or 1)" }
    if !isText(collapseID, 1...64) { return "collapseID (1 to 64 bytes without NUL)" }
    if !isText(clip, 1...255) { return "clip (1 to 255 bytes without NUL)" }
    if expiresAt.wholeMilliseconds == nil { return "expiresAt (a date that the calendar can represent)" }
    return nil
  }

  /// Returns the rule that the bytes of a body break; nil when they can be stored.
  package static func brokenRule(ofBody bytes: Data) -> String? {
    bytes.count <= 4096 ? nil : "body (at most 4096 bytes)"
  }

  /// Returns the rule that the account of pushes breaks; nil if it breaks no rule.
  package static func brokenRule(ofAccount account: String) -> String? {
    account.hasZero ? "account (without NUL)" : nil
  }
}

extension Ledger {
  /// A push in the outbox.
  ///
  /// Every push ends in exactly one of the states `delivered`, `failed`, `expired` and `unregistered`.
  public struct Push: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable, Encodable {
      /// The push waits for its turn or for another attempt.
      case waiting
      /// The push is being sent. After a crash of the sender, it may have been sent.
      case sending
      /// APNs has accepted the push.
      case delivered
      /// APNs has refused the push permanently.
      case failed
      /// The push expired before APNs accepted it.
      case expired
      /// The device has no valid token.
      case unregistered

      /// Whether the state is one of the four final states.
      public var isFinal: Bool { self != .waiting && self != .sending }
    }

    /// Returns the rule that an outcome breaks; nil if it breaks no rule.
    ///
    /// - Parameter names: The account and the device of an outcome without a push.
    package static func brokenRule(ofOutcome state: State, reason: String?, names: [String] = []) -> String? {
      state.isFinal && isText(reason, 0...64) && !names.contains(where: \.hasZero)
        ? nil : "state (a final one) or reason (at most 64 bytes)"
    }

    /// Returns the reason of an outcome as a ledger stores it: its first 64 bytes.
    package static func stored(_ reason: String?) -> String? {
      reason.map { String(decoding: $0.utf8.prefix(64), as: UTF8.self) }
    }

    /// The number in the outbox. Numbers strictly increase.
    public let number: Int64
    /// The value of `apns-id`, the same in every attempt.
    public let id: UUID
    public let account: String
    public let device: String
    /// The id of the announcement; nil for a push without one.
    public let announcement: String?
    public let kind: PushType
    /// The bundle id and the environment that the device had when the push was accepted.
    public let app: String
    public let environment: PushEnvironment
    /// The number among the announcements to the device; nil for other pushes.
    public let sequence: Int64?
    public let priority: Int
    public let collapseID: String?
    public let body: Data
    public let state: State
    /// The last reason from APNs or the sender, such as `BadDeviceToken`; nil if there is none.
    public let reason: String?
    /// The number of times that the push was sent, or may have been sent.
    public let attempts: Int
    public let createdAt: Date
    public let expiresAt: Date
    public let finishedAt: Date?
    /// The time at which the phone handed the notification over to iOS, from the phone's receipt; nil without a
    /// receipt.
    public let handedOverAt: Date?
  }

  /// The facts about an unfinished push by which the sender decides when to send it.
  public struct UnfinishedPush: Sendable, Hashable {
    public let number: Int64
    public let account: String
    public let device: String
    /// The id of the announcement; nil when the push announces nothing.
    public let announcement: String?
    public let app: String
    public let environment: PushEnvironment
    public let kind: PushType
    public let createdAt: Date
    public var expiresAt: Date
    /// The reason why the last attempt did not succeed; nil if none is known.
    public var reason: String?
    /// Whether a sender was interrupted while it was sending the push.
    public let wasInterrupted: Bool
    /// The number of attempts that were begun since the last attempt that came to an end; see ``InterruptedWork``.
    public var starts: Int

    public init(
      number: Int64, account: String, device: String, announcement: String? = nil, app: String,
      environment: PushEnvironment, kind: PushType = .alert, createdAt: Date = .distantPast, expiresAt: Date,
      reason: String? = nil, wasInterrupted: Bool = false, starts: Int = 0
    ) {
      self.number = number
      self.account = account
      self.device = device
      self.announcement = announcement
      self.app = app
      self.environment = environment
      self.kind = kind
      self.createdAt = createdAt
      self.expiresAt = expiresAt
      self.reason = reason
      self.wasInterrupted = wasInterrupted
      self.starts = starts
    }
  }
}

extension Ledger.Push {
  package init(row: some StoredRow) throws {
    guard let id = UUID(uuidString: try row.value("apns_id")) else { throw UnreadableRow() }
    self.init(
      number: try row.value("number"), id: id, account: try row.value("account"), device: try row.value("device"),
      announcement: try row.optional("announcement"), kind: try row.name("kind"), app: try row.value("app"),
      environment: try row.name("environment"), sequence: try row.optional("sequence"),
      priority: try row.value("priority"), collapseID: try row.optional("collapse_id"), body: try row.value("body"),
      state: try row.name("state"), reason: try row.optional("reason"), attempts: try row.value("attempts"),
      createdAt: try row.value("created_at"), expiresAt: try row.value("expires_at"),
      finishedAt: try row.optional("finished_at"), handedOverAt: try row.optional("handed_over_at"))
  }
}

extension Ledger.UnfinishedPush {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), account: try row.value("account"), device: try row.value("device"),
      announcement: try row.optional("announcement"), app: try row.value("app"),
      environment: try row.name("environment"), kind: try row.name("kind"), createdAt: try row.value("created_at"),
      expiresAt: try row.value("expires_at"), reason: try row.optional("reason"),
      wasInterrupted: try row.name("state") == Ledger.Push.State.sending, starts: try row.value("starts"))
  }
}
