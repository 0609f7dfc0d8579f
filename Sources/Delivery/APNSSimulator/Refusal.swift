// SPDX-License-Identifier: Apache-2.0

/// A refused request: its status, and the reason as Apple documents it.
struct Refusal: Error, Equatable {
  var status: Int
  var reason: String
  /// The time since which a token is invalid, in milliseconds since 1970. Only answers of status 410 have it.
  var timestamp: Int64?

  init(_ status: Int, _ reason: String, timestamp: Int64? = nil) {
    (self.status, self.reason, self.timestamp) = (status, reason, timestamp)
  }
}
