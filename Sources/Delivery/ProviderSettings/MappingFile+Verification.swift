// SPDX-License-Identifier: Apache-2.0

import PaymentProviders

extension MappingVerification {
  private static let keys = [
    "scheme", "hash", "encoding", "header", "query", "pointer", "prefix", "list", "signature_names", "message",
    "secret", "short_keys", "time", "cuts",
  ]

  /// The keys that have a meaning with a scheme.
  private static func keys(of scheme: Scheme) -> [String] {
    let signature = ["scheme", "hash", "encoding", "header", "pointer", "prefix", "message", "time"]
    return switch scheme {
    case .hmac: signature + ["list", "signature_names", "secret"]
    case .rsa: signature + ["list", "signature_names", "short_keys"]
    case .digest: signature + ["secret", "cuts"]
    case .token: ["scheme", "header", "prefix", "secret"]
    case .url: ["scheme", "query"]
    case .none: ["scheme"]
    }
  }

  init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(Self.keys)
    self.init(
      try fields.required("scheme", remedy: "give hmac, rsa, digest, token, url or none").choice(Scheme.self))
    for key in Self.keys where !Self.keys(of: scheme).contains(key) {
      if let value = fields[key] {
        throw value.error("has no meaning with scheme \(scheme.rawValue)", remedy: "remove it")
      }
    }
    switch (fields["header"], fields["pointer"], fields["query"]) {
    case (let header?, nil, nil): place = .header(try header.headerName())
    case (nil, let pointer?, nil): place = .body(try pointer.pointer())
    case (nil, nil, let query?): place = .query(try query.text())
    case (nil, nil, nil) where scheme == .none: break
    default:
      throw node.error(
        "does not name exactly one place of the \(scheme == .token || scheme == .url ? "token" : "signature")",
        .keyMissing,
        remedy: scheme == .url
          ? "add query: KEY" : scheme == .token ? "add header: NAME" : "add header: NAME, or pointer: /PLACE")
    }
    if let prefix = fields["prefix"] { self.prefix = try prefix.text() }
    if let secret = fields["secret"] {
      self.secret = try secret.choice()
      guard (self.secret == .sha256) == (scheme == .token) || self.secret == .text else {
        throw secret.error(
          "does not suit scheme \(scheme.rawValue)",
          remedy: scheme == .token ? "give text or sha256" : "give text, base64 or hex")
      }
    }
    guard [.hmac, .rsa, .digest].contains(scheme) else { return }
    hash = try fields.required("hash", remedy: "give sha1, sha256 or sha512").choice()
    encoding = try fields.required("encoding", remedy: "give hex or base64").choice()
    if let short = fields["short_keys"] { allowsShortKeys = try short.boolean() }
    try readList(fields)
    try readTime(fields)
    try readMessage(fields.required("message", remedy: "say what is signed: message: [body]"))
    for cut in try fields["cuts"]?.listOrOne() ?? [] {
      let text = try cut.text()
      guard !text.isEmpty else {
        throw cut.error("is empty", remedy: "give a value of the second signed part, such as 200")
      }
      cuts.append(text)
    }
  }

  private mutating func readList(_ fields: SettingsFields) throws(ProviderSettingsError) {
    if let list = fields["list"] { self.list = try list.choice() }
    guard (list == .pairs) == (fields["signature_names"] != nil) else {
      throw fields.node.error(
        "needs both list: pairs and signature_names", .keyMissing,
        remedy: "write both: list: pairs, signature_names: [v1]")
    }
    for name in try fields["signature_names"]?.listOrOne() ?? [] { signatureNames.append(try name.text()) }
  }

  private enum TimeUnit: String, CaseIterable { case s, ms }

  private mutating func readTime(_ fields: SettingsFields) throws(ProviderSettingsError) {
    guard let node = fields["time"] else { return }
    let entries = try node.fields(["header", "pair", "window", "unit"])
    var time: Time
    switch (entries["header"], entries["pair"]) {
    case (let header?, nil): time = Time(.header(try header.headerName()))
    case (nil, let pair?):
      guard list == .pairs else { throw pair.error("needs list: pairs", remedy: "add list: pairs, or name a header") }
      time = Time(.pair(try pair.text()))
    default: throw node.error("does not name one place", .keyMissing, remedy: "add header: NAME, or pair: NAME")
    }
    if let window = entries["window"] { time.window = Int64(try window.integer(in: 1...86_400)) }
    if let unit = entries["unit"] { time.unitsPerSecond = try unit.choice(TimeUnit.self) == .ms ? 1_000 : 1 }
    self.time = time
  }

  private mutating func readMessage(_ node: SettingsNode) throws(ProviderSettingsError) {
    for part in try node.listOrOne() {
      switch part.isMapping ? "" : try part.text() {
      case "body": message.append(.body)
      case "time": message.append(.time)
      case "secret": message.append(.secret)
      default: message.append(.value(try ValueSource(part)))
      }
    }
    guard message.contains(.time) == (time != nil) else {
      throw node.error(
        time == nil
          ? "has the part 'time', but there is no key 'time'"
          : "does not have the part 'time', so the time is not signed",
        remedy: time == nil ? "add time: {header: NAME}" : "add the part, or remove the key 'time'")
    }
    guard message.contains(.secret) == (scheme == .digest) else {
      throw node.error(
        scheme == .digest ? "does not have the part 'secret'" : "has the part 'secret'",
        remedy: scheme == .digest
          ? "add the part; without the secret, everybody can compute the hash"
          : "remove the part; only the scheme 'digest' has the secret in the message")
    }
    if case .body = place, message.contains(.body) {
      throw node.error("has the part 'body', which contains the signature itself", remedy: "list parts of the body")
    }
  }
}
