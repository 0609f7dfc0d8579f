// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages
import TextFormats

/// The data that a device registers. A registration replaces everything that was registered before.
///
/// The tokens are secrets of the phone, so the description does not show them.
public struct DeviceRegistration: Sendable, Hashable {
  /// The tokens by kind, as iOS gave them to the app. The service removes its token of each kind that is missing here.
  public var tokens: [PushTokenKind: Data]
  public var bundleID: String
  public var environment: PushEnvironment
  /// The language of the device's notifications and clips (BCP 47); nil to use the account's language.
  public var locale: String?
  /// The file name of the tone that the user chose; nil if the user chose none.
  public var tone: String?

  public init(
    tokens: [PushTokenKind: Data], bundleID: String, environment: PushEnvironment, locale: String? = nil,
    tone: String? = nil
  ) {
    self.tokens = tokens
    self.bundleID = bundleID
    self.environment = environment
    self.locale = locale
    self.tone = tone
  }

  private struct Body: Encodable {
    var tokens: [String: String]
    var bundleID: String
    var environment: PushEnvironment
    var locale: String?
    var tone: String?
  }

  /// The body of the request, with keys in alphabetical order.
  var body: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.keyEncodingStrategy = .convertToSnakeCase
      let shown = tokens.map { ($0.key.rawValue, $0.value.hexadecimal) }
      return try encoder.encode(
        Body(
          tokens: Dictionary(uniqueKeysWithValues: shown), bundleID: bundleID, environment: environment,
          locale: locale, tone: tone))
    }
  }
}

extension DeviceRegistration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The app, its environment and the kinds of tokens.
  public var description: String {
    let kinds = tokens.keys.map(\.rawValue).sorted().joined(separator: ", ")
    return "a registration of \(bundleID) (\(environment.rawValue)) with the tokens: \(kinds.isEmpty ? "none" : kinds)"
  }

  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}
