// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The conversion between the `userInfo` of a notification and the payload of its push as JSON.
enum UserInfo {
  /// Returns the payload as JSON. Values that JSON cannot represent, such as dates, are left out, because they would
  /// make the conversion fail and lose the notification.
  static func payload(of userInfo: [AnyHashable: Any]) -> Data {
    let object = convertible(userInfo)
    return object.flatMap { try? JSONSerialization.data(withJSONObject: $0) } ?? Data("{}".utf8)
  }

  /// Returns the `userInfo` of a payload; it is empty if the payload is not a JSON object.
  static func userInfo(of payload: Data) -> [AnyHashable: Any] {
    (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any] ?? [:]
  }

  /// Returns a value without the parts that JSON cannot represent; nil if nothing is left.
  private static func convertible(_ value: Any) -> Any? {
    if let object = value as? [AnyHashable: Any] {
      let members = object.compactMap { key, value -> (String, Any)? in
        guard let key = key as? String, let value = convertible(value) else { return nil }
        return (key, value)
      }
      return [String: Any](members) { first, _ in first }
    }
    if let array = value as? [Any] { return array.compactMap(convertible) }
    // A value is checked inside an array, because `isValidJSONObject(_:)` accepts only arrays and objects.
    return JSONSerialization.isValidJSONObject([value]) ? value : nil
  }
}
