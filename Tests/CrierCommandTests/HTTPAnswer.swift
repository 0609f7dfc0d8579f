// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An HTTP answer as received.
struct HTTPAnswer {
  var status: Int
  var headers: [(name: String, value: String)]
  var body: Data

  struct Unreadable: Error { var bytes: String }

  /// - Parameter bytes: The whole answer with its head. The body is everything after the head.
  init(_ bytes: Data) throws {
    let end = bytes.range(of: Data("\r\n\r\n".utf8))
    let head = String(decoding: bytes[..<(end?.lowerBound ?? bytes.endIndex)], as: UTF8.self)
    var lines = head.components(separatedBy: "\r\n")
    guard let end, let status = lines.removeFirst().wholeMatch(of: /HTTP\/1\.1 (\d{3}) .*/) else {
      throw Unreadable(bytes: head)
    }
    self.status = Int(status.1) ?? 0
    headers = try lines.map { line in
      guard let field = line.wholeMatch(of: /([^:\s]+):\s*(.*)/) else { throw Unreadable(bytes: line) }
      return (String(field.1), String(field.2))
    }
    body = Data(bytes[end.upperBound...])
  }

  /// Returns the value of a header field, ignoring the case of its name.
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  var text: String { String(decoding: body, as: UTF8.self) }

  func json() throws -> JSONValue { try JSONValue(body) }

  /// The `code` of the problem document.
  var code: String? { try? json()["code"]?.string }
}

/// A client that sends each request with curl, on a new connection.
enum Curl {
  struct Failure: Error {
    var status: Int32
    var message: String
  }

  /// - Parameters:
  ///   - headers: The header fields, each as `Name: value`. curl's own `Content-Type` and `Expect` are not sent.
  ///   - directory: The folder for temporary files.
  static func send(
    _ method: String, _ url: String, headers: [String], body: Data?, in directory: URL
  ) throws -> HTTPAnswer {
    let files = ["request", "answer", "message"].map { directory.appending(path: "\($0)-\(UUID().uuidString)") }
    defer { for file in files { try? FileManager.default.removeItem(at: file) } }
    var words = ["-sS", "-i", "--http1.1", "--path-as-is", "--globoff", "--max-time", "60", "-H", "Expect:"]
    // With `-X HEAD`, curl would wait for a body.
    words += method == "HEAD" ? ["--head"] : ["-X", method]
    if let body {
      try body.write(to: files[0])
      words += ["--data-binary", "@\(files[0].path)", "-H", "Content-Type:"]
    }
    words += headers.flatMap { ["-H", $0] } + [url]
    let process = try Spawned(
      URL(filePath: "/usr/bin/curl"), words, environment: ["PATH": "/usr/bin:/bin"], directory: directory
    ) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files[1].path, O_WRONLY | O_CREAT, 0o600)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, files[2].path, O_WRONLY | O_CREAT, 0o600)
    }
    let status = process.wait()
    guard status == 0 else {
      throw Failure(status: status, message: try String(contentsOf: files[2], encoding: .utf8))
    }
    return try HTTPAnswer(try Data(contentsOf: files[1]))
  }
}

/// A TCP connection to this machine, for streams and for requests that no client would send.
final class RawConnection {
  struct Failure: Error { var number: Int32 }

  private let descriptor: Int32
  /// The bytes received but not read yet.
  private var bytes = Data()

  /// - Throws: ``Failure``, with `ECONNREFUSED` if nothing listens on the port.
  init(port: UInt16) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    // Data that does not arrive within this time is missing.
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(number: errno) }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // A closed connection must be an error and not a signal.
      let count = rest.withUnsafeBytes {
        #if canImport(Glibc)
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        #else
          write(descriptor, $0.baseAddress, $0.count)
        #endif
      }
      guard count > 0 else { throw Failure(number: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends a request's head.
  func send(_ method: String, _ target: String, headers: [String]) throws {
    try send((["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1"] + headers).joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Closes the sending direction. Data can still be received.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives an answer that states its length.
  ///
  /// - Parameter hasBody: False for an answer to HEAD.
  func receiveAnswer(hasBody: Bool = true) throws -> HTTPAnswer {
    let head = Data(try receive(through: "\r\n\r\n").utf8)
    let length = try HTTPAnswer(head).header("Content-Length").flatMap { Int($0) } ?? 0
    guard hasBody else { return try HTTPAnswer(head) }
    while bytes.count < length { guard try receive() else { throw Failure(number: ECONNRESET) } }
    defer { bytes = Data(bytes.dropFirst(length)) }
    return try HTTPAnswer(head + bytes.prefix(length))
  }

  /// - Returns: All bytes until the other side closes the connection.
  func receiveAll() throws -> Data {
    while try receive() {}
    return bytes
  }

  /// - Returns: All text through `end`. The rest is kept for the next call.
  func receive(through end: String) throws -> String {
    while true {
      if let found = bytes.range(of: Data(end.utf8)) {
        defer { bytes = Data(bytes[found.upperBound...]) }
        return String(decoding: bytes[..<found.upperBound], as: UTF8.self)
      }
      guard try receive() else { throw Failure(number: ECONNRESET) }
    }
  }

  /// - Returns: False if the other side has closed the connection.
  private func receive() throws -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 14)
    let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw Failure(number: errno) }
    bytes += piece[..<count]
    return count > 0
  }
}
