// SPDX-License-Identifier: Apache-2.0

/// A server-sent event (WHATWG HTML, section 9.2).
struct ServerSentEvent: Sendable, Hashable {
  var id: String?
  var name: String
  /// The data, as one line.
  var data: String

  var text: String { (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(data)\n\n" }

  /// A comment line that keeps proxies and clients from closing an idle stream.
  static let heartbeat = ": still here\n\n"
}
