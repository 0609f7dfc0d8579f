// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation

/// The event that a message reports. It contains no amounts, names or tokens.
public struct WebhookEvent: Sendable, Hashable {
  /// The types of events, as a message names them.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A request was answered: the announcement's clip exists.
    case rendered = "announcement.rendered"
    /// A request about a pending payment was answered. This event comes instead of ``rendered``, so that nobody takes
    /// the payment for money that has arrived.
    case pending = "announcement.pending"
    /// The announcement was played to its end.
    case played = "announcement.played"
    /// Apple's push service has accepted the announcement for a device.
    case pushed = "announcement.pushed"
    /// The announcement cannot be played, or cannot be pushed to a device.
    case failed = "announcement.failed"
    /// The announcement expired before it could be played or pushed.
    case expired = "announcement.expired"
    /// The announcement's turn came in quiet hours, so it was not played.
    case quiet = "announcement.quiet"
    /// The alarm "the sound device is lost" has begun or ended.
    case deviceLost = "player.device_lost"
    /// The alarm "the player is paused" has begun or ended.
    case playerPaused = "player.paused"
    /// The alarm "many announcements wait" has begun or ended.
    case queueLong = "queue.long"
    /// The alarm "APNs cannot be reached" has begun or ended.
    case pushUnreachable = "push.unreachable"
    /// The alarm "the shop gets no payments" has begun or ended.
    case shopSilent = "shop.silent"
    /// Nothing has happened: somebody asked for a test of the endpoint.
    case ping = "test.ping"

    /// The types that an endpoint can be registered for. Every endpoint gets `test.ping`.
    public static let registrable = allCases.filter { $0 != .ping }
  }

  public var kind: Kind
  /// The time at which the event happened.
  public var at: Date
  /// The announcement's id; nil for a test and for an alarm.
  public var announcement: String?
  /// The delivery that the event is about; nil for a test and for an alarm.
  public var delivery: AnnouncementRequest.Delivery?
  /// Codes and numbers, such as `["code": "no_voice"]`.
  public var detail: [String: String]

  /// The way in which a message contains the ``detail``.
  public enum Format: Int, Sendable, Hashable, CaseIterable {
    /// All values are texts: `"cached":"false"`. Endpoints that earlier versions registered get this format.
    case texts = 1
    /// Numbers and booleans are written as such: `"cached":false`.
    case typed = 2
  }

  public init(
    _ kind: Kind, at: Date, announcement: String? = nil, delivery: AnnouncementRequest.Delivery? = nil,
    detail: [String: String] = [:]
  ) {
    self.kind = kind
    self.at = at
    self.announcement = announcement
    self.delivery = delivery
    self.detail = detail
  }

  private struct Body: Encodable {
    struct Facts: Encodable {
      var id: String?
      var delivery: String?
      var detail: [String: Value]
    }
    var type: String
    var timestamp: String
    var data: Facts
  }

  /// The value of a detail in a message.
  private enum Value: Encodable {
    case text(String)
    case number(Int64)
    case boolean(Bool)

    init(_ text: String, of key: String, _ format: Format) {
      self = .text(text)
      guard format == .typed else { return }
      if WebhookEvent.numbers.contains(key), let number = Int64(text) { self = .number(number) }
      if WebhookEvent.booleans.contains(key), let boolean = Bool(text) { self = .boolean(boolean) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number): try container.encode(number)
      case .boolean(let boolean): try container.encode(boolean)
      }
    }
  }

  /// The details that are numbers, and those that are booleans.
  private static let numbers: Set<String> = ["by", "duration_ms", "waiting"]
  private static let booleans: Set<String> = ["cached"]

  /// Returns the body of the event's message as JSON.
  public func body(_ format: Format) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(
      Body(
        type: kind.rawValue, timestamp: at.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
        data: Body.Facts(
          id: announcement, delivery: delivery?.rawValue,
          detail: detail.reduce(into: [:]) { $0[$1.key] = Value($1.value, of: $1.key, format) })))
  }
}
