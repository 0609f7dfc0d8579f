// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The announcements that a device missed.
public struct CaughtUp: Sendable, Hashable {
  /// The announcements in the order of their sequence numbers.
  public var announcements: [CaughtUpAnnouncement]
  /// The highest sequence number that the service has given to an announcement for this device.
  public var lastSequence: Int64
  /// Whether the service has no more announcements. If it has more, ask again after the last sequence number.
  public var isComplete: Bool
}

/// An announcement that was pushed to the device.
public struct CaughtUpAnnouncement: Sendable, Hashable {
  /// The outcome of the push.
  public enum State: Sendable, Hashable {
    case waiting, sending
    /// Apple's push service accepted the push. Whether the phone received it is not known.
    case delivered
    case failed, expired, unregistered
    /// A state that this version does not know.
    case other(String)

    init(_ text: String) {
      let known: [String: State] = [
        "waiting": .waiting, "sending": .sending, "delivered": .delivered, "failed": .failed, "expired": .expired,
        "unregistered": .unregistered,
      ]
      self = known[text] ?? .other(text)
    }
  }

  /// The announcement's sequence number for this device. The number of each announcement is one higher than the number
  /// of the announcement before.
  public var sequence: Int64
  /// The announcement's id; nil if the push belongs to no announcement that the service stored.
  public var id: String?
  public var state: State
  /// The JSON object of the push, byte for byte.
  public var payload: Data
}

/// A page of missed announcements.
struct CaughtUpPage {
  var announcements: [CaughtUpAnnouncement]
  var lastSequence: Int64

  private struct Answer: Decodable {
    struct Announcement: Decodable {
      var sequence: Int64
      var id: String?
      var state: String
    }

    var announcements: [Announcement]
    var lastSequence: Int64

    enum CodingKeys: String, CodingKey {
      case announcements
      case lastSequence = "last_sequence"
    }
  }

  /// Reads an answer; nil if it does not have the documented form, or if its sequence numbers do not rise from
  /// `sequence`.
  init?(_ data: Data, after sequence: Int64) {
    guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else { return nil }
    let text = JSONText(data)
    guard let list = text.whole.flatMap({ text.member("announcements", of: $0) }),
      let places = text.elements(of: list), places.count == answer.announcements.count
    else { return nil }
    announcements = []
    lastSequence = answer.lastSequence
    var last = sequence
    for (announcement, place) in zip(answer.announcements, places) {
      guard announcement.sequence > last, let payload = text.member("payload", of: place), text.isObject(payload)
      else { return nil }
      last = announcement.sequence
      announcements.append(
        CaughtUpAnnouncement(
          sequence: last, id: announcement.id, state: CaughtUpAnnouncement.State(announcement.state),
          payload: text.data(payload)))
    }
  }
}
