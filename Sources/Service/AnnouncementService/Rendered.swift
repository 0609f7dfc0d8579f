// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The event that a request for an announcement was answered.
package struct Rendered: Sendable, Hashable {
  package var account: String
  package var id: String
  package var at: Date
  package var method: String
  package var isCached: Bool
  package var durationMilliseconds: Int

  /// The event's detail, which webhooks have too.
  package var detail: [String: String] {
    Self.detail(method: method, isCached: isCached, durationMilliseconds: durationMilliseconds)
  }

  package static func detail(method: String, isCached: Bool, durationMilliseconds: Int) -> [String: String] {
    ["cached": String(isCached), "duration_ms": String(durationMilliseconds), "method": method]
  }
}
