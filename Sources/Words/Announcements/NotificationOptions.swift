// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How much a notification may disturb, with the values of `interruption-level`.
public enum InterruptionLevel: String, Sendable, Hashable, CaseIterable, Encodable {
  /// The notification is shown only in the list of notifications, without a sound. The screen stays dark.
  case passive
  /// The notification is shown as usual, but Focus and the notification summary may delay it.
  case active
  /// The notification is shown in spite of Focus and the summary. The app needs the entitlement for time-sensitive
  /// notifications.
  case timeSensitive = "time-sensitive"
  /// The notification is heard even when the phone is muted. The app needs the entitlement for critical alerts.
  case critical
}

/// The sender's wishes for the notification on a phone, besides its text and its sound: the keys of `aps` that iOS
/// reads, and `attachment-url` next to `aps`. A missing key is nil.
public struct NotificationOptions: Sendable, Hashable {
  /// The number on the app's icon; 0 removes it.
  public var badge: UInt32?
  /// The volume of a critical alert, in hundredths from 0 to 100; nil for any other notification.
  public var criticalVolume: Int?
  public var interruptionLevel: InterruptionLevel?
  /// The rank in the notification summary, in hundredths from 0 to 100.
  public var relevanceScore: Int?
  /// The thread under which iOS groups the notification.
  public var threadID: String?
  /// The `https` or `http` URL of a picture, sound or film to attach.
  public var attachmentURL: URL?

  public init() {}

  /// The longest thread id, in characters.
  static let longestThreadID = 128
  /// The longest URL of an attachment, in characters.
  static let longestAttachmentURL = 1_000
  /// The key beside `aps` that names the attachment.
  static let attachmentKey = "attachment-url"
}

extension PayloadDecoder {
  /// Reads the options of the notification from an APNs payload.
  ///
  /// - Returns: the options, and sentences for the report. There is a sentence if the payload does not ask for the
  ///   app's extension, and a sentence if it names a sound, which is not used.
  /// - Throws: `.fieldInvalid` for a value that iOS or APNs would refuse.
  static func notificationOptions(
    _ top: PayloadFields
  ) throws(AnnouncementError) -> (options: NotificationOptions, warnings: [String]) {
    guard let value = top.value("aps") else { return (NotificationOptions(), []) }
    guard case .object(let values) = value else { throw top.invalid("aps", value, "give an object") }
    let aps = top.fields("aps", values)
    var options = NotificationOptions()
    options.badge = try aps.integer("badge", in: 0...UInt32.max, "give 0 to \(UInt32.max); 0 removes the badge")
    options.criticalVolume = try criticalVolume(aps)
    options.interruptionLevel = try aps.choice("interruption-level", of: "an interruption level")
    options.relevanceScore = try hundredths(aps, "relevance-score")
    options.threadID = try aps.text("thread-id", atMost: NotificationOptions.longestThreadID)
    options.attachmentURL = try attachmentURL(top)
    return (options, (asksForExtension(aps) ? [] : [extensionWarning]) + (namesSound(aps) ? [soundWarning] : []))
  }

  private static let soundWarning =
    "aps.sound: the name is not used, because the phone plays the clip of the announcement"

  /// Whether the payload names a sound file. The name `default` does not count as a sound file.
  private static func namesSound(_ aps: PayloadFields) -> Bool {
    var value = aps.value("sound")
    if case .object(let values)? = value { value = aps.fields("sound", values).value("name") }
    guard case .string(let name)? = value else { return false }
    return name != "default"
  }

  private static let extensionWarning =
    "aps.mutable-content: was added, because without it iOS does not run the app's notification service extension"

  private static func asksForExtension(_ aps: PayloadFields) -> Bool {
    if case .number("1")? = aps.value("mutable-content") { true } else { false }
  }

  /// Returns the volume if the sound is an object with `critical` set. The name in the sound object is ignored, because
  /// the clip's name is always used.
  private static func criticalVolume(_ aps: PayloadFields) throws(AnnouncementError) -> Int? {
    guard case .object(let values)? = aps.value("sound") else { return nil }
    let sound = aps.fields("sound", values)
    let critical = try sound.integer("critical", in: 0...1, "give 1 for a critical alert, or leave it out")
    return critical == 1 ? try hundredths(sound, "volume") ?? 100 : nil
  }

  private static func hundredths(_ fields: PayloadFields, _ key: String) throws(AnnouncementError) -> Int? {
    guard let value = fields.value(key) else { return nil }
    guard case .number(let digits) = value, let number = Decimal(string: digits),
      let hundredths = Int((number * 100).description), (0...100).contains(hundredths)
    else {
      throw fields.invalid(key, value, "give a number from 0 to 1 with at most two digits after the point")
    }
    return hundredths
  }

  private static func attachmentURL(_ top: PayloadFields) throws(AnnouncementError) -> URL? {
    let key = NotificationOptions.attachmentKey
    guard let text = try top.text(key, atMost: NotificationOptions.longestAttachmentURL) else { return nil }
    guard let url = URL(string: text), ["https", "http"].contains(url.scheme?.lowercased()),
      url.host(percentEncoded: true)?.isEmpty == false
    else {
      throw AnnouncementError(
        .fieldInvalid, top.name(key), "is not a URL", remedy: "give a URL that begins with https:// or http://")
    }
    return url
  }
}
