// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation

/// The payload of an alert push: what the user sees and hears, and what the service extension needs for the sound.
///
/// `docs/push.md` lists the keys with their readers, and the parts that are left out when a message is too large.
public struct AlertMessage: Sendable, Hashable {
  /// The sound that iOS plays unless the service extension replaces it.
  public struct Sound: Sendable, Hashable {
    /// The name of a sound file with its extension, or `default`.
    public let name: String
    /// The volume of a critical alert; nil for any other alert. Critical alerts need an entitlement from Apple.
    public let criticalVolume: Hundredths?

    /// The extensions of the files that iOS plays as a notification's sound (Apple, UNNotificationSound: aiff, wav and
    /// caf files). iOS adds no extension to a name, and plays the default sound if no file has the name.
    private static let extensions = [".wav", ".caf", ".aiff", ".aif", ".aifc"]

    /// - Throws: ``PushMessageError`` with `soundInvalid` unless the name is `default`, or a file name of 1 to 255
    ///   bytes with the extension of a sound that iOS plays.
    public init(_ name: String, criticalVolume: Hundredths? = nil) throws(PushMessageError) {
      guard (1...255).contains(name.utf8.count), !name.hasPrefix("."),
        !name.unicodeScalars.contains(where: { $0 == "/" || $0.properties.generalCategory == .control })
      else {
        throw PushMessageError(.soundInvalid, "must be a file name with its extension, such as cash.wav, or default")
      }
      guard name == "default" || Self.extensions.contains(where: { name.lowercased().hasSuffix($0) }) else {
        throw PushMessageError(
          .soundInvalid,
          "must be default, or have one of the extensions \(Self.extensions.joined(separator: ", ")), such as cash.wav; "
            + "iOS plays the default sound for a name without one")
      }
      self.name = name
      self.criticalVolume = criticalVolume
    }
  }

  public var title: String?
  public var subtitle: String?
  public var body: String?
  /// The number on the app's icon: 0 removes it, nil leaves it as it is.
  public var badge: UInt32?
  /// The sound; nil for a silent notification.
  public var sound: Sound?
  /// Whether iOS runs the service extension. If it does not, the phone plays ``sound`` at once, and the sounds of
  /// several pushes have no order.
  public var mutableContent: Bool
  /// The thread under which iOS groups the notification.
  public var threadID: String?
  public var interruptionLevel: InterruptionLevel?
  /// The rank of the notification in the summary of notifications.
  public var relevanceScore: Hundredths?
  /// A picture, sound or film that the extension attaches.
  public var attachmentURL: URL?
  /// The data for the service extension; nil for a push that Crier's extension does not handle.
  public var content: Content?

  public init(
    title: String? = nil, subtitle: String? = nil, body: String? = nil, badge: UInt32? = nil, sound: Sound? = nil,
    mutableContent: Bool = true, threadID: String? = nil, interruptionLevel: InterruptionLevel? = nil,
    relevanceScore: Hundredths? = nil, attachmentURL: URL? = nil, content: Content? = nil
  ) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.badge = badge
    self.sound = sound
    self.mutableContent = mutableContent
    self.threadID = threadID
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.attachmentURL = attachmentURL
    self.content = content
  }

  /// Returns the whole payload, of any size. Equal messages have equal bytes: the keys are sorted, and slashes are not
  /// escaped.
  public func encoded() -> Data { payloadData(Payload(self)) }
}

/// Returns a payload in JSON, with sorted keys, and without escaped slashes.
func payloadData(_ payload: some Encodable) -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return try encoder.encode(payload)
  } catch {
    // Not from outside: an encoder fails on values that JSON does not have, such as NaN. Payloads have only strings,
    // integers and finite decimals.
    preconditionFailure("a payload cannot be written: \(error)")
  }
}

/// The shape of the payload. Keys without a value are left out.
private struct Payload: Encodable {
  struct Notification: Encodable {
    var alert: Alert?
    var badge: UInt32?
    var interruptionLevel: InterruptionLevel?
    var mutableContent: Int?
    var relevanceScore: Hundredths?
    var sound: SoundValue?
    var threadID: String?

    enum CodingKeys: String, CodingKey {
      case alert, badge, sound
      case interruptionLevel = "interruption-level"
      case mutableContent = "mutable-content"
      case relevanceScore = "relevance-score"
      case threadID = "thread-id"
    }
  }

  struct Alert: Encodable {
    var body: String?
    var subtitle: String?
    var title: String?
  }

  /// A name, or the dictionary of a critical alert.
  struct SoundValue: Encodable {
    var sound: AlertMessage.Sound

    enum CodingKeys: String, CodingKey { case critical, name, volume }

    func encode(to encoder: any Encoder) throws {
      guard let volume = sound.criticalVolume else {
        var container = encoder.singleValueContainer()
        return try container.encode(sound.name)
      }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(1, forKey: .critical)
      try container.encode(sound.name, forKey: .name)
      try container.encode(volume, forKey: .volume)
    }
  }

  var aps: Notification
  var attachmentURL: URL?
  var crier: AlertMessage.Content?

  enum CodingKeys: String, CodingKey {
    case aps, crier
    case attachmentURL = "attachment-url"
  }

  init(_ message: AlertMessage) {
    aps = Notification(
      alert: Alert(body: message.body, subtitle: message.subtitle, title: message.title), badge: message.badge,
      interruptionLevel: message.interruptionLevel, mutableContent: message.mutableContent ? 1 : nil,
      relevanceScore: message.relevanceScore, sound: message.sound.map { SoundValue(sound: $0) },
      threadID: message.threadID)
    attachmentURL = message.attachmentURL
    crier = message.content
  }
}
