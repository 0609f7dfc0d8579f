// SPDX-License-Identifier: Apache-2.0

import Announcements
import PushMessages

/// What iOS itself reads from the payload of a push, such as for a local notification that stands for it.
///
/// The payload may come from any sender, so a value of another type counts as absent. Texts that iOS would look up in
/// the app by a key (`title-loc-key` and its like) are not read; Crier sends none.
struct PushedTexts: Sendable, Hashable, Decodable {
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

  /// `aps.sound`: a name, or the object of a critical alert.
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
