// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import Testing

@testable import InstallationExamination

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program on a port of loopback that answers one connection with given bytes, or closes it.
private final class Listener {
  let port: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = descriptor
    let status = withUnsafeMutablePointer(to: &address) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, size) + listen(number, 4) + getsockname(number, $0, &size)
      }
    }
    try #require(status == 0)
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }

  /// Answers the next connection after its request has arrived.
  func answer(_ text: String) {
    let number = descriptor
    Thread.detachNewThread {
      let connection = accept(number, nil, nil)
      var request = [UInt8](repeating: 0, count: 1_000)
      _ = recv(connection, &request, request.count, 0)
      _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
      close(connection)
    }
  }
}

@Suite("The examination of the port")
struct PortLookTests {
  private func outcome(_ host: String, _ port: Int) -> PortFacts.Outcome {
    PortLook.look(host: host, port: port, authority: "\(host):\(port)").outcome
  }

  private static let ready =
    #"{"status":"ready","checks":{"engine":{"ok":true},"disk":{"ok":true},"ledger":{"ok":true},"device":{"ok":true}}}"#

  @Test("port 0 means any port, and an unused port is free and stays free after the examination")
  func free() throws {
    #expect(outcome("127.0.0.1", 0) == .any)
    let port = try { try Listener().port }()
    #expect(outcome("127.0.0.1", port) == .free)
    #expect(outcome("127.0.0.1", port) == .free, "the look itself does not keep the port")
    #expect(outcome("0.0.0.0", port) == .free)
  }

  @Test("a service of Crier on the port, and its failed checks, are recognised by the answer of /readyz")
  func service() throws {
    let listener = try Listener()
    listener.answer("HTTP/1.1 200 OK\r\nContent-Length: \(Self.ready.utf8.count)\r\n\r\n\(Self.ready)")
    #expect(outcome("127.0.0.1", listener.port) == .service(status: "ready", failing: []))
    let body = Self.ready.replacing(#""disk":{"ok":true}"#, with: #""disk":{"ok":false,"code":"disk_full"}"#)
      .replacing(#""status":"ready""#, with: #""status":"unready""#)
    listener.answer("HTTP/1.1 503 Service Unavailable\r\n\r\n\(body)")
    #expect(outcome("0.0.0.0", listener.port) == .service(status: "unready", failing: ["disk"]))
    let degraded = Self.ready.replacing(
      #""device":{"ok":true}"#, with: #""pushes":{"ok":false},"webhooks":{"ok":true}"#
    )
    .replacing(#""status":"ready""#, with: #""status":"degraded""#)
    listener.answer("HTTP/1.1 200 OK\r\n\r\n\(degraded)")
    #expect(outcome("127.0.0.1", listener.port) == .service(status: "degraded", failing: ["pushes"]))
  }

  @Test("if APNs refuses all pushes to an app, the examination has the reason, its meaning and the remedy")
  func pushRefusal() throws {
    let listener = try Listener()
    let body = Self.ready.replacing(
      #""device":{"ok":true}"#, with: #""pushes":{"ok":false,"code":"push_refused","cause":"TopicDisallowed"}"#
    )
    .replacing(#""status":"ready""#, with: #""status":"degraded""#)
    listener.answer("HTTP/1.1 200 OK\r\n\r\n\(body)")
    #expect(
      outcome("127.0.0.1", listener.port)
        == .service(
          status: "degraded", failing: ["pushes"],
          pushRefusal: "TopicDisallowed: The team of the key does not own the app. Check the setting 'apns'."))
  }

  @Test(
    "a program on the port with another answer, or without an answer, is reported as another program",
    arguments: [
      "", "HTTP/1.1 404 Not Found\r\n\r\n{\"status\":\"ready\"}", "HTTP/1.1 200 OK\r\n\r\n<html></html>",
      "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\n\r\n}{", "220 mail {\"status\":\"ready\",\"checks\":{}}",
      "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ready\",\"checks\":{\"engine\":{\"ok\":true}}}",
    ])
  func otherProgram(answer: String) throws {
    let listener = try Listener()
    listener.answer(answer)
    #expect(outcome("127.0.0.1", listener.port) == .otherProgram)
  }

  @Test("a port cannot be examined for an empty host or for the address of another machine")
  func addresses() {
    for host in ["", "192.0.2.1"] {  // The second is for documentation (RFC 5737).
      guard case .unusable = outcome(host, 8_080) else { Issue.record("\(host)"); return }
    }
  }
}
