// SPDX-License-Identifier: Apache-2.0

import Announcements
import PushMessages

/// The texts and options that iOS itself reads from the payload of a push. A local notification that replaces the push
/// needs them.
///
/// Any sender may set the payload, so a value of the wrong type counts as absent. The keys of localised texts, such as
/// `title-loc-key`, are not read; Crier sends none.
struct PushedTexts: Sendable, Hashable, Decodable {
  var title: String?
  var subtitle: String?
  var body: String?
  /// The number on the app's icon; 0 removes the number.
  var badge: Int?
  /// The group of notifications to which this one belongs: `aps.thread-id`.
  var thread: String?
  var category: String?
  var interruptionLevel: InterruptionLevel?
  /// The rank of the notification in iOS's notification summary, from 0 to 1.
  var relevanceScore: Double?
  var sound: Sound?

  init() {}

  private enum CodingKeys: String, CodingKey {
    case alert, badge, category, sound
    case thread = "thread-id"
    case level = "interruption-level"
    case score = "relevance-score"
  }

  /// Reads the key `aps`.
  init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    let alert = try? keys.decodeIfPresent(Alert.self, forKey: .alert)
    (title, subtitle, body) = (alert?.title, alert?.subtitle, alert?.body)
    badge = try? keys.decodeIfPresent(Int.self, forKey: .badge)
    thread = try? keys.decodeIfPresent(String.self, forKey: .thread)
    category = try? keys.decodeIfPresent(String.self, forKey: .category)
    interruptionLevel = (try? keys.decodeIfPresent(String.self, forKey: .level)).flatMap { .init(rawValue: $0) }
    relevanceScore = (try? keys.decodeIfPresent(Double.self, forKey: .score)).map { min(max($0, 0), 1) }
    sound = try? keys.decodeIfPresent(Sound.self, forKey: .sound)
  }

  /// The value of `aps.alert`: a string, which is the body, or an object.
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

  /// The value of `aps.sound`: a name, or the object of a critical alert.
  struct Sound: Sendable, Hashable, Decodable {
    var name: String
    var volume: Float?

    private enum CodingKeys: CodingKey { case name, critical, volume }

    init(from decoder: any Decoder) throws {
      if let name = try? decoder.singleValueContainer().decode(String.self) {
        self.name = name
        return
      }
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      name = (try? keys.decodeIfPresent(String.self, forKey: .name)) ?? "default"
      guard (try? keys.decodeIfPresent(Int.self, forKey: .critical)) == 1 else { return }
      let volume = (try? keys.decodeIfPresent(Float.self, forKey: .volume)) ?? 1
      self.volume = volume.isFinite ? min(max(volume, 0), 1) : 1
    }
  }
}
