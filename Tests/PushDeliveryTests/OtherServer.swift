// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import PushDelivery
import TestSupport

/// A server that is not Crier's: Python's h2, or nghttpd.
final class OtherServer: @unchecked Sendable {  // Only its owner stops it.
  let server: PushServer
  private let process: Process
  private let output: FileHandle

  private init(server: PushServer, process: Process, output: FileHandle) {
    self.server = server
    self.process = process
    self.output = output
  }

  /// Starts `Tests/push/h2_server.py` in a mode.
  static func python(_ mode: String, in folder: URL) async throws -> OtherServer {
    let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "push/h2_server.py")
    let (process, output) = try start("/usr/bin/python3", [program.path, folder.path, mode])
    let line = try await onWaitingThread { try readLine(output) }
    struct Start: Decodable { var port: Int }
    let port = try JSONDecoder().decode(Start.self, from: Data(line.utf8)).port
    let server = PushServer(host: "localhost", port: port, trustRoots: folder.appending(path: "server.pem"))
    return OtherServer(server: server, process: process, output: output)
  }

  /// Starts nghttpd, with a certificate of openssl's.
  static func nghttpd(in folder: URL) async throws -> OtherServer {
    let key = folder.appending(path: "nghttpd-key.pem")
    let certificate = folder.appending(path: "nghttpd.pem")
    let (openssl, _) = try start(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key.path, "-out", certificate.path,
      ])
    await onWaitingThread { openssl.waitUntilExit() }
    // nghttpd does not say which port it got, so it gets one that is free at this moment.
    let port = try freePort()
    let (process, output) = try start(
      "/usr/sbin/nghttpd",
      ["--verbose", "--htdocs=\(folder.path)", "--address=127.0.0.1", "\(port)", key.path, certificate.path])
    // nghttpd writes a line when it listens.
    while try await !onWaitingThread({ try readLine(output) }).contains("listen") {}
    // Nobody reads more, and the program must not wait for a full pipe.
    output.readabilityHandler = { _ = $0.availableData }
    let server = PushServer(host: "localhost", port: port, trustRoots: certificate)
    return OtherServer(server: server, process: process, output: output)
  }

  private static func start(_ program: String, _ arguments: [String]) throws -> (Process, FileHandle) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return (process, pipe.fileHandleForReading)
  }

  private static func readLine(_ output: FileHandle) throws -> String {
    var bytes: [UInt8] = []
    while let byte = try output.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { bytes.append(byte) }
    if bytes.isEmpty { throw Missing(what: "a line from the server") }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns a port on which nothing listens at this moment.
  static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
      }
    }
    guard status == 0 else { throw Missing(what: "a free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Stops the server.
  ///
  /// - Returns: The faults that it found in requests.
  @discardableResult
  func stop() async throws -> [String] {
    try await onWaitingThread { [self] in
      process.killAndWait()
      if output.readabilityHandler != nil {
        output.readabilityHandler = nil
        return []
      }
      struct Line: Decodable { var fault: String }
      let text = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
      return try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)).fault }
    }
  }
}
