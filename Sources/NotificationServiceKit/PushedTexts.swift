// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What iOS itself reads from the payload of a push, for a local notification that stands for it.
///
/// The payload may come from any sender, so a value of another type counts as absent. Texts that iOS would look up in
/// the app by a key (`title-loc-key` and its like) are not read; Crier sends none.
struct PushedTexts: Sendable, Hashable {
  /// How the notification may interrupt the user: `aps.interruption-level`.
  enum InterruptionLevel: String, Sendable, Hashable, CaseIterable {
    case passive, active, critical
    case timeSensitive = "time-sensitive"
  }

  var title: String?
  var subtitle: String?
  var body: String?
  /// The number on the app's icon; 0 removes it.
  var badge: Int?
  /// The group of notifications to which this one belongs: `aps.thread-id`.
  var thread: String?
  var category: String?
  var interruptionLevel: InterruptionLevel?
  /// The rank in the notification summary, from 0 to 1.
  var relevanceScore: Double?

  /// - Parameter json: The whole payload. All values are absent if it is not a JSON object.
  init(_ json: Data) {
    guard let aps = (try? JSONDecoder().decode(Payload.self, from: json))?.aps else { return }
    title = aps.alert?.title
    subtitle = aps.alert?.subtitle
    body = aps.alert?.body
    badge = aps.badge
    thread = aps.thread
    category = aps.category
    interruptionLevel = aps.level.flatMap(InterruptionLevel.init)
    relevanceScore = aps.score.map { min(max($0, 0), 1) }
  }

  private struct Payload: Decodable {
    var aps: Notification?

    enum CodingKeys: CodingKey { case aps }

    init(from decoder: any Decoder) throws {
      aps = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Notification.self, forKey: .aps)
    }
  }

  private struct Notification: Decodable {
    var alert: Alert?
    var badge: Int?
    var thread: String?
    var category: String?
    var level: String?
    var score: Double?

    enum CodingKeys: String, CodingKey {
      case alert, badge, category
      case thread = "thread-id"
      case level = "interruption-level"
      case score = "relevance-score"
    }

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      alert = try? keys.decodeIfPresent(Alert.self, forKey: .alert)
      badge = try? keys.decodeIfPresent(Int.self, forKey: .badge)
      thread = try? keys.decodeIfPresent(String.self, forKey: .thread)
      category = try? keys.decodeIfPresent(String.self, forKey: .category)
      level = try? keys.decodeIfPresent(String.self, forKey: .level)
      score = try? keys.decodeIfPresent(Double.self, forKey: .score)
    }
  }

  /// `aps.alert`: a text, which is the body, or an object.
  private struct Alert: Decodable {
    var title: String?
    var subtitle: String?
    var body: String?

    enum CodingKeys: CodingKey { case title, subtitle, body }

    init(from decoder: any Decoder) throws {
      if let text = try? decoder.singleValueContainer().decode(String.self) {
        body = text
        return
      }
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      title = try? keys.decodeIfPresent(String.self, forKey: .title)
      subtitle = try? keys.decodeIfPresent(String.self, forKey: .subtitle)
      body = try? keys.decodeIfPresent(String.self, forKey: .body)
    }
  }
}
