// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// The service's responses in JSON. Keys are the names of the properties in snake case, such as `created_at`.
enum ServiceJSON {
  private static let encoder = {
    let encoder = ReportJSON.makeEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
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

  /// Returns the response to the removal of an object with an id.
  static func removed(_ id: String) throws -> Response { try response(.ok, ["id": id]) }

  /// The header fields of every response in JSON.
  static let fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
}
