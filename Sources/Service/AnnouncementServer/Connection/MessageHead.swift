// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1

/// The head of a request after the message rules were applied, and the properties of its response.
struct MessageHead {
  var head: HTTPRequestHead
  /// Whether the request uses HTTP/1.0, which has neither chunks nor `100 Continue`.
  let isOld: Bool
  /// Whether the connection is closed after the response.
  private(set) var isLast: Bool

  /// - Parameter authority: The authority of the service, for an HTTP/1.0 request without `Host`.
  init(_ received: HTTPRequestHead, authority: String) {
    head = received
    isOld = received.version != .http1_1
    // HTTP/1.0 connections are closed after the response, because the length of a streamed response is known only from
    // the end of its connection.
    isLast = isOld || !received.isKeepAlive
    var hosts: [String] = []
    var codings: [String] = []
    var expectations: [String] = []
    var isMarked = false
    for (name, value) in received.headers {
      if name.isField("host") { hosts.append(value) }
      if name.isField("transfer-encoding") { codings.append(value) }
      if name.isField("expect") { expectations.append(value) }
      if name.isField("crier-message-fault") { isMarked = true }
    }
    if isMarked { head.headers.remove(name: MessageFault.field) }
    if isOld, !expectations.isEmpty {
      head.headers.remove(name: "Expect")
      expectations = []
    }
    if isOld, hosts.isEmpty {
      head.headers.add(name: "Host", value: authority)
      hosts = [authority]
    }
    // If the request target contains a host, it takes precedence over the field (RFC 9112, section 3.2.2).
    let target = Self.authority(ofTarget: received.uri)
    if let target, hosts.count == 1 { head.headers.replaceOrAdd(name: "Host", value: target) }
    if let fault = Self.fault(hosts: hosts, target: target, codings, expectations, isOld: isOld) {
      head.headers.add(name: MessageFault.field, value: fault.rawValue)
      isLast = true
    }
    // The library closes a connection only for this exact spelling.
    if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
  }

  private static func fault(
    hosts: [String], target: String?, _ codings: [String], _ expectations: [String], isOld: Bool
  ) -> MessageFault? {
    guard hosts.count == 1, Authority(target ?? hosts[0]) != nil else { return .host }
    if !codings.isEmpty {
      if isOld { return .framing }
      guard codings.count == 1, codings[0].lowercased() == "chunked" else { return .transferCoding }
    }
    let isMet = expectations.joined(separator: ",").split(separator: ",").allSatisfy {
      $0.trimmingCharacters(in: .whitespaces).lowercased() == "100-continue"
    }
    return isMet ? nil : .expectation
  }

  /// Returns the authority of a request target, such as `a:80` of `http://a:80/path`; nil for a path.
  private static func authority(ofTarget uri: String) -> String? {
    guard uri.utf8.first != UInt8(ascii: "/"), let scheme = uri.range(of: "://") else { return nil }
    return String(uri[scheme.upperBound...].prefix { !"/?#".contains($0) })
  }
}

extension String {
  /// Returns whether this is the name of a header field, ignoring case.
  ///
  /// - Parameter lowercased: The name in lower case; only letters and `-`. An upper case letter differs from the lower
  ///   case letter in bit 5 alone.
  func isField(_ lowercased: String) -> Bool {
    utf8.count == lowercased.utf8.count
      && zip(utf8, lowercased.utf8).allSatisfy { $0 == $1 || ($1 != UInt8(ascii: "-") && $0 | 0x20 == $1) }
  }
}
