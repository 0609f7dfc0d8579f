// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a backend asks of the service: an announcement, how it is to be made, and where it is to go.
///
/// It is a payload, or `{"text": "…", "locale": "…"}`, with the keys of ``optionKeys`` beside it at the top level.
public struct AnnouncementRequest: Sendable, Hashable {
  /// Where an announcement goes.
  public enum Delivery: String, Sendable, Hashable, CaseIterable {
    /// Into the sound library.
    case clip
    /// To the speaker of the machine that the service runs on.
    case play
    /// To a phone.
    case push
  }

  /// How the clip is to be made. What a request does not say is nil; names are as they were written.
  public struct Options: Sendable, Hashable {
    public var method: String?
    public var voice: String?
    /// Words a minute.
    public var rate: Int?
    public var pack: String?
    public var format: String?
    public var encoding: String?
    public var group: String?

    public init() {}
  }

  public var announcement: Announcement
  /// The payment's, or the text's where it has one.
  public var id: String?
  public var deliver: Set<Delivery>
  public var device: String?
  public var options: Options
  /// Which keys nobody reads, in sentences for the report.
  public var warnings: [String] = []
  /// What the sender's key has for what the request does not say.
  public var defaults: Defaults

  /// What a key has for requests that leave it out.
  public struct Defaults: Sendable, Hashable {
    public var locale: String?
    public var pack: String?
    public var group: String?

    public init(locale: String? = nil, pack: String? = nil, group: String? = nil) {
      self.locale = locale
      self.pack = pack
      self.group = group
    }

    public var isEmpty: Bool { self == Defaults() }
  }

  /// The top-level keys beside the payload.
  public static let optionKeys = [
    "deliver", "device", "method", "voice", "rate", "pack", "format", "encoding", "group",
  ]
}

extension PayloadDecoder {
  /// Under this key a stored request has its defaults.
  static let defaultsKey = "crier:defaults"

  /// The most bytes that defaults add to a request: three texts of 255 bytes, each of which JSON may write as six.
  static let largestDefaults = 3 * 255 * 6 + 256

  /// Reads a request as it is sent; a payment must have an id.
  ///
  /// - Parameter unknownKeys: what is made of keys that nobody reads.
  /// - Parameter data: UTF-8 JSON, at most 64 KiB, at most 16 levels deep.
  /// - Throws: an error that names the field, the shape of what it held, and what would be right.
  public static func request(
    _ data: Data, unknownKeys: UnknownKeys = .warn
  ) throws(AnnouncementError) -> AnnouncementRequest {
    let top = try fields(of: data)
    // It would pass for what the sender's key has.
    guard top.values[defaultsKey] == nil else {
      throw AnnouncementError(.fieldInvalid, defaultsKey, "is the service's own", remedy: "leave it out")
    }
    return try request(top, unknownKeys)
  }

  /// Reads a request as ``stored(_:defaults:)`` has it: longer by that. What an earlier version accepted under other rules
  /// is read too, because it is to be announced.
  ///
  /// - Throws: as ``request(_:unknownKeys:)``.
  public static func storedRequest(_ data: Data) throws(AnnouncementError) -> AnnouncementRequest {
    var top = try fields(of: data, atMost: largestBytes + largestDefaults)
    top.wasAccepted = true
    return try request(top, .warn)
  }

  private static func request(
    _ top: PayloadFields, _ treatment: UnknownKeys
  ) throws(AnnouncementError) -> AnnouncementRequest {
    let warnings = try unknownKeys(
      of: top, in: Surroundings(options: AnnouncementRequest.optionKeys, allowsText: true), treatment)
    let announcement: Announcement
    var id: String?
    if let text = try text(top) {
      announcement = text
      id = try identifier(top)
    } else {
      announcement = try self.announcement(top)
      if case .payment(let payment) = announcement { id = payment.id } else { id = try identifier(top) }
    }
    return AnnouncementRequest(
      announcement: announcement, id: id, deliver: try deliveries(top), device: try top.text("device", atMost: 128),
      options: try options(top), warnings: warnings, defaults: try defaults(top))
  }

  /// A request with what its sender's key has beside it, so that it means the same whenever it is read, whatever
  /// becomes of the key. Everything else stays, byte for byte.
  ///
  /// - Parameter request: that ``request(_:unknownKeys:)`` reads.
  public static func stored(_ request: Data, defaults: AnnouncementRequest.Defaults) -> Data {
    guard !defaults.isEmpty, let start = request.firstIndex(of: UInt8(ascii: "{")) else { return request }
    let values = [("group", defaults.group), ("locale", defaults.locale), ("pack", defaults.pack)]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings encode.
    guard
      let object = try? encoder.encode(
        Dictionary(uniqueKeysWithValues: values.compactMap { k, v in v.map { (k, $0) } }))
    else { return request }
    return request[...start] + Data("\"\(defaultsKey)\":".utf8) + object + Data(",".utf8) + request[(start + 1)...]
  }

  private static func deliveries(
    _ top: PayloadFields
  ) throws(AnnouncementError) -> Set<AnnouncementRequest.Delivery> {
    let remedy =
      "it is an array of one or more of "
      + AnnouncementRequest.Delivery.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    guard let value = top.value("deliver") else { return [.clip] }
    guard case .array(let elements) = value, !elements.isEmpty else { throw top.invalid("deliver", value, remedy) }
    var deliveries: Set<AnnouncementRequest.Delivery> = []
    for element in elements {
      guard case .string(let name) = element, name.utf8.count <= 16,
        let delivery = AnnouncementRequest.Delivery(rawValue: name)
      else {
        throw AnnouncementError(.fieldInvalid, "deliver", "has an element that is none", remedy: remedy)
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
    if let rate = try top.integer("rate") {
      guard let rate = Int(exactly: rate), (80...450).contains(rate) else {
        throw AnnouncementError(.fieldInvalid, "rate", "is out of range", remedy: "give 80 to 450 words a minute")
      }
      options.rate = rate
    }
    return options
  }

  private static func defaults(_ top: PayloadFields) throws(AnnouncementError) -> AnnouncementRequest.Defaults {
    guard case .object(let values)? = top.value(defaultsKey) else { return AnnouncementRequest.Defaults() }
    let fields = PayloadFields(path: defaultsKey, values: values, wasAccepted: true)
    return AnnouncementRequest.Defaults(
      locale: try fields.text("locale", atMost: 64), pack: try fields.text("pack", atMost: 64),
      group: try fields.text("group", atMost: 155))
  }
}
