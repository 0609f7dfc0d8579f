// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import Ledger
import Playback
import ServiceAccess
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Health, readiness and metrics", .timeLimit(.minutes(10)))
struct OperationTests {
  @Test("the health check of a running service succeeds")
  func health() async throws {
    let answer = try await TestService().stranger.get("/healthz")
    #expect(answer.status == 200 && answer.text == #"{"status":"ok"}"#)
  }

  @Test("the readiness of the service has the state of each part")
  func ready() async throws {
    let service = try TestService()
    let answer = try await service.stranger.get("/readyz")
    #expect(answer.status == 200)
    #expect(try answer.string("status") == "ready")
    #expect(try answer.string("checks.device.state") == "none")
    #expect(try answer.number("checks.disk.free_bytes").map { $0 > 0 } == true)
    for check in ["engine", "disk", "ledger", "device"] {
      #expect(try answer.value("checks.\(check).ok") as? Bool == true)
      #expect(try answer.value("checks.\(check).code") == nil)
    }
    #expect(service.clips().isEmpty)
  }

  @Test("simultaneous readiness requests share one request to the engine")
  func asked() async throws {
    let service = try TestService()
    service.voice.hold()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await service.stranger.get("/readyz").status } }
      // A request that came after the answer would ask a question of its own.
      try await eventually("all requests are being answered") {
        try await service.stranger.get("/metrics").text.contains("crier_requests_in_flight 51\n")
      }
      service.voice.release()
      for try await status in group { #expect(status == 200) }
    }
    #expect(service.voice.questions == 1)
  }

  @Test("the readiness has the state of the player, and a service whose player does not run is degraded")
  func player() async throws {
    let service = try TestService { $0.hasPlayer = true }
    let waiting = try await service.stranger.get("/readyz")
    #expect(waiting.status == 200)
    #expect(try waiting.string("status") == "degraded" && waiting.string("checks.device.code") == "player_unavailable")
    let player = try await service.startPlayer()
    #expect(try await service.stranger.get("/readyz").string("checks.device.state") == "idle")
    try await player.pause()
    #expect(try await service.stranger.get("/readyz").string("checks.device.state") == "paused")
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [] && metrics.values["crier_player_paused"] == 1)
  }

  @Test("a service that has set a delivery aside after two crashes is degraded, and the metrics count the delivery")
  func setAside() async throws {
    let service = try TestService { $0.hasPlayer = true }
    let client = try await service.client()
    _ = try await client.post(payment("zqzq", "12.50", #""deliver":["play"]"#))
    let ledger = service.server.ledger
    let entry = try await ledger.entry(account: "shop", id: "zqzq").orThrow("an entry")
    // Nothing records the end of the renderings, as if the process had ended.
    for _ in 0..<3 {
      try await ledger.set(entry.number, .rendering)
      try await ledger.recover(lane: entry.lane)
    }
    let player = try await service.startPlayer()
    let answer = try await service.stranger.get("/readyz")
    #expect(try answer.status == 200 && answer.string("status") == "degraded")
    #expect(try answer.string("checks.set_aside.code") == "set_aside" && answer.number("checks.set_aside.waiting") == 1)
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [] && metrics.values[#"crier_set_aside{kind="announcement"}"#] == 1)
    await player.stop()
  }

  @Test("a service without an engine is not ready", arguments: ["engine_unavailable", "speaker_died"])
  func engine(code: String) async throws {
    let service = try TestService()
    service.voice.fail(code == "speaker_died" ? .speakerDied : .engineUnavailable)
    let answer = try await service.stranger.get("/readyz")
    #expect(answer.status == 503)
    #expect(try answer.string("status") == "unready" && answer.string("checks.engine.code") == code)
    #expect(try answer.value("checks.ledger.ok") as? Bool == true)
    #expect(try await service.stranger.get("/healthz").status == 200)
  }

  @Test("while the engine is busy, /readyz still answers with 200")
  func busyEngine() async throws {
    let service = try TestService()
    service.voice.fail(.queueFull)
    let answer = try await service.stranger.get("/readyz")
    #expect(answer.status == 200)
    #expect(try answer.string("checks.engine.state") == "busy")
  }

  @Test("a service without the folder for its clips is not ready")
  func folder() async throws {
    let service = try TestService()
    try FileManager.default.removeItem(at: service.folder.url)
    let answer = try await service.stranger.get("/readyz")
    #expect(answer.status == 503)
    #expect(try answer.string("checks.disk.code") == "folder_missing")
  }

  @Test("a stopping service refuses new work and still answers reads")
  func stopping() async throws {
    let service = try TestService { $0.hasPlayer = true }
    let client = try await service.client()
    #expect(try await client.post(payment()).status == 201)
    service.server.stopping.stop()
    await service.server.readiness.stop()
    for (method, path) in [
      (.post, "/v1/announcements"), (.post, "/v1/batches"), (.post, "/v1/playback/pause"), (.delete, "/v1/playback/x"),
    ] as [(HTTPRequest.Method, String)] {
      let answer = try await client.send(method, path)
      #expect(answer.status == 503 && answer.code == "stopping" && answer.header("Retry-After") == "5")
      #expect(answer.header("Connection") == "close")
    }
    for path in ["/v1/announcements/p1", "/v1/locales", "/healthz", "/metrics", "/"] {
      let answer = try await client.get(path)
      #expect(answer.status == 200 && answer.header("Connection") == "close")
    }
    let ready = try await client.get("/readyz")
    #expect(ready.status == 503)
    #expect(try ready.string("status") == "stopping")
  }

  @Test("the metrics are well-formed, regardless of what was requested")
  func metrics() async throws {
    let service = try TestService { $0.hasPlayer = true }
    let client = try await service.client()
    _ = try await client.post(payment("zqzq", "12.50", #""deliver":["play"]"#))
    for path in [
      "/v1/announcements/zqzq", "/v1/clips/x%22%0A", "/nothing%22\n", "/v1/playback", "/v1/announcements?limit=x",
    ] {
      _ = try await client.get(path)
    }
    _ = try await client.send(try #require(HTTPRequest.Method("BREW")), "/v1/announcements")
    let answer = try await service.stranger.get("/metrics")
    #expect(answer.status == 200 && answer.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
    let lines = MetricLines(answer.text)
    #expect(lines.faults == [])
    #expect(lines.values[#"crier_requests_total{method="GET",path="/v1/announcements/{id}",status="200"}"#] == 1)
    #expect(lines.values[#"crier_requests_total{method="other",path="/v1/announcements",status="405"}"#] == 1)
    #expect(lines.values[#"crier_requests_total{method="GET",path="other",status="404"}"#] == 1)
    #expect(lines.values["crier_requests_in_flight"] == 1, "this request itself")
    #expect(lines.values[#"crier_announcements{state="waiting"}"#] == 1)
    #expect(!answer.text.contains("zqzq"))
  }
}

@Suite("The console and the API description")
struct ConsoleTests {
  private let service: TestService

  init() throws { service = try TestService() }

  @Test(
    "each console file has its media type and a policy that allows nothing from other origins",
    arguments: [
      ("/", "text/html; charset=utf-8"), ("/console.css", "text/css; charset=utf-8"),
      ("/console.js", "text/javascript; charset=utf-8"), ("/openapi.json", "application/json"),
      ("/console/preview.js", "text/javascript; charset=utf-8"), ("/languages/en-US.json", "application/json"),
      ("/console/views.css", "text/css; charset=utf-8"), ("/languages/en-US.views.json", "application/json"),
    ])
  func file(path: String, type: String) async throws {
    let answer = try await service.stranger.get(path)
    #expect(answer.status == 200 && answer.header("Content-Type") == type && !answer.body.isEmpty)
    let policy = try #require(answer.header("Content-Security-Policy"))
    #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
    #expect(!policy.contains("unsafe") && !policy.contains("http"))
    #expect(answer.header("Referrer-Policy") == "no-referrer")
    let tag = try #require(answer.header("ETag"))
    let again = try await service.stranger.get(path, ["If-None-Match": "W/\(tag)"])
    #expect(again.status == 304 && again.body.isEmpty && again.header("ETag") == tag)
    #expect(try await service.stranger.get(path, ["If-None-Match": "\"x\""]).status == 200)
    let head = try await service.stranger.send(.head, path)
    #expect(head.status == 200 && head.body.isEmpty && head.header("Content-Length") == String(answer.body.count))
    #expect(try await service.stranger.send(.post, path).status == 405)
  }

  @Test("the API description names every path with its methods")
  func contract() async throws {
    let document = try await service.stranger.get("/openapi.json").object
    let paths = try (document["paths"] as? [String: [String: Any]]).orThrow("paths")
    for (path, methods) in paths {
      let target = path.replacing(/\{[a-z]+\}/, with: "x")
      let allow = try await service.stranger.send(.options, target).header("Allow")
      let known = Set(try allow.orThrow("\(path)").components(separatedBy: ", ")).subtracting(["HEAD"])
      let told = Set(methods.keys.map { $0.uppercased() }).intersection(["GET", "POST", "PUT", "DELETE", "PATCH"])
      // The id of an announcement may be the name of a call, and DELETE cancels this announcement.
      let extra: Set<String> = path.hasPrefix("/v1/playback/") && !path.contains("{") ? ["DELETE"] : []
      #expect(told == known.subtracting(extra.subtracting(told)), "\(path)")
    }
    #expect(paths.count >= 20)
  }

  @Test("every module in the console's folder is served, and every module that another one imports is in the folder")
  func modules() async throws {
    let folder = TestService.installation.console
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: "console").path(percentEncoded: false))
    for path in ["/console.js"] + names.map({ "/console/\($0)" }) {
      let answer = try await service.stranger.get(path)
      #expect(answer.status == 200, "\(path)")
      for found in answer.text.matches(of: /(?:from |import\()"\.\/(?:console\/)?([^"]*)"/) {
        #expect(names.contains(String(found.1)), "\(path) imports \(found.1)")
      }
    }
  }

  @Test(
    "a request for a console module that does not exist is answered with 404",
    arguments: ["nothing.js", "..%2Fconsole.js", "%2e%2e", "access.js%00"])
  func otherModules(name: String) async throws {
    let answer = try await service.stranger.get("/console/\(name)")
    #expect(answer.status == 404 && answer.code == "not_found")
  }

  @Test("each language of the console has the same texts as English, and a phrase book")
  func languages() async throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: TestService.installation.console.appending(path: "languages").path(percentEncoded: false))
    let names = files.filter { !$0.hasSuffix(".views.json") }
    let books = try TestService.books.get().locales
    #expect(names.allSatisfy { books.contains($0.replacing(".json", with: "")) })
    #expect(names.count >= 6)
    for suffix in [".json", ".views.json"] {
      let english = try await texts("en-US\(suffix)")
      #expect(english.count > 100)
      for name in names {
        let texts = try await texts(name.replacing(".json", with: suffix))
        #expect(texts == english, "\(name)")
      }
    }
  }

  /// Returns the names of the texts of a language, each with the name of its group.
  private func texts(_ name: String) async throws -> Set<String> {
    let file = try await service.stranger.get("/languages/\(name)").object
    let groups = try (file["texts"] as? [String: [String: Any]]).orThrow("groups of texts of \(name)")
    return Set(groups.flatMap { group, texts in texts.keys.map { "\(group).\($0)" } })
  }

  @Test(
    "a request for a language that the console does not have is answered with 404",
    arguments: ["fr-FR.json", "en-US", "..%2Fopenapi.json"])
  func otherLanguages(name: String) async throws {
    let answer = try await service.stranger.get("/languages/\(name)")
    #expect(answer.status == 404 && answer.code == "not_found")
  }

  @Test(
    "a service cannot be created if a file of the console is missing",
    arguments: [nil, "console/sound.js", "console/keys.js", "languages/en-US.json", "console.css"])
  func missing(file: String?) throws {
    let folder = try TemporaryFolder()
    let console = folder.url.appending(path: "Console")
    if let file {
      try FileManager.default.copyItem(at: TestService.installation.console, to: console)
      _ = try ConsoleFiles(folder: console)
      try FileManager.default.removeItem(at: console.appending(path: file))
    }
    #expect(throws: (any Error).self) { try ConsoleFiles(folder: console) }
  }
}

@Suite("Locales, voices and packs")
struct SpeakableTests {
  @Test("each locale is listed with its voices, channels, currencies and packs")
  func locales() async throws {
    let service = try TestService()
    let client = try await service.client([.read])
    let locales = try (try await client.get("/v1/locales").value("locales") as? [[String: Any]]).orThrow("locales")
    let books = try TestService.books.get()
    #expect(locales.compactMap { $0["locale"] as? String }.sorted() == books.locales.sorted())
    for locale in locales {
      #expect(
        Set(locale.keys) == [
          "locale", "voice", "voices", "rate", "channels", "channel_names", "currencies", "packs",
        ])
      let names = try (locale["channel_names"] as? [String: String]).orThrow("channel_names")
      #expect(names.keys.sorted() == locale["channels"] as? [String])
    }
    let chinese = try locales.first { $0["locale"] as? String == "zh-CN" }.orThrow("zh-CN")
    #expect((chinese["currencies"] as? [String])?.contains("CNY") == true)
    #expect((chinese["channel_names"] as? [String: String])?["alipay"] == "支付宝")
    #expect((chinese["channel_names"] as? [String: String])?["wechat"] == "微信")
    let voices = try (try await client.get("/v1/voices").value("voices") as? [[String: Any]]).orThrow("voices")
    for locale in locales {
      let own = voices.filter { $0["locale"] as? String == locale["locale"] as? String }
      #expect(own.count { $0["is_default"] as? Bool == true } == (locale["voice"] is String ? 1 : 0))
    }
    #expect(try (await client.get("/v1/packs").value("packs") as? [Any])?.isEmpty == true)
  }
}
