// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The rules for a request's head")
struct MessageHeadTests {
  private func message(
    _ fields: [(String, String)], uri: String = "/healthz", version: HTTPVersion = .http1_1
  ) -> MessageHead {
    MessageHead(
      HTTPRequestHead(version: version, method: .POST, uri: uri, headers: HTTPHeaders(fields)), authority: "own:8080")
  }

  private func fault(_ fields: [(String, String)], version: HTTPVersion = .http1_1) -> String? {
    message(fields, version: version).head.headers.first(name: MessageFault.field)
  }

  @Test("a valid request has no fault and keeps its connection open")
  func good() {
    for host in ["a", "pay.example:8080", "[::1]:80", "127.0.0.1", "a:"] {
      let message = message([("hOST", host), ("Transfer-Encoding", "Chunked"), ("Expect", "100-Continue")])
      #expect(message.head.headers.first(name: MessageFault.field) == nil && !message.isLast && !message.isOld)
    }
  }

  @Test(
    "a request must have exactly one valid Host header",
    arguments: [
      [], [("Host", "a"), ("Host", "a")], [("Host", "")], [("Host", "a b")], [("Host", "a/b")], [("Host", "u@a")],
      [("Host", "a:x")], [("Host", "a:65536")], [("Host", "a, b")], [("Host", "[::1")], [("Host", "a:1:2")],
    ] as [[(String, String)]])
  func hosts(fields: [(String, String)]) {
    #expect(fault(fields) == "host_invalid")
    #expect(message(fields).isLast)
    if !fields.isEmpty { #expect(fault(fields, version: .http1_0) == "host_invalid") }
  }

  @Test("the host of an absolute target takes precedence over the Host header")
  func absoluteTarget() {
    let message = message([("Host", "b")], uri: "http://a.example:81/healthz")
    #expect(message.head.headers["Host"] == ["a.example:81"])
    #expect(fault([]) == "host_invalid", "the Host header is still required")
  }

  @Test("the only accepted transfer coding is a single “chunked”, and HTTP/1.0 may not have a transfer coding")
  func codings() {
    for codings in [["gzip, chunked"], ["identity"], ["xchunked"], ["chunked", "chunked"], ["gzip"], [""]] {
      #expect(fault([("Host", "a")] + codings.map { ("Transfer-Encoding", $0) }) == "transfer_coding_unsupported")
    }
    #expect(fault([("Host", "a"), ("Transfer-Encoding", "chunked")], version: .http1_0) == "framing_invalid")
  }

  @Test("the only accepted expectation is 100-continue, and an expectation in HTTP/1.0 is ignored")
  func expectations() {
    #expect(fault([("Host", "a"), ("Expect", "100-continue, 100-continue")]) == nil)
    for value in ["x", "100-continue, x", "100"] {
      #expect(fault([("Host", "a"), ("Expect", value)]) == "expectation_unsupported")
      let old = message([("Host", "a"), ("Expect", value)], version: .http1_0)
      #expect(old.head.headers["Expect"].isEmpty && old.head.headers[MessageFault.field].isEmpty)
    }
  }

  @Test(
    "a connection ends after a response to HTTP/1.0, or when the client's Connection header says close in any spelling")
  func last() {
    let old = message([("Connection", "keep-alive")], version: .http1_0)
    #expect(old.isOld && old.isLast && old.head.headers["Host"] == ["own:8080"])
    #expect(old.head.headers["Connection"] == ["close"])
    for value in ["Close", "foo, close"] {
      let message = message([("Host", "a"), ("Connection", value)])
      #expect(message.isLast && message.head.headers["Connection"] == ["close"])
    }
  }

  @Test("a client cannot mark its own request as faulty with a header")
  func marked() {
    #expect(fault([("Host", "a"), ("cRIER-message-FAULT", "host_invalid")]) == nil)
  }

  @Test("every fault of a request's head has its code and closes the connection")
  func problems() {
    for fault in MessageFault.allCases {
      #expect(fault.problem.code == fault.rawValue && fault.problem.headers[.connection] == "close")
      #expect(fault.problem.status.kind != .successful && fault.problem.detail.hasSuffix("."))
    }
  }
}

@Suite("The host names of the service")
struct HostNamesTests {
  private func contains(_ text: String, host: String = "127.0.0.1", others: [String] = []) throws -> Bool {
    HostNames(host: host, publicURL: "https://Pay.Example/base", others: others)
      .contain(try Authority(text).orThrow("an authority"))
  }

  @Test("the accepted host names are the service's address, localhost, its public host and the configured names")
  func own() throws {
    for name in ["127.0.0.1", "localhost", "LocalHost:80", "[::1]:9", "pay.example", "PAY.example:443"] {
      #expect(try contains(name), "\(name)")
    }
    #expect(try contains("10.0.0.5:8080", host: "10.0.0.5"))
    #expect(try contains("[fe80::1]", host: "fe80::1"))
    #expect(
      try contains("till.local:8080", others: ["Till.local"]) && contains("[2001:db8::1]", others: ["2001:db8::1"]))
  }

  @Test("any other host name than the service's own is refused, even a similar name")
  func others() throws {
    for name in [
      "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "pay.example.evil", "10.0.0.5", "0.0.0.0",
      "localhost.", "[::2]",
    ] {
      #expect(try !contains(name), "\(name)")
    }
  }

  @Test(
    "a service that listens on all addresses accepts any address as its host name, but no other name",
    arguments: ["0.0.0.0", "::", "[::]"])
  func allAddresses(host: String) throws {
    #expect(try contains("192.0.2.7:8080", host: host) && contains("[2001:db8::1]", host: host))
    #expect(try !contains("evil.example", host: host))
  }
}
