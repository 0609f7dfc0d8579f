// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import ArgumentParser
import Foundation

/// The options that say what to announce: a payload, a payment given as flags, or a text.
struct AnnouncementInput: ParsableArguments {
  @Argument(help: "The payload: a JSON file, or - for standard input.", completion: .file(extensions: ["json"]))
  var payload: String?

  // Parsed unconditionally, so that a negative amount is reported as negative and not as a missing value.
  @Option(parsing: .unconditional, help: "The amount paid, in decimal, such as 12.50.")
  var amount: String?

  @Option(help: "The currency of the amount, as an ISO 4217 code such as CNY.")
  var currency: String?

  @Option(help: "The payment channel, such as alipay. A name that the phrase book lacks is spoken as written.")
  var channel: String?

  @Option(parsing: .unconditional, help: "The name of the payer.")
  var payer: String?

  @Option(help: "The pronunciation of the payer's name, in kana or pinyin.")
  var payerReading: String?

  @Option(parsing: .unconditional, help: "The payer's note.")
  var note: String?

  @Option(help: "The kind of the payment: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  var kind: Payment.Kind?

  @Option(parsing: .unconditional, help: "A text to speak instead of a payment.")
  var text: String?

  @Option(help: "The language if the payload names no language, as a BCP 47 tag such as en-US.")
  var locale: String?

  @Flag(help: "Reject a payload that has unknown keys. Without this flag, the report names them.")
  var strict = false

  func validate() throws {
    let ways = [payload.map { _ in "PAYLOAD" }, amount.map { _ in "--amount" }, text.map { _ in "--text" }]
      .compactMap(\.self)
    guard ways.count == 1 else {
      throw ValidationError(
        ways.isEmpty
          ? "Nothing to announce: give a PAYLOAD, or --amount and --currency, or --text."
          : "\(ways.joined(separator: " and ")) cannot be given together: choose one.")
    }
    let paymentFlags = [
      currency.map { _ in "--currency" }, channel.map { _ in "--channel" }, payer.map { _ in "--payer" },
      payerReading.map { _ in "--payer-reading" },
      note.map { _ in "--note" }, kind.map { _ in "--kind" },
    ].compactMap(\.self)
    if strict, payload == nil {
      throw ValidationError("--strict needs a PAYLOAD: drop --strict, or give a payload instead of flags.")
    }
    if amount == nil, let flag = paymentFlags.first {
      throw ValidationError("\(flag) needs --amount: drop it, or put it into the payload or the text.")
    }
    if amount != nil, currency == nil {
      throw ValidationError("--amount needs --currency, such as --currency CNY.")
    }
  }

  /// Decodes the announcement.
  ///
  /// - Throws: `AnnouncementError`, which names the flag or the payload's field.
  func announcement() throws -> DecodedPayload {
    if let text {
      return DecodedPayload(
        announcement: .text(try Self.limited(text, "--text", Announcement.longestText) ?? "", locale: locale))
    }
    if let amount, let currency {
      return DecodedPayload(
        announcement: .payment(
          Payment(
            amount: try Self.money(amount, currency), kind: kind ?? .received,
            channel: try Self.limited(channel, "--channel", Payment.longestChannel),
            payer: try Self.limited(payer, "--payer", Payment.longestPayer),
            payerReading: try Self.limited(payerReading, "--payer-reading", Payment.longestPayer),
            note: try Self.limited(note, "--note", Payment.longestNote), locale: locale)))
    }
    return try PayloadDecoder.payload(try PayloadFile.read(payload ?? "-"), unknownKeys: strict ? .refuse : .warn)
  }

  /// Parses an amount of money.
  ///
  /// - Parameter field: The name of the amount's field, for the error.
  /// - Throws: `AnnouncementError`, which names the flags as the user typed them.
  static func money(
    _ amount: String, _ code: String, field: String = "--amount"
  ) throws(AnnouncementError) -> Money {
    try Money(decimalText: amount, currency: try currency(code), field: field)
  }

  static func currency(_ code: String) throws(AnnouncementError) -> Currency {
    try Currency.named(code, field: "--currency \(Terminal.printable(code))")
  }

  static func limited(
    _ text: String?, _ flag: String, _ limit: Int
  ) throws(AnnouncementError) -> String? {
    let count = text?.unicodeScalars.count ?? 0
    guard count <= limit else {
      throw AnnouncementError(.fieldInvalid, flag, "has \(count) characters", remedy: "give at most \(limit)")
    }
    return text
  }
}

extension Payment.Kind: ExpressibleByArgument {}

/// The reader of a payload's bytes, from a file or standard input.
enum PayloadFile {
  /// The maximum number of bytes to read. It is one more than a payload may have, to recognise a payload that is too
  /// large.
  private static let limit = 64 * 1024 + 1

  static func read(_ path: String) throws -> Data {
    do {
      let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
      var data = Data()
      while data.count < limit, let chunk = try handle.read(upToCount: limit - data.count), !chunk.isEmpty {
        data += chunk
      }
      return data
    } catch {
      throw AnnouncementError(
        .payloadMalformed, Terminal.printable(path), "cannot be read",
        remedy: "give a JSON file, or - for standard input")
    }
  }
}
