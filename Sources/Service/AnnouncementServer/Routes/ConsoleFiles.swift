// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import TextFormats

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
  /// The modules of the script and the other files that the page loads, by file name.
  private let modules: [String: File]
  /// The texts of the interface, by file name. Each language has two files: one with the texts that the page needs at
  /// once, and one with the texts of the views that the page loads when they are opened.
  private let languages: [String: File]

  private static let script = "text/javascript; charset=utf-8"

  /// The media types of the files in `console/`, by the suffix of their names.
  private static let mediaTypes = [
    ".js": script, ".css": "text/css; charset=utf-8", ".webmanifest": "application/manifest+json", ".png": "image/png",
  ]

  private static let files = [
    ("/", "index.html", "text/html; charset=utf-8"),
    ("/console.css", "console.css", "text/css; charset=utf-8"),
    ("/console.js", "console.js", script),
    ("/openapi.json", "openapi.json", "application/json"),
  ]

  /// The content security policy: the page loads the service's own files only. Clips may also come from memory
  /// (`blob:`), and images from the page itself (`data:`). The manifest is for a page on a home screen.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src 'self' blob:; "
    + "img-src 'self' data: blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// Reads the pages, every file in `console/`, and every language in `languages/`.
  ///
  /// - Throws: Foundation's error if a file cannot be read, and `CocoaError.fileNoSuchFile` if a module imports a
  ///   missing module, or if the texts in English are missing.
  public init(folder: URL) throws {
    pages = try Self.files.map { path, name, mediaType in
      (path, try File(folder.appending(path: name), mediaType: mediaType))
    }
    modules = try Self.read(folder.appending(path: "console"), mediaTypes: Self.mediaTypes)
    languages = try Self.read(folder.appending(path: "languages"), mediaTypes: [".json": "application/json"])
    let scripts = pages.map(\.file).filter { $0.mediaType == Self.script } + modules.values
    let imported = Set(scripts.flatMap(Self.imports))
    guard imported.isSubset(of: modules.keys), languages["en-US.json"] != nil else {
      throw CocoaError(.fileNoSuchFile)
    }
  }

  /// Reads the files of a folder whose names have one of the suffixes.
  private static func read(_ folder: URL, mediaTypes: [String: String]) throws -> [String: File] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    return try names.reduce(into: [:]) { files, name in
      guard let mediaType = mediaTypes.first(where: { name.hasSuffix($0.key) })?.value else { return }
      files[name] = try File(folder.appending(path: name), mediaType: mediaType)
    }
  }

  /// The file names of the modules that a script imports, at the start or later.
  private static func imports(of script: File) -> [String] {
    String(buffer: script.bytes).matches(of: /(?:from |import\()"\.\/(?:console\/)?([^"]*)"/).map { String($0.1) }
  }

  var routes: [Route] {
    pages.map { path, file in .get(path, .openByName) { call in Self.response(with: file, to: call) } } + [
      .get("/console/{name}", .openByName) { call in
        try Self.response(with: modules[call.parameter], "The console has no file with this name.", to: call)
      },
      .get("/languages/{name}", .openByName) { call in
        try Self.response(with: languages[call.parameter], "The console has no language with this name.", to: call)
      },
    ]
  }

  private static func response(with file: File?, _ absence: String, to call: Call) throws -> Response {
    guard let file else { throw Problem.notFound(absence) }
    return response(with: file, to: call)
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
