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
}
