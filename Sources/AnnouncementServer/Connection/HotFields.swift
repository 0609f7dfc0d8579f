// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

/// The header fields of a request that the fast path can answer. A request with any field that asks for something else,
/// or that breaks a rule of HTTP messages, takes the usual path, which also refuses it if necessary.
struct HotFields {
  private(set) var authorization: String?
  private(set) var accept: String?
  private(set) var contentType: String?
  private(set) var contentLength: String?
  private(set) var idempotencyKey: String?

  /// Fields that neither kind of request may have.
  private static let others = [
    "range", "if-range", "if-none-match", "expect", "upgrade", "transfer-encoding", "content-encoding", "prefer",
    "crier-message-fault",
  ]

  /// - Returns: nil if the request has one of the other fields, one of these fields twice, or a field `Connection` that
  ///   is not `keep-alive`.
  init?(_ headers: HTTPHeaders) {
    for (name, value) in headers {
      let isAccepted: Bool
      switch true {
      case name.isField("authorization"): isAccepted = Self.set(&authorization, value)
      case name.isField("accept"): isAccepted = Self.set(&accept, value)
      case name.isField("content-type"): isAccepted = Self.set(&contentType, value)
      case name.isField("content-length"): isAccepted = Self.set(&contentLength, value)
      case name.isField("idempotency-key"): isAccepted = Self.set(&idempotencyKey, value)
      // Connections are kept open by default, so `keep-alive` changes nothing.
      case name.isField("connection"): isAccepted = value.isField("keep-alive")
      default: isAccepted = !Self.others.contains { name.isField($0) }
      }
      guard isAccepted else { return nil }
    }
  }

  /// Sets a field. Returns false if it was set before.
  private static func set(_ field: inout String?, _ value: String) -> Bool {
    defer { field = value }
    return field == nil
  }
}
