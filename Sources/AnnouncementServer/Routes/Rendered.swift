// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The event that a request for an announcement was answered.
struct Rendered: Sendable, Hashable {
  var account: String
  var id: String
  var at: Date
  var method: String
  var isCached: Bool
  var durationMilliseconds: Int

  /// The event's detail, which webhooks have too.
  var detail: [String: String] {
    Self.detail(method: method, isCached: isCached, durationMilliseconds: durationMilliseconds)
  }

  static func detail(method: String, isCached: Bool, durationMilliseconds: Int) -> [String: String] {
    ["cached": String(isCached), "duration_ms": String(durationMilliseconds), "method": method]
  }
}
