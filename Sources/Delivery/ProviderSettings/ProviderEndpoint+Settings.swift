// SPDX-License-Identifier: Apache-2.0

import Announcements
import PaymentProviders

extension ProviderEndpoint {
  /// The keys of an endpoint.
  private enum Key: String, CaseIterable {
    case id, provider, account, secrets, url, mapping, payer, kinds, live, deliver, locale, merchants, device, capture
    case publicKeys = "public_keys"
    case apiV3Key = "api_v3_key"
    case maximumAge = "max_age"
    case tillEntries = "till_entries"

    /// The providers that the key is for; nil for a key of all providers.
    var providers: Set<ProviderName>? {
      switch self {
      case .secrets: [.stripe, .razorpay, .square, .adyen, .standardWebhooks, .mapping]
      case .publicKeys: [.wechatpay, .alipay, .mapping]
      case .apiV3Key: [.wechatpay]
      case .url, .tillEntries: [.square]
      case .mapping: [.mapping]
      case .capture: [.adyen]
      default: nil
      }
    }

    /// The providers that need the key. A mapping file may need secrets, public keys or neither.
    var requiredBy: Set<ProviderName> {
      switch self {
      case .mapping, .apiV3Key, .url: providers ?? []
      case .secrets, .publicKeys: (providers ?? []).subtracting([.mapping])
      default: []
      }
    }

    /// The remedy if the key is missing.
    var remedy: String {
      switch self {
      case .secrets: "add secrets: [\"…\"] with the secret from the provider's dashboard"
      case .publicKeys: "add public_keys: {\"SERIAL\": \"-----BEGIN PUBLIC KEY-----…\"}"
      case .apiV3Key: "add api_v3_key: \"…\" with the 32 characters from WeChat Pay's merchant platform"
      case .url: "add url: with the URL exactly as it was registered with Square"
      default: "add mapping: with the name of a mapping file, such as shopify.yaml"
      }
    }
  }

  /// Reads an endpoint.
  ///
  /// - Throws: ``ProviderSettingsError``, with the line of the first mistake.
  init(_ node: SettingsNode, mapping: ProvidersFile.MappingReader) throws(ProviderSettingsError) {
    let fields = try node.fields(Key.allCases.map(\.rawValue))
    let provider = try ProviderName(
      fields.required("provider", remedy: "add one of \(ProviderName.allCases.map(\.rawValue).joined(separator: ", "))")
    )
    let id = try Self.id(fields.required("id", remedy: "add an id, which becomes the last part of the URL"))
    self.init(id: id, provider: provider, account: try fields["account"].map(Self.account) ?? "default")
    for key in Key.allCases {
      if let value = fields[key.rawValue] {
        guard key.providers?.contains(provider) != false else {
          throw value.error("is not a key of \(provider.rawValue)", remedy: "remove it")
        }
      } else if key.requiredBy.contains(provider) {
        throw node.error("has no key '\(key.rawValue)'", .keyMissing, remedy: key.remedy)
      }
    }
    if let name = fields["mapping"] { self.mapping = try mapping(try Self.mappingName(name)) }
    try readKeys(fields)
    if let url = fields["url"] { self.url = try Self.registeredURL(url) }
    try readChoices(fields)
  }

  private mutating func readChoices(_ fields: SettingsFields) throws(ProviderSettingsError) {
    if let payer = fields["payer"] { speaksPayer = try payer.boolean() }
    if let live = fields["live"] { isLive = try live.boolean() }
    if let capture = fields["capture"] { awaitsCapture = try capture.boolean() }
    if let entries = fields["till_entries"] { takesTillEntries = try entries.boolean() }
    if let age = fields["max_age"] { maximumAge = try age.integer(in: 1...2_678_400) }
    if let kinds = fields["kinds"] { self.kinds = try Self.choices(kinds) }
    if let deliver = fields["deliver"] { self.deliver = try Self.choices(deliver) }
    if let device = fields["device"] { self.device = try Self.word(device, "the id of a device or of a group") }
    if let merchants = fields["merchants"] {
      guard provider != .standardWebhooks, provider != .mapping || mapping?.payment.merchant != nil else {
        throw merchants.error(
          "would ignore every payment: these webhooks do not name an account", remedy: "remove it")
      }
      for merchant in try merchants.listOrOne() {
        self.merchants.insert(try Self.word(merchant, "the id of an account at the provider"))
      }
    }
    if let locale = fields["locale"] {
      let tag = try Self.word(locale, "a language as a BCP 47 tag, such as en-US")
      guard tag.utf8.count <= 64, tag.utf8.allSatisfy({ Self.isIDByte($0, plus: "-_", capitals: true) }) else {
        throw locale.error("is not a BCP 47 tag", remedy: "give a tag such as en-US")
      }
      self.locale = tag
    }
    if deliver.contains(.push), device == nil {
      throw fields.node.error(
        "delivers to push, but has no key 'device'", .keyMissing,
        remedy: "add device: with the id of a device or a group")
    }
  }

  // MARK: Single values

  private static func id(_ node: SettingsNode) throws(ProviderSettingsError) -> String {
    let id = try node.text()
    guard id.utf8.count <= 64, id.utf8.allSatisfy({ isIDByte($0, plus: "-_") }) else {
      throw node.error(
        "is not 1 to 64 lower-case letters, digits, - and _",
        remedy: "choose another id, because it is a part of the URL")
    }
    return id
  }

  private static func isIDByte(_ byte: UInt8, plus others: String, capitals: Bool = false) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): capitals
    default: others.utf8.contains(byte)
    }
  }

  private static func account(_ node: SettingsNode) throws(ProviderSettingsError) -> String {
    let account = try node.text()
    guard account.utf8.count <= 255,
      account.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }), !account.hasPrefix("crier:")
    else {
      throw node.error(
        "is not an account", remedy: "give 1 to 255 bytes without control characters that do not begin with crier:")
    }
    return account
  }

  /// Returns 1 to 128 printable ASCII characters without a space.
  private static func word(_ node: SettingsNode, _ meaning: String) throws(ProviderSettingsError) -> String {
    let word = try node.text()
    guard word.utf8.count <= 128, word.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw node.error("is not 1 to 128 printable ASCII characters without a space", remedy: "give \(meaning)")
    }
    return word
  }

  private static func choices<Choice: RawRepresentable & CaseIterable & Hashable>(
    _ node: SettingsNode
  ) throws(ProviderSettingsError) -> Set<Choice> where Choice.RawValue == String {
    var choices: Set<Choice> = []
    for element in try node.listOrOne() { choices.insert(try element.choice()) }
    return choices
  }

  private static func mappingName(_ node: SettingsNode) throws(ProviderSettingsError) -> String {
    let name = try word(node, "the name of a mapping file, such as shopify.yaml")
    guard name.hasSuffix(".yaml"), !name.hasPrefix("."), !name.contains("/") else {
      throw node.error(
        "is not the name of a mapping file",
        remedy: "give a name without a folder that ends with .yaml, such as shopify.yaml")
    }
    return name
  }

  private static func registeredURL(_ node: SettingsNode) throws(ProviderSettingsError) -> String {
    let url = try node.text()
    guard ["https://", "http://"].contains(where: { url.hasPrefix($0) && url.utf8.count > $0.utf8.count }),
      url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw node.error(
        "is not a URL",
        remedy: "give the URL exactly as it was registered, such as https://shop.example/v1/providers/square/till")
    }
    return url
  }
}

extension ProviderName {
  /// Reads the name of a provider.
  ///
  /// - Throws: `.providerUnsupported` for a provider whose webhooks cannot be announced, with the reason;
  ///   `.valueInvalid` for any other name, with the name that was probably meant.
  fileprivate init(_ node: SettingsNode) throws(ProviderSettingsError) {
    if let other = UnsupportedProvider.named(try node.text()) {
      throw node.error(
        "is \(other.name), whose webhooks cannot be announced: \(other.reason)", .providerUnsupported,
        remedy: other.remedy)
    }
    if Self(rawValue: try node.text()) == nil,
      SimilarNames.name(like: try node.text(), among: Self.allCases.map(\.rawValue)) == nil
    {
      throw node.error(
        "is not one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))",
        remedy: "for any other provider, write provider: mapping and mapping: with the name of its mapping file")
    }
    self = try node.choice()
  }
}
