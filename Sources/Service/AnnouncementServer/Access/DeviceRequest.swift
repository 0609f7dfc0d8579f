// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import PushMessages
import SoundLibrary

/// The body of `PUT /v1/devices/{id}`, checked except for whether its locale exists.
struct DeviceRequest: Sendable {
  /// The keys of the body.
  static let keys = [
    "bundle_id", "environment", "tokens", "group", "device_group", "locale", "tone", "new_key",
  ]
  /// The longest id of a device, in bytes.
  static let longestID = 128

  let device: NewDevice
  /// Whether the device gets a new key in place of its former one.
  let renewsKey: Bool

  /// - Throws: ``Problem`` with 422 that names the first field that is not valid. Its text contains no token.
  init(_ fields: JSONFields, id: String, account: String) throws(Problem) {
    guard Self.isID(id) else {
      throw Problem.fieldInvalid(
        "id: is not valid; give 1 to \(Self.longestID) letters, digits, -, _, . and :, not beginning with a period.")
    }
    let environments = PushEnvironment.allCases.map(\.rawValue).joined(separator: " or ")
    let environment = "give \(environments)"
    guard
      let place = PushEnvironment(
        rawValue: try fields.required("environment", try fields.string("environment", environment), environment))
    else { throw fields.invalid("environment", environment) }
    device = NewDevice(
      account: account, id: id, app: try Self.app(fields), environment: place,
      appGroup: try fields.text("group", "give an app group such as group.crier", if: GroupContainer.isGroupName),
      deviceGroup: try fields.text("device_group", "give a name of 1 to 128 bytes without control characters") {
        $0.isPlain(upTo: 128)
      },
      locale: try fields.text("locale", "give a BCP 47 tag such as en-US") { $0.isPlain(upTo: 128) },
      tone: try fields.text(
        "tone",
        "give a file name of at most 255 bytes, such as cash.wav, without a folder and without a period at its start; "
          + "iOS plays its default sound for a name without an extension"
      ) { name in
        (try? AlertMessage.Sound(name)) != nil
      },
      tokens: try Self.tokens(fields))
    renewsKey = try fields.boolean("new_key", "give true or false") ?? false
  }

  /// Returns whether a text can be the id of a device. An id is a segment of a URL's path. It therefore consists of
  /// characters that need no percent-encoding, and is not a segment that clients remove, such as `..`.
  static func isID(_ text: String) -> Bool {
    (1...longestID).contains(text.utf8.count) && !text.hasPrefix(".")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: ":"):
          true
        default: false
        }
      }
  }

  private static func app(_ fields: JSONFields) throws(Problem) -> String {
    let remedy = "give the bundle id of the app, such as com.example.shop"
    let text = try fields.required("bundle_id", try fields.string("bundle_id", remedy), remedy)
    guard let app = try? BundleID(text) else { throw fields.invalid("bundle_id", remedy) }
    return app.text
  }

  private static func tokens(_ fields: JSONFields) throws(Problem) -> [PushTokenKind: String] {
    let kinds = PushTokenKind.allCases
    let names = kinds.map(\.rawValue)
    let remedy = "give an object with the tokens by kind: \(names.joined(separator: ", "))"
    let given = try fields.required("tokens", try fields.object("tokens", keys: names, remedy), remedy)
    var tokens: [PushTokenKind: String] = [:]
    for kind in kinds {
      let remedy =
        "give \(DeviceToken.sizes.lowerBound) to \(DeviceToken.sizes.upperBound) bytes in hexadecimal digits, as the "
        + "app received them"
      guard let text = try given.string(kind.rawValue, remedy) else { continue }
      guard let token = try? DeviceToken(text) else { throw given.invalid(kind.rawValue, remedy) }
      tokens[kind] = token.hexadecimal
    }
    return tokens
  }
}
