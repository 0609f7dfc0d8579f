// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders

extension SettingsNode {
  /// Reads a JSON pointer to a value in the body of a request.
  func pointer() throws(ProviderSettingsError) -> JSONPointer {
    let text = try text()
    guard text.hasPrefix("/"), let pointer = JSONPointer(text) else {
      throw error("is not a place in the body", remedy: "write the keys with a slash before each: /data/id")
    }
    return pointer
  }

  func headerName() throws(ProviderSettingsError) -> String {
    let name = try text()
    guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }) else {
      throw error("is not the name of a header", remedy: "write it without a colon: X-Signature")
    }
    return name
  }

  func currencyCode() throws(ProviderSettingsError) -> String {
    let code = try text()
    guard let currency = try? Currency.named(code, field: "currency") else {
      throw error("is not a currency of ISO 4217", remedy: "give its three letters: INR")
    }
    return currency.code
  }
}

extension ValueSource {
  init(_ node: SettingsNode) throws(ProviderSettingsError) {
    guard node.isMapping else { self = try Self.place(node.text(), node); return }
    let fields = try node.fields(["text", "find", "where", "value"])
    if let text = fields["text"] {
      guard fields["find"] == nil, fields["where"] == nil, fields["value"] == nil else {
        throw node.error("has both text and find", remedy: "remove one")
      }
      self = .text(try text.text())
      return
    }
    let conditions = try fields.required("where", remedy: "say which element: where: {/Name: Amount}")
    let entries = try conditions.entries()
    guard let (key, value) = entries.first, entries.count == 1, key.hasPrefix("/"), let name = JSONPointer(key) else {
      throw conditions.error("does not name one place", remedy: "write where: {/Name: Amount}")
    }
    self = .find(
      list: try fields.required("find", remedy: "name the list").pointer(), name: name, equals: try value.text(),
      value: try fields.required("value", remedy: "say where the element has the value, such as /value").pointer())
  }

  /// Reads a place: `/data/id`, `root /id`, `header NAME`, `query KEY`.
  ///
  /// - Parameter node: The entry of the place, for the error.
  static func place(_ text: String, _ node: SettingsNode) throws(ProviderSettingsError) -> ValueSource {
    if text.hasPrefix("/"), let pointer = JSONPointer(text) { return .pointer(pointer) }
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    if words.count == 2, !words[1].contains(" ") {
      switch words[0] {
      case "root": if words[1].hasPrefix("/"), let pointer = JSONPointer(words[1]) { return .root(pointer) }
      case "header": return .header(words[1])
      case "query": return .query(words[1])
      default: break
      }
    }
    throw node.error(
      "does not give a place", remedy: "write /data/id, root /id, header NAME, query KEY, or text: for the text itself")
  }
}

extension MappingRow {
  private enum Word: String, CaseIterable { case received, pending, refunded, withdrawn, failed, ignored, refused }

  init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(["when", "kind", "because"])
    let word = try fields.required("kind", remedy: "add kind: received, or ignored, or refused").choice(Word.self)
    let meaning: Meaning =
      switch word {
      case .ignored: .ignored
      case .refused: .refused
      default: .payment(Payment.Kind(rawValue: word.rawValue) ?? .received)
      }
    self.init(when: [], meaning)
    for (key, value) in try fields["when"]?.entries() ?? [] {
      var values: [String?] = []
      for one in try value.listOrOne() { values.append(one.isNull ? nil : try one.text()) }
      when.append(Condition(try ValueSource.place(key, value), values))
    }
    if let because = fields["because"] {
      self.because = try because.text()
      if case .payment = meaning { throw because.error("has no meaning for a payment", remedy: "remove it") }
    }
  }
}

extension PaymentFields {
  static let keys = [
    "each", "id", "identity", "amount", "currency", "required", "time", "live", "merchant", "payer", "note", "channel",
  ]

  init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(Self.keys)
    self.init(
      id: try Self.sources(
        fields.required("id", remedy: "say where the webhook has the payment's own id, such as /data/id")),
      amount: try Amount(fields.required("amount", remedy: "add major: /PLACE, or minor: /PLACE")),
      currency: try ValueSource(fields.required("currency", remedy: "name its place, or write text: INR")))
    if case .text(let code) = currency, let field = fields["currency"] {
      guard let known = try? Currency.named(code, field: "currency"), known.code == code else {
        throw field.error("is not a currency of ISO 4217", remedy: "give its three letters: text: INR")
      }
    }
    each = try fields["each"]?.pointer()
    if let identity = fields["identity"] { self.identity = try Self.sources(identity) }
    if let required = fields["required"] { self.required = try Self.sources(required) }
    if let time = fields["time"] { self.time = try Time(time) }
    if let live = fields["live"] { self.live = try Live(live) }
    func optional(_ key: String) throws(ProviderSettingsError) -> ValueSource? {
      guard let node = fields[key] else { return nil }
      return try ValueSource(node)
    }
    merchant = try optional("merchant")
    payer = try optional("payer")
    note = try optional("note")
    channel = try optional("channel")
  }

  private static func sources(_ node: SettingsNode) throws(ProviderSettingsError) -> [ValueSource] {
    var sources: [ValueSource] = []
    for one in try node.listOrOne() { sources.append(try ValueSource(one)) }
    return sources
  }
}

extension PaymentFields.Amount {
  fileprivate init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(["major", "minor", "digits", "unclear"])
    switch (fields["major"], fields["minor"]) {
    case (let major?, nil):
      if let extra = fields["digits"] ?? fields["unclear"] {
        throw extra.error("has no meaning with major", remedy: "remove it")
      }
      self = .major(try ValueSource(major))
    case (nil, let minor?):
      var digits = MinorUnitDigits()
      for (code, value) in try fields["digits"]?.entries() ?? [] {
        guard (try? Currency.named(code, field: "currency"))?.code == code else {
          throw value.error("is not a currency of ISO 4217", remedy: "give its three letters: INR")
        }
        digits.digits[code] = try value.integer(in: 0...4)
      }
      for code in try fields["unclear"]?.listOrOne() ?? [] { digits.unclear.insert(try code.currencyCode()) }
      self = .minor(try ValueSource(minor), digits)
    default:
      throw node.error(
        "must have either major or minor", .keyMissing, remedy: "add major: /PLACE or minor: /PLACE")
    }
  }
}

extension PaymentFields.Time {
  private enum Format: String, CaseIterable { case rfc3339, seconds, milliseconds, local }

  fileprivate init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(["from", "format", "offset"])
    let source = try ValueSource(
      fields.required("from", remedy: "say where the webhook has the time of the payment, such as /data/created_at"))
    let format = try fields.required("format", remedy: "give rfc3339, seconds, milliseconds or local")
      .choice(Format.self)
    guard (fields["offset"] != nil) == (format == .local) else {
      throw node.error(
        "needs both format: local and offset", .keyMissing, remedy: "write format: local, offset: \"+07:00\"")
    }
    switch format {
    case .rfc3339: self.init(source, .rfc3339)
    case .seconds: self.init(source, .seconds)
    case .milliseconds: self.init(source, .milliseconds)
    case .local:
      let node = try fields.required("offset", remedy: "write offset: \"+07:00\"")
      let offset = try node.text()
      guard Timestamp.date("2000-01-01T00:00:00" + offset) != nil else {
        throw node.error("is not an offset from UTC", remedy: "write it as \"+07:00\"")
      }
      self.init(source, .local(offset: offset))
    }
  }
}

extension PaymentFields.Live {
  fileprivate init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(["from", "live", "test"])
    var words: [Set<String>] = []
    for key in ["live", "test"] {
      var values: Set<String> = []
      for one in try fields.required(key, remedy: "say which values mean a \(key) payment").listOrOne() {
        values.insert(try one.text())
      }
      words.append(values)
    }
    guard words[0].isDisjoint(with: words[1]) else {
      throw node.error("has a value that means both live and test", remedy: "remove it from live or from test")
    }
    self.init(
      try ValueSource(
        fields.required("from", remedy: "say where the webhook tells live payments from tests, such as /livemode")),
      live: words[0], test: words[1])
  }
}

extension ProviderAnswer {
  init(_ node: SettingsNode, in statuses: ClosedRange<Int>) throws(ProviderSettingsError) {
    let fields = try node.fields(["status", "type", "body"])
    self.init(status: try fields.required("status", remedy: "add the status: status: 200").integer(in: statuses))
    guard (fields["type"] != nil) == (fields["body"] != nil) else {
      throw node.error("needs both type and body", .keyMissing, remedy: "write both, or neither")
    }
    if let type = fields["type"] {
      contentType = try type.text()
      guard contentType?.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) == true else {
        throw type.error("is not a media type", remedy: "write type: application/json")
      }
    }
    if let body = fields["body"] { self.body = Data(try body.text().utf8) }
  }
}
