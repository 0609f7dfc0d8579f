// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Logging
import Testing

@testable import crier

@Suite("Support bundles", .timeLimit(.minutes(10)))
struct SupportBundleTests {
  /// Texts that must be in no file of a bundle.
  private static let secrets = [
    "98765.43", "Beeblebrox", "towel-note", "PAYMENT-ID-77", "a1b2c3d4e5", "HOOKSECRET", "whsec_planted", "KEYID12345",
    "TEAMID6789", "PRIVATE KEY",
  ]

  /// Unpacks an archive with the system's `tar`, and returns the contents of its files by name.
  private func unpack(_ archive: Data, _ crier: Command) throws -> [String: String] {
    let folder = crier.directory.appending(path: "unpacked-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "bundle.tar.gz")
    try archive.write(to: file)
    let tar = Process()
    tar.executableURL = URL(filePath: "/usr/bin/env")
    tar.arguments = ["tar", "-xzf", file.path, "-C", folder.path]
    try tar.run()
    tar.waitUntilExit()
    #expect(tar.terminationStatus == 0)
    let inner = folder.appending(path: "crier-support")
    var files: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: inner.path) {
      files[name] = try String(contentsOf: inner.appending(path: name), encoding: .utf8)
    }
    return files
  }

  private func expectNoSecrets(_ files: [String: String], _ more: [String]) {
    for (name, text) in files {
      for secret in Self.secrets + more where !secret.isEmpty {
        #expect(!text.contains(secret), "\(name) contains \(secret)")
      }
    }
  }

  @Test(
    "a support bundle, from the service or the command, has the state of all parts, and none of the planted secrets")
  func secrets() throws {
    let crier = try Command()
    defer { crier.remove() }
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    func write(_ text: String, _ name: String) throws {
      let file = crier.home.appending(path: name)
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
    try write(
      "endpoints:\n  - {id: till, provider: stripe, account: default, secrets: [whsec_planted]}\n", "providers.yaml")
    try write(P256.Signing.PrivateKey().pemRepresentation, "AuthKey.p8")
    try write(
      """
      apns:
        - app: com.example.shop
          key: AuthKey.p8
          key_id: KEYID12345
          team: TEAMID6789
          server: https://127.0.0.1:1
      """, "crier.yaml")
    let service = try RunningService(of: crier)
    try secrets(crier, service)
  }

  private func secrets(_ crier: Command, _ service: RunningService) throws {
    let json = ["Content-Type: application/json"]
    let body =
      #"{"id":"PAYMENT-ID-77","amount":"98765.43","currency":"USD","payer":"Beeblebrox","note":"towel-note","#
      + #""locale":"en-US","deliver":["play"]}"#
    #expect(try service.send("POST", "/v1/announcements", headers: json, body: Data(body.utf8)).status == 201)
    let token = String(repeating: "a1b2c3d4e5", count: 5)
    let device = #"{"bundle_id":"com.example.shop","environment":"production","tokens":{"alert":"\#(token)"}}"#
    let registered = try service.send("PUT", "/v1/devices/phone", headers: json, body: Data(device.utf8)).json()
    let hook = try service.send(
      "POST", "/v1/webhook-endpoints", headers: json, body: Data(#"{"url":"https://shop.example/HOOKSECRET"}"#.utf8)
    ).json()
    let own = try #require(service.key)
    let more = [own, registered["key"]?.string ?? "", hook["secret"]?.string ?? ""]
    #expect(more.allSatisfy { !$0.isEmpty })

    let answer = try service.send("GET", "/v1/support-bundle")
    #expect(answer.status == 200 && answer.header("Content-Type") == "application/gzip")
    let files = try unpack(answer.body, crier)
    #expect(
      Set(files.keys) == [
        "README.txt", "versions.json", "settings.json", "doctor.json", "ledger.json", "readyz.json", "metrics.txt",
        "log.txt",
      ])
    expectNoSecrets(files, more)
    #expect(files["metrics.txt"]?.contains("crier_announcements") == true)
    #expect(files["readyz.json"]?.contains("\"checks\"") == true)
    #expect(files["versions.json"]?.contains("0.1.0") == true)
    #expect(files["ledger.json"]?.contains("20: attempts of webhooks") == true)
    #expect(files["settings.json"]?.contains("(left out)") == true)
    #expect(files["settings.json"]?.contains("\"name\" : \"volume\"") == true)
    #expect(files["log.txt"]?.contains("The service is listening") == true)

    let described = try service.send("GET", "/v1/settings")
    #expect(described.status == 200)
    expectNoSecrets(["/v1/settings": String(decoding: described.body, as: UTF8.self)], more)
    let volume = try described.json()["settings"]?.array?.first { $0["name"]?.string == "volume" }
    #expect(volume?["value"]?.string == "100" && volume?["source"]?.string == "default")
    #expect(try described.json()["versions"]?["espeak-ng"]?.string?.isEmpty == false)

    let place = crier.directory.appending(path: "support.tar.gz")
    let port = service.address.split(separator: ":").last.map(String.init) ?? ""
    let result = try crier("doctor", "--bundle", place.path, "--port", port, "--output", "null")
    #expect(result.message.contains("wrote"), "\(result.message)")
    let own2 = try unpack(try Data(contentsOf: place), crier)
    expectNoSecrets(own2, more)
    #expect(own2["log.txt"] == nil && own2["readyz.json"]?.contains("\"checks\"") == true)
    #expect(own2["doctor.json"]?.isEmpty == false)
  }

  @Test(
    "a support bundle without a service has no readiness and no metrics, and a file that cannot be written is an error")
  func alone() throws {
    let crier = try Command()
    defer { crier.remove() }
    let place = crier.directory.appending(path: "support.tar.gz")
    _ = try crier("doctor", "--bundle", place.path, "--port", "1", "--output", "null")
    let files = try unpack(try Data(contentsOf: place), crier)
    #expect(files["readyz.json"] == "null\n" && files["metrics.txt"] == "")
    #expect(try crier("doctor", "--bundle", "/nowhere/x.tar.gz", "--output", "null").status == 73)
    #expect(try crier("doctor", "--bundle", "").status == 64)
  }

  @Test("tar extracts each file of a support bundle's archive with the same bytes, whatever the file's size")
  func archive() throws {
    let crier = try Command()
    defer { crier.remove() }
    var archive = TarArchive()
    let texts = [
      "empty": "", "short": "a", "block": String(repeating: "b", count: 512),
      "long": String(repeating: "c", count: 70_000),
    ]
    for (name, text) in texts { archive.add("crier-support/\(name)", Data(text.utf8), at: Date()) }
    #expect(try unpack(archive.gzip, crier) == texts)
    #expect(TarArchive.checksum(of: Data("123456789".utf8)) == 0xCBF4_3926)
  }

  @Test("the service's log in memory keeps the last lines, without fields that name accounts or keys")
  func log() {
    let log = RecentLog()
    var logger = Logger(label: "test") { _ in RecentLog.Handler(log: log) }
    logger.logLevel = .info
    logger.debug("hidden")
    for number in 0..<RecentLog.mostLines + 50 {
      logger.warning("line \(number)", metadata: ["account": "shop-7", "key": "k-1", "code": "disk_full"])
    }
    #expect(log.lines.count == RecentLog.mostLines)
    #expect(log.lines.last?.contains("line 249") == true && log.lines.first?.contains("line 50") == true)
    #expect(log.lines.allSatisfy { $0.contains("code=disk_full") && !$0.contains("shop-7") && !$0.contains("k-1") })
    logger.error("\(String(repeating: "x", count: 5_000))")
    #expect(log.lines.last?.count == RecentLog.longestLine)
  }
}
