// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceAccess

/// What the server library keeps of a request.
struct ServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    // The library's own is a counter.
    logger[metadataKey: "hb.request.id"] = .string(RandomID.make())
  }
}

/// A request on its way to its answer: who sends it is known, and its body as far as it was read.
struct Call: Sendable {
  var request: Request
  /// The last segment of the path, decoded, where the route has one.
  var parameter = ""
  /// Nobody where the call is open, or its URL signed.
  var caller: Caller?
  /// The signature, where it was checked: the call is its key's, and may have come before.
  var signed: SignedRequest?
  /// What was read of the body to check a signature.
  var readBody: Data?
  /// Set where the sender waits to be told that the body is wanted.
  var awaitedContinue: AwaitedContinue?
  /// The address of the connection's other side; nil where there is none, as on a Unix socket, and where a proxy names
  /// somebody who cannot be told.
  var peer: IPAddress?
  /// Who sends the call: the peer, or whom a known proxy names; nil behind a proxy that names nobody.
  var client: IPAddress?
  var logger: Logger

  /// Who sends it.
  ///
  /// - Throws: ``Problem``, 401, for a call without a key; the route's access sees to it that there is one.
  var sender: Caller {
    get throws(Problem) {
      guard let caller else { throw Problem(.unauthorized, "key_missing", "This call needs a key.") }
      return caller
    }
  }

  /// The address that the call comes from, as far as it is known.
  var remoteAddress: IPAddress? { client ?? peer }

  /// A field of the head, with a control character (DEL) for each byte that is not ASCII: no field that is read here has any, and
  /// comparing other letters may take time that grows with the square of their number.
  func header(_ name: HTTPField.Name) -> String? {
    guard let field = request.headers[name] else { return nil }
    if field.utf8.allSatisfy({ $0 < 0x80 }) { return field }
    return String(decoding: field.utf8.map { $0 < 0x80 ? $0 : 0x7F }, as: UTF8.self)
  }

  /// Whether keys that nobody reads are refused: the sender wants it (`Prefer: handling=strict`, RFC 7240), or its key was
  /// made so.
  var isStrict: Bool { Preference.handling(in: header(.prefer)) == "strict" || caller?.isStrict == true }

  /// What is made of keys that nobody reads.
  var unknownKeys: PayloadDecoder.UnknownKeys { isStrict ? .refuse : .warn }

  /// The first value of a parameter of the query, decoded.
  func query(_ name: String) -> String? { request.uri.queryParameters[Substring(name)].map(String.init) }

  /// What the sender calls the service: `Host`, where it can be one.
  var authority: String? { request.head.authority.flatMap { Authority($0) == nil ? nil : $0 } }

  /// The whole body.
  ///
  /// - Parameter limit: in bytes.
  /// - Throws: ``Problem``: 413 when it is larger, 400 when its sender ends in the middle.
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

  /// Refuses what need not be read, and tells a sender who waits for it (`Expect: 100-continue`) that the body is wanted.
  ///
  /// - Throws: ``Problem``: 413, or 415 for a body that is compressed.
  func beginBody(upTo limit: Int) async throws(Problem) {
    if let length = header(.contentLength).flatMap({ Int($0) }), length > limit { throw Self.tooLarge(limit) }
    try requirePlainContent()
    await awaitedContinue?.answer()
  }

  static let incomplete = Problem(
    .badRequest, "body_incomplete", "The body ended before its end: send all of it.")

  static func tooLarge(_ limit: Int) -> Problem {
    Problem(.contentTooLarge, "payload_too_large", "The body is larger than \(limit) bytes: send less at once.")
  }

  /// - Throws: ``Problem``, 415, when the body is compressed or coded otherwise: it would be read as what it is not.
  private func requirePlainContent() throws(Problem) {
    guard let coding = header(.contentEncoding), coding.lowercased() != "identity" else { return }
    var problem = Problem(
      .unsupportedMediaType, "content_coding_unsupported",
      "Content-Encoding: is not one that is read here; send the body as it is, and no such field.")
    problem.headers[.acceptEncoding] = "identity"
    throw problem
  }

  /// The media type of the body, without its parameters, in lower case.
  var mediaType: String? {
    header(.contentType).map { field in
      field.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  /// - Throws: ``Problem``, 415, unless the body is said to be of one of these types.
  func requireMediaType(_ types: String...) throws(Problem) {
    // As nearly all send it; what has parameters, or capitals, is taken apart.
    if let field = header(.contentType), types.contains(field) { return }
    guard let mediaType, types.contains(mediaType) else {
      throw Problem(
        .unsupportedMediaType, "media_type_unsupported",
        "The body's Content-Type is not one that is read here: send \(types.joined(separator: " or ")).")
    }
  }
}

/// Who sends a request: a key that is in force.
struct Caller: Sendable, Hashable {
  var keyID: String
  var account: String
  /// SHA-256 of the key.
  var digest: Data
  var scopes: Set<Scope>
  var defaults: AnnouncementRequest.Defaults
  var limit: RateLimit
  /// From when on the key is refused; nil for one that does not expire.
  var expiresAt: Date?
  /// From where the key may be used; nil for everywhere.
  var networks: [IPNetwork]?
  /// Whether payloads with unknown keys are refused.
  var isStrict = false

  func isExpired(at moment: Date) -> Bool { expiresAt.map { $0 <= moment } ?? false }

  var isAdmin: Bool { scopes.contains(.admin) }
  /// What stands for the key in the log.
  var logName: String { APIKey.logName(ofDigest: digest) }
}
