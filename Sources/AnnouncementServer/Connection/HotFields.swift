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
      let isFirst: Bool
      switch true {
      case name.isField("authorization"): isFirst = Self.set(&authorization, value)
      case name.isField("accept"): isFirst = Self.set(&accept, value)
      case name.isField("content-type"): isFirst = Self.set(&contentType, value)
      case name.isField("content-length"): isFirst = Self.set(&contentLength, value)
      case name.isField("idempotency-key"): isFirst = Self.set(&idempotencyKey, value)
      // Connections are kept open by default, so `keep-alive` changes nothing.
      case name.isField("connection"): isFirst = value.isField("keep-alive")
      default: isFirst = !Self.others.contains { name.isField($0) }
      }
      guard isFirst else { return nil }
    }
  }

  /// Sets a field and returns true, if it was not set before.
  private static func set(_ field: inout String?, _ value: String) -> Bool {
    defer { field = value }
    return field == nil
  }
}
