// SPDX-License-Identifier: Apache-2.0

import Foundation
public import InstallationDiagnosis
import Ledger
import PushDelivery

/// A look at the address and the port of the service. It never listens.
public enum PortLook {
  /// The time that a program on the port has to accept the connection, and then to answer, in seconds.
  private static let patience = 4
  /// The size of the longest answer that is read, in bytes.
  private static let longestAnswer = 64 << 10

  /// - Parameters:
  ///   - host: A name or an address, as in the settings.
  ///   - authority: The host and the port, as in a URL.
  public static func look(host: String, port: Int, authority: String) -> PortFacts {
    PortFacts(authority: authority, outcome: port == 0 ? .any : outcome(host, port, authority))
  }

  private static func outcome(_ host: String, _ port: Int, _ authority: String) -> PortFacts.Outcome {
    guard let address = SocketAddress(host: host, port: port) else {
      return .unusable("“\(host)” is neither an address nor a name that has one")
    }
    let status = address.tryBinding()
    switch status {
    case 0: return .free
    case EADDRINUSE, EACCES:
      guard let answer = answer(at: address.reachable, authority) else {
        return status == EACCES ? .notPermitted : .otherProgram
      }
      return outcome(of: answer)
    case EADDRNOTAVAIL: return .unusable("the address does not belong to this machine")
    default: return .unusable(unsafe String(cString: strerror(status)))  // There is a text for any number.
    }
  }

  private struct Readiness: Decodable {
    struct Check: Decodable {
      var ok: Bool
      var code: String?
      var cause: String?
    }
    var status: String
    var checks: [String: Check]
  }

  /// Judges an answer to `GET /readyz`.
  static func outcome(of answer: [UInt8]) -> PortFacts.Outcome {
    // The body is one JSON object, and header fields have no braces.
    guard let start = answer.firstIndex(of: UInt8(ascii: "{")), let end = answer.lastIndex(of: UInt8(ascii: "}")),
      start < end, answer.starts(with: Array("HTTP/1.".utf8)),
      let readiness = try? JSONDecoder().decode(Readiness.self, from: Data(answer[start...end])),
      ["engine", "disk", "ledger"].allSatisfy({ readiness.checks[$0] != nil }),
      ["ready", "degraded", "unready", "stopping"].contains(readiness.status)
    else { return .otherProgram }
    let known = ["engine", "disk", "ledger", "device", "lanes", "pushes", "webhooks", "providers", "set_aside"]
    let pushes = readiness.checks["pushes"]
    let refusal = pushes?.code == "push_refused" ? pushes?.cause : nil
    return .service(
      status: readiness.status, failing: known.filter { readiness.checks[$0]?.ok == false },
      pushRefusal: refusal.map { "\($0): \(PushOutcomeText.text(of: .failed, reason: $0))" })
  }

  /// Asks the program at an address for `/readyz`.
  ///
  /// - Returns: The answer's bytes; nil if no program accepts the connection.
  private static func answer(at address: SocketAddress, _ authority: String) -> [UInt8]? {
    guard let connection = Connection(to: address, patience: patience) else { return nil }
    connection.write("GET /readyz HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n")
    let deadline = ContinuousClock.now + .seconds(2 * patience)
    var answer: [UInt8] = []
    while answer.count < longestAnswer, ContinuousClock.now < deadline {
      let bytes = connection.receive()
      if bytes.isEmpty { break }
      answer += bytes
    }
    return answer
  }
}
