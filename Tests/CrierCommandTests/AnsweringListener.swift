// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A server on a port of loopback that gives each request the same answer and keeps what it received.
final class AnsweringListener: Sendable {
  let port: Int
  private let descriptor: Int32
  private let requests = Locked<[String]>([])

  /// - Parameter answer: The answer's status line and body, such as `200 OK` and `success`.
  init(_ status: String, body: String = "") throws {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, size) + listen(number, 4) + getsockname(number, $0, &size)
      }
    }
    try #require(result == 0)
    descriptor = number
    port = Int(UInt16(bigEndian: address.sin_port))
    let answer = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    Thread.detachNewThread { [requests] in
      while true {
        let connection = accept(number, nil, nil)
        guard connection >= 0 else { return }
        let handle = FileHandle(fileDescriptor: connection, closeOnDealloc: true)
        let request = Self.request(from: handle)
        requests.withLock { $0.append(request) }
        try? handle.write(contentsOf: Data(answer.utf8))
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// The requests so far, each with its head and its body.
  var received: [String] { requests.withLock { $0 } }

  /// Reads a request with a `Content-Length`.
  private static func request(from handle: FileHandle) -> String {
    var text = ""
    while true {
      if let end = text.range(of: "\r\n\r\n"), let length = text.firstMatch(of: /(?i)content-length: (\d+)/),
        text[end.upperBound...].utf8.count >= Int(length.1) ?? 0
      {
        return text
      }
      let bytes = handle.availableData
      guard !bytes.isEmpty else { return text }
      text += String(decoding: bytes, as: UTF8.self)
    }
  }
}
