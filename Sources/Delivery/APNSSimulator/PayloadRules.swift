// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The rules for the payload of each type of push.
enum PayloadRules {
  /// Whether the payload is a JSON object with a content that fits the type.
  ///
  /// Apple documents the content of each type, but not the reason that its service gives for wrong content. The
  /// simulator refuses wrong content, because a push that a phone would ignore is a mistake of the sender.
  static func fits(_ payload: [UInt8], type: PushType) -> Bool {
    guard let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any] else { return false }
    let content = object["aps"] as? [String: Any]
    switch type {
    case .alert:
      guard let content else { return false }
      return isAlert(content["alert"]) || isSound(content["sound"]) || content["badge"] is NSNumber
        || content["badge"] is Int
    case .background:
      guard let content, (content["content-available"] as? Int) == 1 else { return false }
      return content["alert"] == nil && content["sound"] == nil && content["badge"] == nil
    case .fileprovider:
      return (object["container-identifier"] as? String)?.isEmpty == false
    case .liveactivity:
      return content?["event"] is String
    case .controls, .location, .voip, .complication, .mdm, .pushtotalk, .widgets:
      return true
    }
  }

  /// Returns the type of a push that names no type: the type that its topic belongs to, or else a type that its payload
  /// fits.
  static func type(of payload: [UInt8], topicOf type: PushType?) -> PushType {
    type ?? (fits(payload, type: .background) ? .background : .alert)
  }

  private static func isAlert(_ value: Any?) -> Bool {
    value is String || (value as? [String: Any])?.isEmpty == false
  }

  private static func isSound(_ value: Any?) -> Bool {
    value is String || (value as? [String: Any])?["name"] is String
  }
}
