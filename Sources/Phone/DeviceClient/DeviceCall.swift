// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDownloads

/// One call of the service, before it is sent.
struct DeviceCall: Sendable {
  var action: DeviceClientError.Action
  var method = "GET"
  /// The parts of the path below the URL of the service. They are percent-encoded.
  var path: [String]
  /// The parameters of the query in their order. The names contain only characters that need no encoding.
  var query: [(name: String, value: String)] = []
  var body: Data?
  var accept = "application/json"

  /// Returns the request's URL.
  ///
  /// - Returns: The URL; nil if the service's URL has no host, if it has a query or a fragment, or if a part of the
  ///   path, such as `..`, would lead to another path.
  func url(of service: URL) -> URL? {
    guard var parts = URLComponents(url: service, resolvingAgainstBaseURL: true), let host = parts.host, !host.isEmpty,
      parts.query == nil, parts.fragment == nil,
      // Clients resolve these parts, even encoded ones (RFC 3986, section 5.2.4).
      !path.contains(where: { [".", "..", ""].contains($0) })
    else { return nil }
    var base = parts.percentEncodedPath
    while base.hasSuffix("/") { base.removeLast() }
    parts.percentEncodedPath = base + path.map { "/" + Self.encoded($0) }.joined()
    if !query.isEmpty {
      parts.percentEncodedQuery = query.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
    }
    return parts.url
  }

  /// The header fields; nil if the key has characters that a header cannot contain.
  func fields(key: String) -> [String: String]? {
    // A line break in the key would begin another header field.
    guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    // Ask for no compression, because the length of a compressed answer differs from the declared one.
    var fields = ["Authorization": "Bearer \(key)", "Accept": accept, "Accept-Encoding": "identity"]
    if body != nil { fields["Content-Type"] = "application/json" }
    return fields
  }

  /// Percent-encodes all bytes except the unreserved characters (RFC 3986, section 2.3).
  private static func encoded(_ text: String) -> String {
    // The result is never nil, because every text has a form in UTF-8.
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")

  /// Returns the error for a status, or nil for 200 and 201.
  func code(of status: Int) -> DeviceClientError.Code? {
    switch status {
    case 200, 201: nil
    case 401, 403: .unauthorized
    case 410 where action == .readingLibrary: .anchorExpired
    case 404, 410: .notFound
    case 429: .tooMany
    case 503: .serverBusy
    case 500...599: .serverFailed
    case 300...499: .refused
    default: .unreadableAnswer
    }
  }
}
