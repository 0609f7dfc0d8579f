// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import VoicePackIntegrity

/// The console and the contract: files beside the program, read once.
public struct ConsoleFiles: Sendable {
  struct Page: Sendable {
    var path: String
    var mediaType: String
    var bytes: ByteBuffer
    var etag: String
  }

  let pages: [Page]

  private static let files = [
    ("/", "index.html", "text/html; charset=utf-8"),
    ("/console.css", "console.css", "text/css; charset=utf-8"),
    ("/console.js", "console.js", "text/javascript; charset=utf-8"),
    ("/openapi.json", "openapi.json", "application/json"),
  ]

  /// Nothing from elsewhere, nothing that is not in the three files; what plays is made in the page.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src 'self' blob:; "
    + "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// - Throws: Foundation's error for a file that is not there.
  public init(folder: URL) throws {
    pages = try Self.files.map { path, name, mediaType in
      let data = try Data(contentsOf: folder.appending(path: name))
      let digest = SHA256.hash(data: data).hexadecimal.prefix(32)
      return Page(path: path, mediaType: mediaType, bytes: ByteBuffer(bytes: data), etag: "\"\(digest)\"")
    }
  }

  var routes: [Route] {
    pages.map { page in
      .get(page.path, .openByName) { call in
        var headers: HTTPFields = [
          .contentType: page.mediaType, .eTag: page.etag, .cacheControl: "no-cache",
          .contentSecurityPolicy: Self.policy,
        ]
        headers[.referrerPolicy] = "no-referrer"
        if let known = call.header(.ifNoneMatch), FileAnswer.lists(known, page.etag) {
          return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: page.bytes))
      }
    }
  }
}

extension HTTPField.Name {
  fileprivate static let referrerPolicy = HTTPField.Name(token: "Referrer-Policy")
}
