// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A backend's request to the service: an announcement, how to render it, and where to deliver it.
///
/// The JSON is a payload, or `{"text": "…", "locale": "…"}`. The keys of ``optionKeys`` may stand at its top level. If
/// the payload has the key `aps`, the key `locale` next to it sets the language of the alert.
public struct AnnouncementRequest: Sendable, Hashable {
  /// A destination of an announcement.
  public enum Delivery: String, Sendable, Hashable, CaseIterable {
    /// The sound library.
    case clip
    /// The speaker of the machine that runs the service.
    case play
    /// A phone.
    case push
  }

  /// How to render the clip. An option that the request leaves out is `nil`. Names are spelled as in the request.
  public struct Options: Sendable, Hashable {
    public var method: String?
    public var voice: String?
    /// The speaking rate in words per minute.
    public var rate: Int?
    public var pack: String?
    public var format: String?
    public var encoding: String?
    /// The sample rate of the clip in Hz.
    public var sampleRate: Int?
    public var group: String?

    public init() {}
  }

  public var announcement: Announcement
  /// The id of the payment or of the text. A text need not have an id.
  public var id: String?
  public var deliver: Set<Delivery>
  public var device: String?
  public var options: Options
  /// The options of the notification. Only a request with the delivery `push` has such options.
  public var notification = NotificationOptions()
  /// Sentences for the report: one for each key that the decoder does not know, and the sentences of other warnings.
  public var warnings: [String] = []

  /// The defaults that an API key supplies for options that a request leaves out.
  public struct Defaults: Sendable, Hashable {
    public var locale: String?
    public var pack: String?
    public var group: String?

    public init(locale: String? = nil, pack: String? = nil, group: String? = nil) {
      self.locale = locale
      self.pack = pack
      self.group = group
    }
  }

  /// The top-level keys that may stand beside the payload.
  public static let optionKeys = [
    "deliver", "device", "method", "voice", "rate", "pack", "format", "encoding", "sample_rate",
    "group",
  ]
}

extension PayloadDecoder {
  /// Reads a request as a backend sends it. A payment must have an id.
  ///
  /// - Parameters:
  ///   - data: UTF-8 JSON, at most 64 KiB and at most 16 levels deep.
  ///   - unknownKeys: whether unknown keys are an error or a warning.
  /// - Throws: an `AnnouncementError` that names the field, the shape of its value, and a correct value.
  public static func request(
    _ data: Data, unknownKeys: UnknownKeys = .warn
  ) throws(AnnouncementError) -> AnnouncementRequest {
    try request(try fields(of: data), unknownKeys)
  }

  /// Reads a request for a preview. A payment needs no id, and a preview is never delivered.
  ///
  /// - Throws: the errors of ``request(_:unknownKeys:)``, and `.fieldUnknown` for ``deliveryKeys``.
  public static func previewRequest(
    _ data: Data, unknownKeys: UnknownKeys = .warn
  ) throws(AnnouncementError) -> AnnouncementRequest {
    let top = try fields(of: data)
    if let key = deliveryKeys.first(where: { top.value($0) != nil }) {
      throw AnnouncementError(
        .fieldUnknown, key, "is not a key of a preview, which is never delivered",
        remedy: "remove it, or send an announcement")
    }
    return try request(top, unknownKeys, requiresID: false)
  }

  /// The keys that say where to deliver an announcement.
  private static let deliveryKeys = ["deliver", "device"]

  /// Reads a request that the service accepted earlier. Even if an earlier version of the program accepted the request
  /// under other rules, it can be read, because it must still be announced.
  ///
  /// - Throws: the same errors as ``request(_:unknownKeys:)``.
  public static func storedRequest(_ data: Data) throws(AnnouncementError) -> AnnouncementRequest {
    var top = try fields(of: data)
    top.wasAccepted = true
    return try request(top, .warn)
  }

  private static func request(
    _ top: PayloadFields, _ treatment: UnknownKeys, requiresID: Bool = true
  ) throws(AnnouncementError) -> AnnouncementRequest {
    var known = AnnouncementRequest.optionKeys
    let namesPush = namesPush(top)
    if namesPush, top.value("aps") != nil { known.append(NotificationOptions.attachmentKey) }
    let surroundings = Surroundings(options: known, allowsText: true)
    do throws(AnnouncementError) {
      return try request(top, treatment, surroundings, requiresID: requiresID, namesPush: namesPush)
    } catch {
      var faults = PayloadFaults(error)
      faults.read { () throws(AnnouncementError) in try unknownKeys(of: top, in: surroundings, treatment) }
      faults.read { () throws(AnnouncementError) in
        if try text(top) == nil { _ = try announcement(top, requiresID: requiresID) } else { _ = try identifier(top) }
      }
      faults.read { () throws(AnnouncementError) in try deliveries(top) }
      if namesPush { faults.read { () throws(AnnouncementError) in try notificationOptions(top).0 } }
      faults.read { () throws(AnnouncementError) in try top.text("device", atMost: 128) }
      faults.read { () throws(AnnouncementError) in try options(top) }
      throw faults.error
    }
  }

  private static func request(
    _ top: PayloadFields, _ treatment: UnknownKeys, _ surroundings: Surroundings, requiresID: Bool, namesPush: Bool
  ) throws(AnnouncementError) -> AnnouncementRequest {
    var warnings = try unknownKeys(of: top, in: surroundings, treatment)
    let announcement: Announcement
    var id: String?
    if let text = try text(top) {
      announcement = text
      id = try identifier(top)
    } else {
      let decoded = try self.announcement(top, requiresID: requiresID)
      if case .text(let alert, _) = decoded {
        announcement = .text(alert, locale: try alertLocale(top))
      } else {
        announcement = decoded
      }
      if case .payment(let payment) = announcement { id = payment.id } else { id = try identifier(top) }
    }
    let deliver = try deliveries(top)
    var notification = NotificationOptions()
    // The notification of an accepted request is in the outbox already.
    if namesPush, !top.wasAccepted {
      let more: [String]
      (notification, more) = try notificationOptions(top)
      warnings += more
    }
    return AnnouncementRequest(
      announcement: announcement, id: id, deliver: deliver, device: try top.text("device", atMost: 128),
      options: try options(top), notification: notification, warnings: warnings)
  }

  /// Returns the locale in which an alert is spoken.
  private static func alertLocale(_ top: PayloadFields) throws(AnnouncementError) -> String? {
    // Earlier versions accepted any value, because they ignored the key.
    if top.wasAccepted { return try? top.text("locale", atMost: 64) }
    return try top.text("locale", atMost: 64)
  }

  /// Returns whether one of the deliveries is `push`. The deliveries have not been validated yet.
  private static func namesPush(_ top: PayloadFields) -> Bool {
    guard case .array(let elements)? = top.value("deliver") else { return false }
    return elements.contains { element in
      if case .string(let name) = element { name == AnnouncementRequest.Delivery.push.rawValue } else { false }
    }
  }

  private static func deliveries(
    _ top: PayloadFields
  ) throws(AnnouncementError) -> Set<AnnouncementRequest.Delivery> {
    let remedy =
      "give an array with one or more of "
      + AnnouncementRequest.Delivery.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    guard let value = top.value("deliver") else { return [.clip] }
    guard case .array(let elements) = value else { throw top.invalid("deliver", value, remedy) }
    guard !elements.isEmpty else {
      throw AnnouncementError(.fieldInvalid, "deliver", "is an empty array", remedy: remedy)
    }
    var deliveries: Set<AnnouncementRequest.Delivery> = []
    for element in elements {
      guard case .string(let name) = element, name.utf8.count <= 16,
        let delivery = AnnouncementRequest.Delivery(rawValue: name)
      else {
        throw AnnouncementError(.fieldInvalid, "deliver", "has an unknown element", remedy: remedy)
      }
      deliveries.insert(delivery)
    }
    return deliveries
  }

  private static func options(_ top: PayloadFields) throws(AnnouncementError) -> AnnouncementRequest.Options {
    var options = AnnouncementRequest.Options()
    options.method = try top.text("method", atMost: 32)
    options.voice = try top.text("voice", atMost: 64)
    options.pack = try top.text("pack", atMost: 64)
    options.format = try top.text("format", atMost: 32)
    options.encoding = try top.text("encoding", atMost: 32)
    options.group = try top.text("group", atMost: 155)
    options.rate = try top.integer("rate", in: 80...450, "give 80 to 450 words a minute")
    options.sampleRate = try top.integer("sample_rate", in: 8_000...48_000, "give 8000 to 48000 Hz")
    return options
  }
}
