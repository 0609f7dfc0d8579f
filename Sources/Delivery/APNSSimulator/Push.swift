// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A push that the simulator accepted.
public struct Push: Sendable {
  /// The number of the push, from 1, in the order of acceptance.
  public let number: Int
  /// The value of `apns-id`, or the id that the simulator made.
  public let id: UUID
  /// The device's token, in lowercase hexadecimal digits.
  public let device: String
  public let topic: String
  /// The value of `apns-push-type`; if it was missing, the type that follows from the topic and the payload.
  public let type: String
  /// Whether the request had `apns-push-type`.
  public let namesType: Bool
  /// The priority: 10, 5 or 1.
  public let priority: Int
  /// The value of `apns-expiration`, in seconds since 1970. `nil` if it was missing.
  public let expiration: Int64?
  public let collapseID: String?
  public let payload: [UInt8]
  /// The time of acceptance, in milliseconds since 1970.
  public let received: Int64
  /// The time of delivery, in milliseconds since 1970. `nil` if the push is not delivered.
  public internal(set) var delivered: Int64?

  /// Whether the push has expired, so that it must not be delivered. A push with the expiration 0 is delivered at once
  /// or never.
  func isExpired(at now: Int64) -> Bool {
    guard let expiration, expiration > 0 else { return false }
    return expiration * 1000 <= now
  }
}

/// A push that the simulator refused, or that a fault affected.
public struct RefusedPush: Sendable, Equatable {
  /// The status of the answer; `nil` if a fault left the request without an answer.
  public let status: Int?
  /// The reason of the answer, or the name of the fault: `goaway`, `reset`, `close` or `never`.
  public let reason: String
  /// The device's token, as the path has it.
  public let device: String
  /// The value of `apns-topic`.
  public let topic: String?
  /// The value of `apns-push-type`.
  public let type: String?
  /// Whether the cause was a fault of ``APNSSimulator/Configuration/faults``. The push may be right, and even accepted,
  /// if the fault happens after its processing.
  public let isFault: Bool
}

/// The record of a push. Two requests with the same id are one push.
public struct RecordedPush: Sendable, Equatable {
  public enum Fate: String, Sendable {
    /// The device got the push.
    case delivered
    /// The push waits for the next push, with which it changes places.
    case held
    /// The push waits until the device is back.
    case waiting
    /// A newer push took the place of this push while the device was away.
    case replaced
    /// The push expired before the device was back, or the device was away and the push had the expiration 0.
    case expired
    /// The push was lost on purpose (``APNSSimulator/Configuration/dropRate``).
    case dropped
  }

  /// The device's token, in lowercase hexadecimal digits.
  public let device: String
  /// The number of accepted requests with this id.
  public internal(set) var accepted = 0
  /// The number of deliveries of this id.
  public internal(set) var delivered = 0
  /// The fate of the last request with this id.
  public internal(set) var fate = Fate.delivered
}

/// The counters of a simulator.
public struct Counts: Sendable, Equatable {
  public internal(set) var connections = 0
  /// All requests, including those with a fault before they were processed.
  public internal(set) var requests = 0
  /// Accepted requests. Those with an id that was accepted before are included.
  public internal(set) var accepted = 0
  /// Accepted requests with an id that was accepted before.
  public internal(set) var duplicates = 0
  public internal(set) var delivered = 0
  public internal(set) var dropped = 0
  /// Pushes that changed places with the push after them.
  public internal(set) var reordered = 0
  /// Refused requests, by reason. Answers of faults are not included.
  public internal(set) var refused: [String: Int] = [:]
  /// Faults, by their name: the status and reason, `delay`, `goaway`, `reset`, `close` or `never`.
  public internal(set) var faults: [String: Int] = [:]
}
