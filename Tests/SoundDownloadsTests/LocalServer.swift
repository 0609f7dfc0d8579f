// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An HTTP server on 127.0.0.1 that sends exactly what a test tells it to send, right or wrong. Each connection has a
/// thread and one request.
final class LocalServer: Sendable {
  struct Request: Sendable {
    var target: String
    /// The header fields by their names in lower case.
    var fields: [String: String]
  }

  /// An open connection whose request has been read.
  struct Connection {
    fileprivate let descriptor: Int32

    /// - Returns: False if the client has closed the connection.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        // A closed connection must be an error and not a signal.
        let count = rest.withUnsafeBytes {
          #if canImport(Glibc)
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          #else
            write(descriptor, $0.baseAddress, $0.count)
          #endif
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    /// Sends the head of an answer.
    @discardableResult
    func send(_ status: String, _ fields: [String]) -> Bool {
      send(Array((["HTTP/1.1 \(status)"] + fields + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8))
    }

    /// Waits until the client closes the connection.
    func waitForClient() { while !receive().isEmpty {} }

    fileprivate func receive() -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: 1 << 12) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, 1 << 12))
      }
    }
  }

  typealias Script = @Sendable (Request, Connection) -> Void

  struct Failure: Error { var number: Int32 }

  let port: UInt16
  private let listener: Int32
  private let received = Locked<[Request]>([])

  /// - Parameter script: Answers a request. The connection is closed when the script returns.
  init(_ script: @escaping Script) throws {
    #if canImport(Glibc)
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #else
      listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { [listener] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard bind(listener, $0, length) == 0, listen(listener, 16) == 0 else { return Int32(-1) }
        return getsockname(listener, $0, &length)
      }
    }
    guard result == 0 else { throw Failure(number: errno) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [listener, received] in Self.serve(listener, received, script) }
  }

  /// Ends the thread that accepts connections.
  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  var requests: [Request] { received.withLock { $0 } }

  private static func serve(_ listener: Int32, _ received: Locked<[Request]>, _ script: @escaping Script) {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      Thread.detachNewThread {
        let connection = Connection(descriptor: descriptor)
        if let request = Self.request(connection) {
          received.withLock { $0.append(request) }
          script(request, connection)
        }
        close(descriptor)
      }
    }
    close(listener)
  }

  private static func request(_ connection: Connection) -> Request? {
    var bytes: [UInt8] = []
    while !String(decoding: bytes, as: UTF8.self).hasSuffix("\r\n\r\n") {
      let piece = connection.receive()
      if piece.isEmpty { return nil }
      bytes += piece
      // The first byte of a TLS handshake. The server has no TLS, and answers as such servers do.
      if bytes.first == 0x16 {
        connection.send("400 Bad Request", ["Content-Length: 0"])
        return nil
      }
    }
    var lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines.removeFirst().split(separator: " ")
    guard words.count == 3 else { return nil }
    var fields: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return Request(target: String(words[1]), fields: fields)
  }
}
