// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceAccess

/// The signed URLs of clips.
struct ClipURLs: Sendable {
  private let signer: SignedURL
  private let base: String?
  private let authority: String
  private let lifetime: TimeInterval
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - base: The public base URL of the service, such as `https://pay.example`; nil to use the authority by which
  ///     each client calls the service.
  ///   - authority: The host and port on which the service listens.
  ///   - lifetime: The lifetime of a URL, in seconds.
  init(
    signer: SignedURL, base: String?, authority: String, lifetime: TimeInterval,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.signer = signer
    self.base = base.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.authority = authority
    self.lifetime = lifetime
    self.now = now
  }

  /// Returns a signed URL of a clip.
  ///
  /// - Parameter authority: The authority by which the client calls the service.
  func url(ofClip name: String, authority: String?) throws(AccessError) -> String {
    let path = try signer.signed("/v1/clips/\(name)", until: now().addingTimeInterval(lifetime))
    return (base ?? "http://\(authority ?? self.authority)") + path
  }

  /// Checks that a signed URL is valid.
  ///
  /// - Throws: `AccessError` if the clip may not be fetched with this URL.
  func check(_ uri: URI) throws(AccessError) {
    func value(_ name: Substring) -> String? { uri.queryParameters[name].map(String.init) }
    try signer.check(path: uri.path, expires: value("expires"), signature: value("signature"), at: now())
  }
}

/// The route `GET /v1/clips/{name}`.
struct ClipRoutes: Sendable {
  let clips: Clips

  var routes: [Route] { [.get("/v1/clips/{name}", .keyOrSignedURL(.read), get)] }

  private func get(_ call: Call) async throws -> Response {
    guard let file = try await clips.file(named: call.parameter) else {
      throw Problem(.notFound, "not_found", "There is no clip of that name; it may have been removed.")
    }
    return try FileAnswer(file: file).response(to: call.request)
  }
}

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
        .rangeNotSatisfiable, "range_not_satisfiable", "The file has \(size) bytes, and no part like that.")
      problem.headers[.contentRange] = "bytes */\(size)"
      throw problem
    }
    headers[.contentRange] = "bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/\(size)"
    let start = file.bytes.readerIndex
    let part = file.bytes.getSlice(at: start + bounds.lowerBound, length: bounds.count) ?? ByteBuffer()
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

/// A requested range of bytes: `bytes=0-499`, `bytes=500-` or `bytes=-500`.
struct ByteRange: Sendable, Hashable {
  private var first: Int?
  private var last: Int?

  /// - Returns: nil for several ranges, another unit or an invalid range. The response then contains the whole file.
  init?(_ field: String) {
    guard field.hasPrefix("bytes=") else { return nil }
    let ends = field.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
    guard ends[0].isEmpty || first != nil, ends[1].isEmpty || last != nil, first != nil || last != nil else {
      return nil
    }
    if let first, let last, first > last { return nil }
  }

  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // A number that is too large for `Int` lies beyond the end of any file, so its exact value does not matter.
    return Int(text) ?? Int.max
  }

  /// Returns the bounds of the range in a file of a size in bytes; nil if the range contains none of its bytes.
  func bounds(in size: Int) -> Range<Int>? {
    guard let first else {
      guard let last, last > 0, size > 0 else { return nil }
      return max(0, size - last)..<size
    }
    guard first < size else { return nil }
    return first..<min(size, last.map { $0 < Int.max ? $0 + 1 : $0 } ?? size)
  }
}
