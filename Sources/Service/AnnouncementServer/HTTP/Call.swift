// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import HostAddresses
import HummingbirdCore
import Logging
import NIOCore
import ServiceAccess

/// A request while it is being processed, with its sender and the part of its body that was read.
struct Call: Sendable {
  var request: Request
  /// The id of the request, in its response and in the log.
  var id = RandomID.make()
  /// The decoded values of the parameters in the path.
  var parameters: [String] = []
  /// The value of the last parameter in the path; empty if the route has none.
  var parameter: String { parameters.last ?? "" }
  /// The sender; nil if the route is open or the URL is signed.
  var caller: Caller?
  /// The name in logs of the key that the request contains or names; nil if there is no such key. It is known even if
  /// the request is refused, and does not prove that the sender has the key.
  var keyName: String?
  /// The checked signature of a signed request. It proves that the owner of the key signed the request, but the request
  /// may be a repetition of an earlier one.
  var signed: SignedRequest?
  /// The body, if it was read to check a signature.
  var readBody: Data?
  /// The pending `100 Continue`; nil if the sender does not wait for it.
  var awaitedContinue: AwaitedContinue?
  /// The client address of the connection; nil if there is none, as on a Unix socket, or if a proxy forwards a client
  /// whose address cannot be determined.
  var peer: IPAddress?
  /// The address of the sender: the peer, or the client that a trusted proxy names; nil if the proxy names no client.
  var client: IPAddress?
  var logger: Logger

  /// The sender of the call.
  ///
  /// - Throws: ``Problem`` with 401 if the call has no key. The access rule of a route ensures that there is one.
  var sender: Caller {
    get throws(Problem) {
      guard let caller else { throw Problem(.unauthorized, "key_missing", "This call needs a key. Send one.") }
      return caller
    }
  }

  /// The address of the sender, or else of the peer; nil if neither is known.
  var remoteAddress: IPAddress? { client ?? peer }

  /// Returns the value of a header field, with each byte that is not ASCII replaced by the control character DEL. No
  /// field that the service reads contains such bytes, and comparing other characters may take time that grows with the
  /// square of their number.
  func header(_ name: HTTPField.Name) -> String? {
    guard let field = request.headers[name] else { return nil }
    if field.utf8.allSatisfy({ $0 < 0x80 }) { return field }
    return String(decoding: field.utf8.map { $0 < 0x80 ? $0 : 0x7F }, as: UTF8.self)
  }

  /// Whether unknown keys of the payload are refused. The sender can request this (`Prefer: handling=strict`, RFC
  /// 7240), or its key can be created with this option.
  var isStrict: Bool { Preference.handling(in: header(.prefer)) == "strict" || caller?.isStrict == true }

  /// How unknown keys of the payload are treated.
  var unknownKeys: PayloadDecoder.UnknownKeys { isStrict ? .refuse : .warn }

  /// Whether the sender wants a stored file or nothing: `Cache-Control: only-if-cached` (RFC 9111, section 5.2.1.7).
  var wantsStoredOnly: Bool {
    header(.cacheControl)?.lowercased().split(separator: ",").contains {
      $0.trimmingCharacters(in: .whitespaces) == "only-if-cached"
    } == true
  }

  /// Returns the value of a query parameter, decoded. A request that repeats a parameter has already been refused.
  func query(_ name: String) -> String? { request.uri.queryParameters[Substring(name)].map(String.init) }

  /// Returns the value of a query parameter that is a whole number, without a sign or leading zeros; nil if it is
  /// missing.
  ///
  /// - Throws: ``Problem`` with 400 `parameter_invalid`.
  func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let text = query(name) else { return nil }
    guard let number = Int(text), range.contains(number), String(number) == text else {
      throw Problem.parameterInvalid("\(name): must be a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// Returns whether a query parameter is `true`.
  ///
  /// - Throws: ``Problem`` with 400 `parameter_invalid` for a value other than `true` and `false`.
  func flag(_ name: String) throws(Problem) -> Bool {
    guard let text = query(name) else { return false }
    guard let flag = Bool(text) else {
      throw Problem.parameterInvalid("\(name): must be true or false.")
    }
    return flag
  }

  /// The authority by which the sender calls the service: the field `Host`, if it is valid.
  var authority: String? { request.head.authority.flatMap { Authority($0) == nil ? nil : $0 } }

  /// Returns the whole body.
  ///
  /// - Parameter limit: The maximum size in bytes.
  /// - Throws: ``Problem`` with 413 if the body is larger than the limit, 415 if it is compressed, or 400 if it is
  ///   incomplete.
  func body(upTo limit: Int) async throws(Problem) -> Data {
    if let readBody {
      guard readBody.count <= limit else { throw Self.tooLarge(limit) }
      return readBody
    }
    try await beginBody(upTo: limit)
    do {
      return Data(try await request.body.collect(upTo: limit).readableBytesView)
    } catch is NIOTooManyBytesError {
      throw Self.tooLarge(limit)
    } catch {
      throw Self.incomplete
    }
  }

  /// Refuses a body that need not be read. Otherwise, sends `100 Continue` if the sender waits for it.
  ///
  /// - Throws: ``Problem`` with 413 if the body is too large, or 415 if it is compressed.
  func beginBody(upTo limit: Int) async throws(Problem) {
    if let length = header(.contentLength).flatMap({ Int($0) }), length > limit { throw Self.tooLarge(limit) }
    try requirePlainContent()
    await awaitedContinue?.answer()
  }

  static let incomplete = Problem(
    .badRequest, "body_incomplete", "The body is incomplete. Send all of it.")

  static func tooLarge(_ limit: Int) -> Problem {
    Problem(.contentTooLarge, "payload_too_large", "The body is larger than \(limit) bytes. Send a smaller one.")
  }

  /// Checks that the body has no content coding. A compressed body would be misread.
  ///
  /// - Throws: ``Problem`` with 415 if the body is compressed or encoded in another way.
  private func requirePlainContent() throws(Problem) {
    guard let coding = header(.contentEncoding), coding.lowercased() != "identity" else { return }
    var problem = Problem(
      .unsupportedMediaType, "content_coding_unsupported",
      "Content-Encoding: is not supported; send the body uncompressed, without this header.")
    problem.headers[.acceptEncoding] = "identity"
    throw problem
  }

  /// The media type of the body, in lower case and without its parameters.
  var mediaType: String? {
    header(.contentType).map { field in
      field.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  /// Checks the media type of the body.
  ///
  /// - Throws: ``Problem`` with 415 if the body's media type is not one of these types.
  func requireMediaType(_ types: String...) throws(Problem) {
    // A field with parameters or capitals is parsed below.
    if let field = header(.contentType), types.contains(field) { return }
    guard let mediaType, types.contains(mediaType) else {
      throw Problem(
        .unsupportedMediaType, "media_type_unsupported",
        "Content-Type: is not supported; send \(types.joined(separator: " or ")).")
    }
  }

  /// Checks that the body is a sound.
  ///
  /// - Throws: ``Problem`` with 415 if the body's media type is not `audio/…`.
  func requireSound() throws(Problem) {
    guard mediaType?.hasPrefix("audio/") == true else {
      throw Problem(
        .unsupportedMediaType, "media_type_unsupported",
        "Content-Type: is not supported; send a sound file with its media type, such as audio/wav.")
    }
  }
}
