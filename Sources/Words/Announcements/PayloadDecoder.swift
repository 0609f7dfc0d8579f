// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The result of decoding a payload.
public struct DecodedPayload: Sendable, Hashable {
  public var announcement: Announcement

  /// Sentences for the report, one for each key that the decoder does not know.
  public var warnings: [String]

  public init(announcement: Announcement, warnings: [String] = []) {
    self.announcement = announcement
    self.warnings = warnings
  }
}

/// Turns the bytes of a payload into an announcement, by the JSON contract of `docs/payload.md`.
///
/// A payload has one of three forms: a bare payment, an APNs payload with the key `payment`, or an APNs payload without
/// that key. The third form is spoken as text, which comes from `aps.alert` or from its `title` and `body`.
public enum PayloadDecoder {
  /// Reads a payload.
  ///
  /// - Parameter data: UTF-8 JSON, at most 64 KiB and at most 16 levels deep.
  /// - Throws: an `AnnouncementError` that names the field, the shape of its value, and a correct value.
  public static func decode(_ data: Data) throws(AnnouncementError) -> Announcement {
    try payload(data).announcement
  }

  /// Reads a payload, and returns a warning for each unknown key.
  ///
  /// - Parameter data: UTF-8 JSON, at most 64 KiB and at most 16 levels deep.
  /// - Throws: the same errors as ``decode(_:)``.
  public static func payload(
    _ data: Data, unknownKeys treatment: UnknownKeys = .warn
  ) throws(AnnouncementError) -> DecodedPayload {
    let top = try fields(of: data)
    do throws(AnnouncementError) {
      let warnings = try unknownKeys(of: top, in: Surroundings(), treatment)
      return DecodedPayload(announcement: try announcement(top), warnings: warnings)
    } catch {
      var faults = PayloadFaults(error)
      faults.read { () throws(AnnouncementError) in try announcement(top) }
      throw faults.error
    }
  }

  /// Reads any JSON value by the rules of a payload: strict JSON in UTF-8, without repeated keys, and within the
  /// limits.
  ///
  /// - Throws: `.payloadTooLarge` or `.payloadMalformed`.
  package static func value(of data: Data) throws(AnnouncementError) -> PayloadValue {
    try PayloadParser.value(of: [UInt8](data))
  }

  /// Reads a bare payment that stands inside another message, by the rules of a payload.
  ///
  /// - Parameter path: The path of the payment in the message, for errors: `data`.
  /// - Throws: the same errors as ``decode(_:)``.
  package static func payment(
    _ values: [String: PayloadValue], path: String
  ) throws(AnnouncementError) -> Payment {
    let fields = PayloadFields(path: path, values: values)
    _ = try unknownKeys(of: fields, in: Surroundings(), .warn)
    return try payment(fields, true)
  }

  /// Returns the fields of the payload's object.
  static func fields(of data: Data) throws(AnnouncementError) -> PayloadFields {
    let value = try value(of: data)
    guard case .object(let values) = value else {
      throw AnnouncementError(
        .payloadMalformed, "payload", "is \(value.shape)",
        remedy: "send one JSON object: a payment, or an APNs payload")
    }
    return PayloadFields(path: "", values: values)
  }

  /// Reads the announcement of a payload.
  ///
  /// - Parameter requiresID: whether a payment without an id is refused.
  static func announcement(
    _ top: PayloadFields, requiresID: Bool = true
  ) throws(AnnouncementError) -> Announcement {
    if let payment = top.value("payment") {
      guard case .object(let fields) = payment else {
        throw top.invalid("payment", payment, "give an object with id, amount and currency")
      }
      return .payment(try self.payment(top.fields("payment", fields), requiresID))
    }
    if let aps = top.value("aps") {
      return .text(try alertText(aps, top), locale: nil)
    }
    return .payment(try payment(top, requiresID))
  }

  private static func payment(_ fields: PayloadFields, _ requiresID: Bool) throws(AnnouncementError) -> Payment {
    do throws(AnnouncementError) {
      let id = try identifier(fields, requiresID)
      let currency = try currency(fields)
      return Payment(
        id: id, amount: try amount(fields, currency), kind: try kind(fields),
        channel: try fields.text("channel", atMost: Payment.longestChannel),
        payer: try fields.text("payer", atMost: Payment.longestPayer),
        payerReading: try fields.text("payer_reading", atMost: Payment.longestPayer),
        note: try fields.text("note", atMost: Payment.longestNote),
        locale: try fields.text("locale", atMost: 64),
        refundOf: try refundOf(fields),
        sequence: try fields.integer("sequence"),
        occurredAt: try date(fields))
    } catch {
      throw faults(ofPayment: fields, requiresID, after: error)
    }
  }

  /// Returns the fault for which a payment is refused, with the faults of its other keys.
  private static func faults(
    ofPayment fields: PayloadFields, _ requiresID: Bool, after error: AnnouncementError
  ) -> AnnouncementError {
    var faults = PayloadFaults(error)
    faults.read { () throws(AnnouncementError) in try identifier(fields, requiresID) }
    let currency = try? currency(fields)
    faults.read { () throws(AnnouncementError) in try self.currency(fields) }
    // Without a currency, nobody knows how many decimal digits the amount may have.
    if let currency {
      faults.read { () throws(AnnouncementError) in try amount(fields, currency) }
    } else if fields.value("amount") == nil, fields.value("minor") == nil {
      faults.read { () throws(AnnouncementError) in try requiredMinor(fields, nil) }
    }
    faults.read { () throws(AnnouncementError) in try kind(fields) }
    let texts = [
      ("channel", Payment.longestChannel), ("payer", Payment.longestPayer), ("payer_reading", Payment.longestPayer),
      ("note", Payment.longestNote), ("locale", 64),
    ]
    for (key, limit) in texts { faults.read { () throws(AnnouncementError) in try fields.text(key, atMost: limit) } }
    faults.read { () throws(AnnouncementError) in try refundOf(fields) }
    faults.read { () throws(AnnouncementError) in try fields.integer("sequence") }
    faults.read { () throws(AnnouncementError) in try date(fields) }
    return faults.error
  }

  private static func identifier(_ fields: PayloadFields, _ isRequired: Bool) throws(AnnouncementError) -> String? {
    let id = try identifier(fields)
    return isRequired ? try fields.required("id", id, "give an id that is unique in the account") : id
  }

  private static func kind(_ fields: PayloadFields) throws(AnnouncementError) -> Payment.Kind {
    try fields.choice("kind", of: "a kind of payment") ?? .received
  }

  /// Returns the id of the payment that a refund pays back. It may name a payment that Crier has never seen.
  private static func refundOf(_ fields: PayloadFields) throws(AnnouncementError) -> String? {
    guard let id = try identifier(fields, key: "refund_of") else { return nil }
    guard try kind(fields) == .refunded else {
      throw AnnouncementError(
        .fieldsConflict, fields.name("refund_of"), "is given for a payment that is not a refund",
        remedy: "set kind to refunded, or leave refund_of out")
    }
    return id
  }

  static func identifier(_ fields: PayloadFields, key: String = "id") throws(AnnouncementError) -> String? {
    guard let id = try fields.text(key, atMost: fields.wasAccepted ? 255 : 128) else { return nil }
    guard id.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw AnnouncementError(
        .fieldInvalid, fields.name(key), "holds control characters", remedy: "use printable characters only")
    }
    // Nobody can see or type these characters, so two different ids would look the same. Joiners are part of emoji and
    // of Indic words.
    let joiners: Set<Unicode.Scalar> = ["\u{200C}", "\u{200D}"]
    guard
      fields.wasAccepted
        || id.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .format || joiners.contains($0) })
    else {
      throw AnnouncementError(
        .fieldInvalid, fields.name(key), "holds invisible characters", remedy: "use printable characters only")
    }
    return id
  }

  static func currency(_ fields: PayloadFields) throws(AnnouncementError) -> Currency {
    let code = try fields.required(
      "currency", try fields.text("currency", atMost: 64), "give the ISO 4217 code, such as CNY")
    return try Currency.named(code, field: fields.name("currency"))
  }

  private static func amount(_ fields: PayloadFields, _ currency: Currency) throws(AnnouncementError) -> Money {
    let minor = try fields.integer("minor")
    guard let value = fields.value("amount") else {
      let minorUnits = try requiredMinor(fields, minor)
      return try Money(minorUnits: minorUnits, currency: currency, field: fields.name("minor"))
    }
    guard minor == nil else {
      throw AnnouncementError(
        .fieldsConflict, "\(fields.name("amount")) and \(fields.name("minor"))", "are both given",
        remedy: "give one of them")
    }
    switch value {
    case .string(let text):
      return try Money(decimalText: text, currency: currency, field: fields.name("amount"))
    case .number(let digits):
      guard let number = Decimal(string: digits) else {
        throw fields.invalid("amount", value, "give at most 13 digits before the point")
      }
      return try Money(decimal: number, currency: currency, field: fields.name("amount"))
    default:
      throw fields.invalid("amount", value, "give a decimal string such as \"12.50\", or a number")
    }
  }

  private static func requiredMinor(_ fields: PayloadFields, _ minor: Int64?) throws(AnnouncementError) -> Int64 {
    try fields.required(
      "amount", minor, "give amount as a decimal string, or minor as a whole number of minor units")
  }

  private static func date(_ fields: PayloadFields) throws(AnnouncementError) -> Date? {
    guard let text = try fields.text("occurred_at", atMost: 64) else { return nil }
    if let date = Timestamp.date(text) { return date }
    throw AnnouncementError(
      .fieldInvalid, fields.name("occurred_at"), "is not a time",
      remedy: "write an RFC 3339 time such as 2026-11-20T20:23:58Z")
  }

  private static func alertText(_ aps: PayloadValue, _ top: PayloadFields) throws(AnnouncementError) -> String {
    guard case .object(let values) = aps else { throw top.invalid("aps", aps, "give an object") }
    let fields = top.fields("aps", values)
    let limit = Announcement.longestText
    let text: String?
    switch fields.value("alert") {
    case .object(let alert)?:
      let alertFields = fields.fields("alert", alert)
      let parts = [
        try alertFields.textOrBlank("title", atMost: limit), try alertFields.textOrBlank("body", atMost: limit),
      ]
      text = parts.compactMap(\.self).joined(separator: ". ")
    case .string?:
      text = try fields.textOrBlank("alert", atMost: limit)
    case nil:
      text = nil
    case let other?:
      throw fields.invalid("alert", other, "give a string, or an object with title and body")
    }
    guard let text, !text.isEmpty else {
      throw AnnouncementError(
        .nothingToSay, "aps.alert", "has no text and there is no payment",
        remedy: "send the key payment, or an alert with a body")
    }
    return text
  }
}
