// SPDX-License-Identifier: Apache-2.0

import NIOHPACK

/// The header fields of a request, not yet checked.
struct PushHeaders {
  var method = ""
  var path = ""
  var authorization: String?
  var id: String?
  var topic: String?
  var type: String?
  var priority: String?
  var expiration: String?
  var collapseID: String?
  /// Whether a field that the push service reads is given twice.
  var hasDuplicates = false

  init(_ fields: HPACKHeaders) {
    for (name, value, _) in fields {
      switch name {
      case ":method": method = value
      case ":path": path = value
      case "authorization": set(\.authorization, value)
      case "apns-id": set(\.id, value)
      case "apns-topic": set(\.topic, value)
      case "apns-push-type": set(\.type, value)
      case "apns-priority": set(\.priority, value)
      case "apns-expiration": set(\.expiration, value)
      case "apns-collapse-id": set(\.collapseID, value)
      default: break
      }
    }
  }

  /// The device's token, as the path has it.
  var device: String { Self.device(ofPath: path) }

  static func device(ofPath path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

  private mutating func set(_ field: WritableKeyPath<PushHeaders, String?>, _ value: String) {
    if self[keyPath: field] != nil { hasDuplicates = true }
    self[keyPath: field] = value
  }
}
