// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import SoundOutputTestSupport
import Testing
import Waveforms

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite(
  "Commands and the service with a ledger on a server", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct LedgerOnServerTests {
  /// The names of a home's files that belong to a ledger.
  private func ledgerFiles(_ crier: Command) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: crier.home.path).filter { $0.hasPrefix("ledger.sqlite") })
  }

  /// The labels of the sounds that were heard, from the log of a `file:` output.
  private func heard(_ log: URL) throws -> [String] {
    try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map { try JSONValue(String($0)) }
      .filter { $0["event"]?.string == "end" && $0["outcome"]?.string == "heard" }.compactMap { $0["label"]?.string }
  }

  private func playState(_ service: RunningService, _ id: String) throws -> String? {
    try service.send("GET", "/v1/announcements/\(id)").json()["delivery"]?["play"]?["state"]?.string
  }

  @Test("every command that opens the ledger uses the server of the settings, and no ledger is made in the home")
  func commands() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await LedgerServer.shared.value
    let name = try await LedgerServer.use(server, in: crier)
    let created = try crier("keys", "create", "--json")
    #expect(created.status == 0, "\(created.message)")
    let id = try #require(try JSONValue(created.output)["id"]?.string)
    #expect(try crier("keys", "list").output.contains(id))
    #expect(try crier("keys", "log").output.contains(id))
    let rotated = try crier("keys", "rotate", id, "--overlap", "0s", "--json")
    #expect(rotated.status == 0, "\(rotated.message)")
    let successor = try #require(try JSONValue(rotated.output)["id"]?.string)
    #expect(try crier("keys", "revoke", successor).status == 0)
    #expect(try crier("keys", "link", "--scope", "till", "--name", "Kim", "--url", "https://shop.example").status == 0)
    let stored = try await LedgerServer.texts("SELECT id AS value FROM keys", on: server, database: name)
    #expect(Set(stored) == [id, successor])

    let sound = crier.directory.appending(path: "tone.wav")
    try Data(WAVFile.encode(Tone.sine(440, milliseconds: 200, rate: 22_050))).write(to: sound)
    let log = crier.directory.appending(path: "played.log")
    let played = try crier("play", sound.path, "--output", "file:\(log.path)")
    #expect(played.status == 0, "\(played.message)")
    let preview = try crier(
      "preview", "--amount", "12.50", "--currency", "USD", "--locale", "en-US", "--output", "file:\(log.path)")
    #expect(preview.status == 0, "\(preview.message)")
    #expect(try heard(log).count == 2)
    let queue = try crier("queue", "--json", "--output", "file:\(log.path)")
    #expect(queue.status == 0 && queue.output.contains("\"lane\""), "\(queue.message)")
    try FileManager.default.createDirectory(at: crier.sounds, withIntermediateDirectories: true)
    #expect(try crier("sounds", "prune", "--max-files", "9").status == 0)
    #expect(try ledgerFiles(crier).isEmpty)
  }

  @Test("a dry run that needs the ledger makes no table in an empty database")
  func dryRun() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await LedgerServer.shared.value
    let name = try await LedgerServer.use(server, in: crier)
    try FileManager.default.createDirectory(at: crier.sounds, withIntermediateDirectories: true)
    let result = try crier("sounds", "prune", "--max-files", "9", "--dry-run")
    #expect(result.status == 69)
    #expect(result.message.contains("the tables must first be brought up to date"), "\(result.message)")
    let tables =
      "SELECT relname::text AS value FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    #expect(try await LedgerServer.texts(tables, on: server, database: name).isEmpty)
  }

  @Test("the clips in a home's containers are kept for that home's ledger, even if the environment has another ledger")
  func containers() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await LedgerServer.shared.value
    try await LedgerServer.use(server, in: crier)
    #expect(try crier("keys", "create").status == 0)
    try FileManager.default.createDirectory(at: crier.sounds, withIntermediateDirectories: true)
    // The variable is about the usual home, which is another one here.
    let variables = [
      "CRIER_HOME": crier.directory.appending(path: "usual").path, "CRIER_LEDGER": "postgresql:///none?host=/nowhere",
    ]
    let result = try crier(
      "sounds", "prune", "--max-files", "9", "--containers", crier.home.appending(path: "containers").path,
      environment: variables)
    #expect(result.status == 0 && !result.message.contains("belongs to no known home"), "\(result.message)")
  }

  @Test(
    "a service accepts a payment, plays it, and answers it again as before, also as another node and after a restart")
  func payment() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await LedgerServer.shared.value
    try await LedgerServer.use(server, in: crier)
    let log = crier.directory.appending(path: "played.log")
    let flags = ["--port", "0", "--output", "file:\(log.path)"]
    let body = #"{"id":"server-1","amount":"12.50","currency":"USD","locale":"en-US","deliver":["clip","play"]}"#
    var report = Data()
    do {
      let service = try RunningService(of: crier, flags)
      let first = try service.announce(body)
      #expect(first.status == 201, "\(first.text)")
      report = first.body
      let again = try service.announce(body)
      #expect(again.status == 200 && again.body == report)
      let other = body.replacing("12.50", with: "13.50")
      #expect(try service.announce(other).status == 409)
      try eventually("the payment is played") { try playState(service, "server-1") == "played" }
      #expect(try service.send("GET", "/readyz").status == 200)
      let settings = try service.send("GET", "/v1/settings").text
      #expect(settings.contains("(left out)@") && !settings.contains("//crier@"), "\(settings)")

      // The home of the node contains no clip, so it makes the clip of its own.
      let node = try Command()
      defer { node.remove() }
      try LedgerServer.write(
        try String(contentsOf: crier.home.appending(path: "crier.yaml"), encoding: .utf8), in: node)
      let second = try RunningService(of: node)
      let repeated = try second.announce(body, key: service.key)
      #expect(repeated.status == 200 && repeated.body == report)
      second.signal(SIGTERM)
      #expect(second.wait() == 0)
      service.signal(SIGTERM)
      #expect(service.wait() == 0)
    }
    let service = try RunningService(of: crier, flags)
    let again = try service.announce(body)
    #expect(again.status == 200 && again.body == report)
    #expect(try playState(service, "server-1") == "played")
    #expect(try heard(log).count == 1, "the payment is heard once")
    #expect(try ledgerFiles(crier).isEmpty)
  }

  @Test("/readyz, /metrics and crier doctor say that two nodes have different files and settings, without the values")
  func differences() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let node = try Command()
    defer { node.remove() }
    let server = try await LedgerServer.shared.value
    try await LedgerServer.use(server, in: crier)
    let settings = try String(contentsOf: crier.home.appending(path: "crier.yaml"), encoding: .utf8)
    // The number of speakers may differ.
    try LedgerServer.write(settings + "speakers: 1\nlocale: en-US\n", in: crier)
    try LedgerServer.write(settings + "speakers: 2\nlocale: zh-CN\n", in: node)
    let secret = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
    for home in [crier.home, node.home] {
      let file = home.appending(path: "signing-secret")
      try secret.write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
    try Data("locale,text,said\nen-US,Towelday,towel day\n".utf8).write(to: node.home.appending(path: "lexicon.csv"))
    let first = try RunningService(of: crier)
    let second = try RunningService(of: node)
    func differing() throws -> Set<String> {
      Set(
        try first.send("GET", "/metrics").text.matches(of: /crier_node_differs\{thing="([a-z_:]+)"/)
          .map { String($0.1) })
    }
    try eventually("the nodes are compared") { try differing() == ["lexicon", "setting:locale"] }
    let readiness = try first.send("GET", "/readyz", key: "")
    #expect(readiness.status == 200 && readiness.text.contains("\"code\":\"differ\""), "\(readiness.text)")
    #expect(!readiness.text.contains("lexicon") && !readiness.text.contains("locale\""))
    let doctor = try crier("doctor", "--port", "1")
    for words in ["nodes_differ: The lexicon is not the same", "nodes_differ: The setting locale is not the same"] {
      #expect(doctor.output.contains(words), "\(doctor.output)")
    }
    #expect(!doctor.output.contains("zh-CN on") && !doctor.output.contains("Towelday"))
    // The service follows this file while it runs.
    let providers = node.home.appending(path: "providers.yaml")
    try Data("endpoints: []\n".utf8).write(to: providers)
    try eventually("a changed file is noticed") { try differing().contains("providers") }
    try FileManager.default.removeItem(at: providers)
    try eventually("the file is gone") { try !differing().contains("providers") }
    second.signal(SIGTERM)
    #expect(second.wait() == 0)
  }

  @Test(
    "while the server is down, a payment is answered with 503 and Retry-After, and is accepted by the same request later"
  )
  func outage() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await PostgreSQLServer()
    try await LedgerServer.use(server, in: crier)
    let log = crier.directory.appending(path: "played.log")
    let service = try RunningService(of: crier, ["--port", "0", "--output", "file:\(log.path)"])
    func body(_ id: String) -> String {
      #"{"id":"\#(id)","amount":"12.50","currency":"USD","locale":"en-US","deliver":["clip","play"]}"#
    }
    #expect(try service.announce(body("before")).status == 201)
    try await server.stopAtOnce()
    // The first answer may take the whole time limit of a call, and later ones come soon.
    for _ in 0..<3 {
      let refused = try service.announce(body("during"))
      #expect(refused.status == 503 && refused.code == "busy" && refused.header("Retry-After") == "1")
    }
    let readiness = try service.send("GET", "/readyz", key: "")
    #expect(readiness.status == 503 && readiness.text.contains("\"status\":\"unready\""), "\(readiness.text)")
    #expect(try readiness.json()["checks"]?["ledger"]?["ok"]?.boolean == false)
    #expect(try service.send("GET", "/healthz", key: "").status == 200)
    try await server.start()
    try eventually("the payment is accepted by the same request") {
      [200, 201].contains(try service.announce(body("during")).status)
    }
    #expect(try service.announce(body("during")).status == 200)
    try eventually("both payments are played") {
      let states = try ["before", "during"].map { try playState(service, $0) }
      return states.allSatisfy { $0 == "played" }
    }
    #expect(Set(try heard(log)).count == 2)
    try eventually("the service is ready again") { try service.send("GET", "/readyz", key: "").status == 200 }
  }

  @Test("a service does not start while its server is down, and says what to do")
  func down() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await PostgreSQLServer()
    try await LedgerServer.use(server, in: crier)
    try await server.stopAtOnce()
    let result = try crier.run(["serve"] + RunningService.flags, seconds: 120)
    #expect(result.status == 69 && result.output.isEmpty)
    #expect(result.message.contains("Check that the server runs and can be reached from this machine."))
  }

  @Test("a support bundle names the migrations of the database, and hides the user of its address")
  func bundle() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await LedgerServer.shared.value
    let name = try await LedgerServer.use(server, in: crier)
    #expect(try crier("keys", "create").status == 0)
    let place = crier.directory.appending(path: "support.tar.gz")
    let result = try crier("doctor", "--bundle", place.path, "--port", "1")
    #expect(result.message.contains("wrote"), "\(result.message)")
    let unpacked = try crier.run(["-xzOf", place.path], program: URL(filePath: "/bin/tar"))
    #expect(unpacked.status == 0 && unpacked.output.contains("1: announcements, answers, decisions"))
    #expect(
      unpacked.output.contains("postgresql://(left out)@/\(name)"), "the settings have the address without its user")
  }
}
