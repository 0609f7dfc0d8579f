// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import VoicePackIntegrity

/// The files of the console and the API description. They are read once, from the folder `Console/` of the data.
public struct ConsoleFiles: Sendable {
  private struct File: Sendable {
    var mediaType: String
    var bytes: ByteBuffer
    var etag: String

    /// - Throws: Foundation's error if the file cannot be read.
    init(_ url: URL, mediaType: String) throws {
      let data = try Data(contentsOf: url)
      self.mediaType = mediaType
      bytes = ByteBuffer(bytes: data)
      etag = "\"\(SHA256.hash(data: data).hexadecimal.prefix(32))\""
    }
  }

  /// The files by path.
  private let pages: [(path: String, file: File)]
  /// The modules of the script by file name.
  private let modules: [String: File]

  private static let script = "text/javascript; charset=utf-8"

  private static let files = [
    ("/", "index.html", "text/html; charset=utf-8"),
    ("/console.css", "console.css", "text/css; charset=utf-8"),
    ("/console.js", "console.js", script),
    ("/openapi.json", "openapi.json", "application/json"),
  ]

  /// The modules that `console.js` imports. They are in the folder `console/`, and are served below `/console/`.
  static let moduleNames = [
    "access.js", "curl.js", "events.js", "figures.js", "form.js", "languages.js", "packs.js", "page.js", "player.js",
    "preview.js", "readiness.js", "recent.js", "rows.js", "sending.js", "service.js", "session.js", "sound.js",
    "waveform.js",
  ]

  /// The content security policy: the page loads the service's own files only. Clips may also come from memory
  /// (`blob:`), and images from the page itself (`data:`).
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src 'self' blob:; "
    + "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// - Throws: Foundation's error if a file cannot be read.
  public init(folder: URL) throws {
    pages = try Self.files.map { path, name, mediaType in
      (path, try File(folder.appending(path: name), mediaType: mediaType))
    }
    modules = try Dictionary(
      uniqueKeysWithValues: Self.moduleNames.map { name in
        (name, try File(folder.appending(path: "console/\(name)"), mediaType: Self.script))
      })
  }

  var routes: [Route] {
    pages.map { path, file in .get(path, .openByName) { call in Self.response(with: file, to: call) } } + [
      .get("/console/{name}", .openByName) { call in
        guard let file = modules[call.parameter] else {
          throw Problem(.notFound, "not_found", "The console has no module with this name.")
        }
        return Self.response(with: file, to: call)
      }
    ]
  }

  private static func response(with file: File, to call: Call) -> Response {
    var headers: HTTPFields = [
      .contentType: file.mediaType, .eTag: file.etag, .cacheControl: "no-cache", .contentSecurityPolicy: policy,
    ]
    headers[.referrerPolicy] = "no-referrer"
    if let known = call.header(.ifNoneMatch), FileAnswer.lists(known, file.etag) {
      return Response(status: .notModified, headers: headers)
    }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.bytes))
  }
}

extension HTTPField.Name {
  fileprivate static let referrerPolicy = HTTPField.Name(token: "Referrer-Policy")
}
