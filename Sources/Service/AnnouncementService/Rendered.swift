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

  package init(
    account: String, id: String, at: Date, method: String, isCached: Bool, durationMilliseconds: Int
  ) {
    (self.account, self.id, self.at, self.method) = (account, id, at, method)
    (self.isCached, self.durationMilliseconds) = (isCached, durationMilliseconds)
  }

  /// The event's detail, which webhooks have too.
  package var detail: [String: String] {
    Self.detail(method: method, isCached: isCached, durationMilliseconds: durationMilliseconds)
  }

  package static func detail(method: String, isCached: Bool, durationMilliseconds: Int) -> [String: String] {
    ["cached": String(isCached), "duration_ms": String(durationMilliseconds), "method": method]
  }
}
