// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// The service's JSON encoding. Keys are in alphabetical order, so that equal responses have equal bytes.
enum ServiceJSON {
  private static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
    return encoder
  }()

  static func data(of value: some Encodable) throws -> Data { try encoder.encode(value) }

  static func buffer(of value: some Encodable) throws -> ByteBuffer { ByteBuffer(bytes: try data(of: value)) }

  static func response(_ status: HTTPResponse.Status = .ok, _ value: some Encodable) throws -> Response {
    response(status, buffer: try buffer(of: value))
  }

  static func response(_ status: HTTPResponse.Status = .ok, buffer: ByteBuffer) -> Response {
    Response(status: status, headers: fields, body: ResponseBody(byteBuffer: buffer))
  }

  /// The header fields of every response in JSON.
  static let fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
}
