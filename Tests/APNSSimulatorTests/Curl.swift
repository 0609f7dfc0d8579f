// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Foundation

/// A client that is not Crier's: the program curl, with HTTP/2 and TLS.
struct Curl {
  /// An answer as curl received it.
  struct Answer {
    /// The exit status of curl: 0 for an answer, 92 for a stream that was reset, 28 for a time-out.
    var exit: Int32
    var status: Int
    /// The header fields, with lowercase names.
    var headers: [String: String]
    var body: String
    /// What curl wrote to standard error.
    var log: String

    var reason: String? { json?["reason"] as? String }
    var timestamp: Int64? { (json?["timestamp"] as? NSNumber)?.int64Value }

    private var json: [String: Any]? {
      try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
    }
  }

  private let port: Int
  private let folder: URL

  /// - Parameter folder: A fresh folder for the files of the client.
  init(_ simulator: APNSSimulator, folder: URL) throws {
    (port, self.folder) = (simulator.port, folder)
    try Data(simulator.certificateAuthority.utf8).write(to: authority)
  }

  private var authority: URL { folder.appending(path: "authority.pem") }

  /// Sends a request.
  ///
  /// - Parameter options: Further options of curl.
  func send(
    _ method: String = "POST", _ path: String, headers: [(String, String)], body: [UInt8], options: [String] = []
  ) async throws -> Answer {
    try await onWaitingThread { () throws -> Answer in
      let name = UUID().uuidString
      let file = { (suffix: String) in folder.appending(path: name + suffix) }
      try Data(body).write(to: file(".body"))
      for suffix in [".head", ".answer", ".log", ".status"] { try Data().write(to: file(suffix)) }
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/curl")
      process.arguments =
        [
          "--silent", "--show-error", "--http2", "--max-time", "60", "--cacert", authority.path, "--request", method,
          "--data-binary", "@\(file(".body").path)", "--header", "content-type:",
          "--dump-header", file(".head").path, "--output", file(".answer").path, "--write-out", "%{http_code}",
        ] + headers.flatMap { ["--header", $1.isEmpty ? "\($0);" : "\($0): \($1)"] } + options
        + ["https://localhost:\(port)\(path)"]
      process.standardOutput = try FileHandle(forWritingTo: file(".status"))
      process.standardError = try FileHandle(forWritingTo: file(".log"))
      try process.run()
      process.waitUntilExit()
      let read = { (suffix: String) in String(decoding: try Data(contentsOf: file(suffix)), as: UTF8.self) }
      let fields = try read(".head").split(whereSeparator: \.isNewline).compactMap { line -> (String, String)? in
        guard let colon = line.firstIndex(of: ":") else { return nil }
        return (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
      }
      return Answer(
        exit: process.terminationStatus, status: Int(try read(".status")) ?? 0,
        headers: Dictionary(fields, uniquingKeysWith: { $1 }), body: try read(".answer"), log: try read(".log"))
    }
  }
}
