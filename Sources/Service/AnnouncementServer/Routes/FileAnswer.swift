// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The response with a file that never changes, or with a part of it (RFC 9110, sections 13 and 14).
struct FileAnswer: Sendable {
  var file: Clips.File

  /// Returns the response to a request for the file.
  ///
  /// - Throws: ``Problem`` with 416 if the file has no such part.
  func response(to request: Request) throws(Problem) -> Response {
    var headers = file.fields
    if let known = request.headers[.ifNoneMatch], Self.lists(known, file.etag) {
      return Response(status: .notModified, headers: headers)
    }
    let size = file.bytes.readableBytes
    // A part is sent only if the client has the same version. The service sends no modification dates, so a date in
    // `If-Range` never matches.
    let isSame = request.headers[.ifRange].map { $0 == file.etag } ?? true
    guard request.method == .get, isSame, let field = request.headers[.range], let range = ByteRange(field) else {
      return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.bytes))
    }
    guard let bounds = range.bounds(in: size) else {
      var problem = Problem(
        .rangeNotSatisfiable, "range_not_satisfiable",
        "Range: is outside the file, which has \(size) bytes; request a part of it.")
      problem.headers[.contentRange] = "bytes */\(size)"
      throw problem
    }
    headers[.contentRange] = "bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/\(size)"
    // The bounds are inside the readable bytes, so there is a slice.
    let part = file.bytes.getSlice(at: file.bytes.readerIndex + bounds.lowerBound, length: bounds.count) ?? ByteBuffer()
    return Response(status: .partialContent, headers: headers, body: ResponseBody(byteBuffer: part))
  }

  /// Returns whether a list of entity tags contains this tag, strong or weak.
  static func lists(_ field: String, _ etag: String) -> Bool {
    field.split(separator: ",").contains { entry in
      let tag = entry.trimmingCharacters(in: .whitespaces)
      return tag == "*" || tag == etag || tag == "W/\(etag)"
    }
  }
}
