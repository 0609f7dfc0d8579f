// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Foundation
import Testing

@Suite("Connections of the push simulator", .timeLimit(.minutes(5)))
struct ConnectionTests {
  @Test("a client that does not speak HTTP/2 is disconnected")
  func http1() async throws {
    try await Bench.with { bench in
      let answer = try await bench.push(options: ["--http1.1"])
      #expect(answer.exit != 0 && answer.status == 0)
      #expect(bench.simulator.counts.requests == 0)
    }
  }

  @Test("TLS before version 1.2 is refused, and 1.2 is accepted")
  func tls() async throws {
    try await Bench.with { bench in
      let token = try bench.token()
      let old = try await bench.push(
        token: token, options: ["--tls-max", "1.1", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0"])
      #expect(old.exit == 35 && old.status == 0)
      #expect(try await bench.push(token: token, options: ["--tls-max", "1.2"]).status == 200)
    }
  }

  @Test("a client that does not trust the authority refuses the connection")
  func trust() async throws {
    try await Bench.with { bench in
      let answer = try await bench.push(options: ["--cacert", "/etc/ssl/certs/ca-certificates.crt"])
      #expect(answer.exit == 60)
    }
  }

  @Test("the certificate is valid only for localhost and 127.0.0.1")
  func names() async throws {
    try await Bench.with { bench in
      let token = try bench.token()
      let port = bench.simulator.port
      let address = try await bench.push(
        token: token, options: ["https://127.0.0.1:\(port)/3/device/\(Bench.device)"])
      #expect(address.exit == 0 && bench.simulator.counts.accepted == 2)
      let other = try await bench.push(
        token: token,
        options: [
          "--fail-early", "--resolve", "api.push.example:\(port):127.0.0.1", "https://api.push.example:\(port)/",
        ])
      #expect(other.exit == 60)
    }
  }

  @Test(
    "a connection allows one stream until its first valid provider token, and then the configured number of streams")
  func strictStreams() async throws {
    try await Bench.with {
      $0.hasStrictStreams = true
      $0.maxConcurrentStreams = 321
    } _: { bench in
      // The server's settings, in the order in which they come.
      let limits = { (log: String) in
        log.matches(of: /SETTINGS_MAX_CONCURRENT_STREAMS\(0x03\):([0-9]+)/).map { String($0.1) }
          // The client states a limit of its own, 100.
          .filter { $0 != "100" }
      }
      let bad = try await Nghttp.log(
        bench.simulator, headers: [("authorization", "bearer a.b.c"), ("apns-topic", Bench.topic)])
      #expect(bad.contains(":status: 403") && limits(bad) == ["1"])
      let good = try await Nghttp.log(bench.simulator, headers: try bench.headers())
      #expect(good.contains(":status: 200") && limits(good) == ["1", "321"])
    }
  }

  @Test("the certificate of the authority is written to the file that the caller names")
  func authority() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try await Bench.with {
      $0.certificateAuthorityFile = file
    } _: { bench in
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(written == bench.simulator.certificateAuthority)
      #expect(bench.simulator.certificateAuthority.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    }
  }

  @Test("an occupied port is an error that names the port")
  func takenPort() async throws {
    try await Bench.with { bench in
      var configuration = APNSSimulator.Configuration()
      configuration.port = bench.simulator.port
      let error = await #expect(throws: APNSSimulatorError.self) {
        try await APNSSimulator.start(configuration)
      }
      #expect(error?.code == .cannotListen && error?.description.contains("\(configuration.port)") == true)
    }
  }

  @Test("requests of several streams at once are all answered")
  func manyStreams() async throws {
    try await Bench.with {
      $0.threads = 2
    } _: { bench in
      let token = try bench.token()
      let prefix = "https://localhost:\(bench.simulator.port)/3/device/" + String(repeating: "0f", count: 30)
      let answer = try await bench.push(
        token: token, options: ["--parallel", "--parallel-max", "50", prefix + "[1001-1200]"])
      #expect(bench.simulator.counts.accepted == 201 && bench.simulator.record.count == 201)
      #expect(answer.exit == 0)
    }
  }
}
