// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import ArgumentParser
import Foundation

/// What is to be announced, in the three ways the command line takes it: a payload, a payment in flags, or text.
struct AnnouncementInput: ParsableArguments {
  @Argument(help: "A payload: a JSON file, or - for standard input.", completion: .file(extensions: ["json"]))
  var payload: String?

  // Unconditional, so that a negative sum is told to be one and not taken for a missing value.
  @Option(parsing: .unconditional, help: "The sum paid, as decimal text: 12.50.")
  var amount: String?

  @Option(help: "The sum's currency, by ISO 4217: CNY.")
  var currency: String?

  @Option(help: "How it was paid: a name the phrase book knows (alipay), else spoken as it stands.")
  var channel: String?

  @Option(parsing: .unconditional, help: "Who paid.")
  var payer: String?

  @Option(help: "How the payer's name is said: kana, pinyin.")
  var payerReading: String?

  @Option(parsing: .unconditional, help: "What the payer wrote.")
  var note: String?

  @Option(help: "What happened: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  var kind: Payment.Kind?

  @Option(parsing: .unconditional, help: "Text to be spoken as it stands.")
  var text: String?

  @Option(help: "The language, by BCP 47, where a payload names none.")
  var locale: String?

  @Flag(help: "Refuse a payload with keys that nobody reads; without it, the report names them.")
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
      throw ValidationError("--strict goes with a PAYLOAD; flags are known or refused by themselves.")
    }
    if amount == nil, let flag = paymentFlags.first {
      throw ValidationError("\(flag) goes with --amount; a payload or a text says such things itself.")
    }
    if amount != nil, currency == nil {
      throw ValidationError("--amount needs --currency, such as --currency CNY.")
    }
  }

  /// - Throws: `AnnouncementError`, naming the flag or the payload's field.
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

  /// - Throws: `AnnouncementError` that names the flags as they are typed.
  /// - Parameter field: how the sum was given.
  static func money(
    _ amount: String, _ code: String, field: String = "--amount"
  ) throws(AnnouncementError) -> Money {
    try Money(decimalText: amount, currency: try currency(code), field: field)
  }

  static func currency(_ code: String) throws(AnnouncementError) -> Currency {
    if let currency = Currency(code: code) { return currency }
    let meant = code.uppercased()
    throw AnnouncementError(
      .fieldInvalid, "--currency \(Terminal.printable(code))", "is not an active ISO 4217 code",
      remedy: Currency(code: meant) != nil ? "did you mean \(meant)?" : "give three letters such as CNY, USD or INR")
  }

  static func limited(
    _ text: String?, _ flag: String, _ limit: Int
  ) throws(AnnouncementError) -> String? {
    let count = text?.unicodeScalars.count ?? 0
    guard count <= limit else {
      throw AnnouncementError(.fieldInvalid, flag, "is \(count) characters", remedy: "it is at most \(limit)")
    }
    return text
  }
}

extension Payment.Kind: ExpressibleByArgument {}

/// The bytes of a payload, from a file or from standard input.
enum PayloadFile {
  /// One byte more than a payload may have, so that one that is too large is known without reading the rest.
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
        remedy: "name a JSON file, or - for standard input")
    }
  }
}
