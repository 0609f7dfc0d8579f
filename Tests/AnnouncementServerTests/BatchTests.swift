// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import ServiceLifecycleTestKit
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

/// Batches as a client sends and reads them.
extension TestClient {
  func postBatch(_ list: String, _ type: String = "text/csv", query: String = "") async throws -> TestAnswer {
    try await send(.post, "/v1/batches\(query)", headers: ["Content-Type": type], body: Data(list.utf8))
  }

  /// Waits for a batch's end.
  func end(of place: String) async throws -> TestEvent {
    let stream = await stream(place, ["Accept": "text/event-stream"])
    return try await stream.event("done")
  }

  /// The lines of a batch's result.
  func result(_ place: String) async throws -> [TestAnswer] {
    let answer = try await get(place, ["Accept": "application/jsonl"])
    #expect(answer.status == 200 && answer.header("Content-Type") == "application/jsonl")
    return answer.text.split(separator: "\n").map { TestAnswer(status: 200, headers: [:], body: Data($0.utf8)) }
  }
}

@Suite("Batches", .timeLimit(.minutes(10)))
struct BatchTests {
  private let service: TestService

  init() throws { service = try TestService() }

  private static let csv = "id,amount,currency\na,1.00,USD\nb,x,USD\nc,2.00,USD\n"

  @Test("a list is accepted and rendered, and its result has each row with its line number")
  func csv() async throws {
    let client = try await service.client()
    let accepted = try await client.postBatch(Self.csv)
    #expect(accepted.status == 202)
    let place = try #require(accepted.header("Location"))
    #expect(place == "/v1/batches/\(try accepted.string("id").orThrow("an id"))")
    #expect(
      Set(try accepted.object.keys) == [
        "id", "name", "state", "rows", "done", "failed", "created_at", "finished_at", "error", "faults",
      ])
    #expect(try accepted.string("state") == "running")
    service.startBatches()
    let end = try await client.end(of: place)
    #expect(try end.string("state") == "done" && end.number("done") == 2 && end.number("failed") == 1)
    #expect(try end.number("rows") == 3 && end.string("finished_at") != nil)
    let rows = try await client.result(place)
    #expect(rows.count == 3)
    let bad = try #require(rows.first { $0.text.contains("\"error\"") })
    #expect(try bad.number("line") == 3 && bad.string("id") == "b" && bad.string("error.code") == "field_invalid")
    let good = try #require(rows.first { (try? $0.string("id")) == "a" })
    let url = try #require(URL(string: try good.string("clip.url").orThrow("a URL")))
    #expect(url.host() == "crier.test")
    #expect(try await service.stranger.get("\(url.path())?\(url.query() ?? "")").status == 200)
    #expect(service.clips().count == 2)
    let metrics = try await service.stranger.get("/metrics").text
    #expect(metrics.contains(#"crier_batch_rows_total{outcome="failed"} 1"#))
  }

  @Test("the status of a batch has the name of the file and the first ten faults with their lines")
  func faults() async throws {
    let client = try await service.client()
    let rows = (1...12).map { "r\($0),x,USD\n" }.joined()
    let list = "id,amount,currency\ngood,1.00,USD\n" + rows + "short,1.00\n"
    let place = try await client.postBatch(list, query: "?name=prices%20%E4%BB%B7.csv").header("Location")
      .orThrow("a place")
    service.startBatches()
    _ = try await client.end(of: place)
    let batch = try await client.get(place)
    #expect(try batch.string("name") == "prices 价.csv" && batch.number("failed") == 13)
    let faults = try (batch.value("faults") as? [[String: Any]]).orThrow("faults")
    #expect(faults.map { $0["line"] as? Int } == (3...12).map { $0 })
    #expect(faults.map { $0["id"] as? String } == (1...10).map { "r\($0)" })
    #expect(try batch.string("faults.0.column") == "amount" && batch.string("faults.0.code") == "field_invalid")
    #expect(try batch.string("faults.0.message")?.hasPrefix("amount: ") == true)
    #expect(try await client.get("/v1/batches").string("batches.0.name") == "prices 价.csv")
  }

  @Test("the fault of a whole row has no column, and the name of a batch without a file name is null")
  func faultOfRow() async throws {
    let client = try await service.client()
    let place = try await client.postBatch("id,amount,currency\na,1.00\n").header("Location").orThrow("a place")
    service.startBatches()
    _ = try await client.end(of: place)
    let batch = try await client.get(place)
    #expect(try batch.value("name") == nil && batch.object.keys.contains("name"))
    #expect(try batch.string("faults.0.code") == "payload_malformed" && batch.value("faults.0.column") == nil)
  }

  @Test("a name of a batch that is empty, too long or has control characters is refused")
  func badName() async throws {
    let client = try await service.client()
    for name in ["", "a%0Ab", String(repeating: "a", count: 256)] {
      #expect(try await client.postBatch(Self.csv, query: "?name=\(name)").code == "parameter_invalid")
    }
  }

  @Test(
    "a list of JSON lines is accepted under both of their media types",
    arguments: ["application/jsonl", "application/x-ndjson; charset=utf-8"])
  func jsonLines(type: String) async throws {
    let client = try await service.client(locale: "zh-CN")
    let list = payment("a") + "\n\n" + #"{"text":"hello","locale":"en-US"}"# + "\n" + #"{"id":"c"}"#
    let place = try await client.postBatch(list, type).header("Location").orThrow("a place")
    service.startBatches()
    _ = try await client.end(of: place)
    let rows = try await client.result(place)
    #expect(rows.count == 3)
    #expect(try rows.first { (try? $0.string("id")) == "a" }?.string("locale") == "zh-CN", "the locale of the key")
    #expect(try rows.contains { try $0.string("locale") == "en-US" })
    #expect(try rows.first { (try? $0.string("id")) == "c" }?.number("line") == 4)
  }

  @Test("the options of a batch apply to each row")
  func options() async throws {
    let service = try TestService { $0.settings.groups = ["group.batch"] }
    let client = try await service.client()
    let query = "?format=caf&encoding=ulaw&rate=200&voice=en-us%2Bf5&method=speech&group=group.batch"
    let place = try await client.postBatch("text\nhello\n", query: query).header("Location").orThrow("a place")
    service.startBatches()
    _ = try await client.end(of: place)
    let row = try #require(try await client.result(place).first)
    #expect(try row.string("clip.format") == "caf" && row.string("clip.encoding") == "ulaw")
    #expect(try row.string("voice") == "en-us+f5")
    #expect(service.clips("group.batch").count == 1 && service.clips().isEmpty)
  }

  @Test("a running batch reports its progress and has no result yet")
  func progress() async throws {
    let client = try await service.client()
    let place = try await client.postBatch("text\none\ntwo\n").header("Location").orThrow("a place")
    service.voice.hold()
    service.startBatches()
    await service.voice.isAsked()
    let stream = await client.stream(place, ["Accept": "text/event-stream"])
    let first = try await stream.event()
    #expect(try first.name == "progress" && first.string("state") == "running" && first.number("done") == 0)
    let result = try await client.get(place, ["Accept": "application/jsonl"])
    #expect(result.status == 409 && result.code == "batch_running" && result.header("Retry-After") != nil)
    #expect(try await client.get(place).string("state") == "running")
    service.voice.release()
    let last = try await stream.event("done")
    #expect(try last.string("state") == "done" && last.number("done") == 2)
    #expect(await stream.next() == nil)
    let late = await client.stream(place, ["Accept": "text/event-stream"])
    #expect(try await late.event().name == "done")
    #expect(await late.next() == nil)
  }

  @Test("the progress stream of a batch ends when its key is revoked")
  func revoked() async throws {
    let client = try await service.client()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    service.voice.hold()
    service.startBatches()
    await service.voice.isAsked()
    let stream = await client.stream(place, ["Accept": "text/event-stream"])
    #expect(try await stream.event().name == "progress")
    try await service.revoke(client)
    service.voice.release()
    #expect(await stream.rest().isEmpty)
  }

  @Test("if a folder has the name of a row's clip, the row succeeds, and the log says where the folder was moved")
  func nameTaken() async throws {
    let client = try await service.client()
    service.startBatches()
    let first = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    _ = try await client.end(of: first)
    let clip = try await client.result(first)[0].string("clip.path").orThrow("a path")
    try FileManager.default.removeItem(atPath: clip)
    try FileManager.default.createDirectory(atPath: clip, withIntermediateDirectories: false)
    let place = try await client.postBatch("text\none\ntwo\n").header("Location").orThrow("a place")
    let end = try await client.end(of: place)
    #expect(try end.string("state") == "done" && end.number("done") == 2 && end.number("failed") == 0)
    let line = try service.log.lines.first { $0.contains("moved away") }.orThrow("a line")
    #expect(line.contains("warning") && line.contains("Library/Sounds/.set-aside-0"))
  }

  @Test("the progress stream of a batch ends when the service stops")
  func stopping() async throws {
    let client = try await service.client()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    try await testGracefulShutdown { trigger in
      let stream = await client.stream(place, ["Accept": "text/event-stream"])
      _ = try await stream.event()
      trigger.triggerGracefulShutdown()
      #expect(await stream.rest().allSatisfy { $0 == ServerSentEvent.heartbeat })
    }
    #expect(try await client.get(place).string("state") == "running", "the stream did not wait for the batch")
  }

  @Test("the list of batches has only the account's batches, newest first, each in the form of a single batch")
  func list() async throws {
    let client = try await service.client()
    #expect(try await client.get("/v1/batches").text == #"{"batches":[]}"#)
    var places: [String] = []
    for _ in 0..<3 { places.append(try #require(try await client.postBatch(Self.csv).header("Location"))) }
    _ = try await service.client(account: "other").postBatch(Self.csv)
    service.startBatches()
    for place in places { _ = try await client.end(of: place) }
    let list = try await client.get("/v1/batches")
    #expect(list.status == 200 && list.header("Cache-Control") == "no-store")
    var single: [String] = []
    for place in places.reversed() { single.append(try await client.get(place).text) }
    #expect(list.text == #"{"batches":[\#(single.joined(separator: ","))]}"#)
    #expect(try await client.get("/v1/batches?limit=1").text == #"{"batches":[\#(single[0])]}"#)
    for limit in ["0", "201", "x", "+1", ""] {
      let answer = try await client.get("/v1/batches?limit=\(limit)")
      #expect(answer.status == 400 && answer.code == "parameter_invalid")
    }
    #expect(try await service.client([.announce]).get("/v1/batches").code == "scope_missing")
  }

  @Test("a batch of another account is not found")
  func accounts() async throws {
    let place = try await service.client().postBatch("text\none\n").header("Location").orThrow("a place")
    let other = try await service.client(account: "other")
    for accept in ["application/json", "text/event-stream", "application/jsonl"] {
      let answer = try await other.get(place, ["Accept": accept])
      #expect(answer.status == 404 && answer.code == "not_found")
    }
    #expect(try await other.get("/v1/batches/..%2Fledger").status == 404)
  }

  @Test("an account may have four unfinished batches, and can add another one when one of them has ended")
  func busy() async throws {
    let client = try await service.client()
    var places: [String] = []
    for _ in 0..<4 { places.append(try await client.postBatch("text\none\n").header("Location").orThrow("a place")) }
    let fifth = try await client.postBatch("text\none\n")
    #expect(fifth.status == 429 && fifth.code == "account_busy" && fifth.header("Retry-After") == "30")
    service.startBatches()
    for place in places { #expect(try await client.end(of: place).string("state") == "done") }
    #expect(service.voice.calls == 1)
    var sixth = try await client.postBatch("text\none\n")
    try await eventually {
      if sixth.status == 503 { sixth = try await client.postBatch("text\none\n") }
      return sixth.status != 503
    }
    _ = try await client.end(of: try sixth.header("Location").orThrow("a place"))
  }

  @Test("invalid options of a batch are refused immediately, and nothing is stored")
  func badOptions() async throws {
    let client = try await service.client()
    for (query, status, code) in [
      ("?method=sing", 422, "option_invalid"), ("?format=mp3", 422, "option_invalid"),
      ("?format=caf&encoding=ima4", 422, "option_invalid"), ("?group=..%2Fx", 422, "option_invalid"),
      ("?method=speech&pack=a", 422, "option_invalid"), ("?rate=20", 400, "parameter_invalid"),
      ("?sample_rate=7999", 400, "parameter_invalid"), ("?sample_rate=8e3", 400, "parameter_invalid"),
      ("?rate=fast", 400, "parameter_invalid"), ("?rate=0200", 400, "parameter_invalid"),
    ] {
      let answer = try await client.postBatch("text\none\n", query: query)
      #expect(answer.status == status && answer.code == code, "\(query): \(answer.text)")
    }
    #expect(!FileManager.default.fileExists(atPath: service.folder.url.appending(path: "batches").path))
  }

  @Test("an empty list, a wrong media type and a list that is too large are refused")
  func refused() async throws {
    let client = try await service.client()
    #expect(try await client.postBatch("").code == "list_empty")
    for type in ["text/plain", "text/tab-separated-values", ""] {
      #expect(try await client.postBatch("text\none\n", type).status == 415)
    }
    let headers = ["Content-Type": "text/csv", "Content-Length": String(BatchRoutes.largestBody + 1)]
    #expect(try await client.send(.post, "/v1/batches", headers: headers, body: Data("text".utf8)).status == 413)
    let large = Data(repeating: 0x61, count: BatchRoutes.largestBody + 1)
    let answer = try await client.send(.post, "/v1/batches", headers: ["Content-Type": "text/csv"], body: large)
    #expect(answer.status == 413 && answer.code == "payload_too_large")
  }

  @Test(
    "a list without a row is refused with 422, and the error suggests --data-binary if line ends may be lost",
    arguments: [
      ("text/csv", "amount,currency\n", false), ("text/csv", "amount;currency\n;\n;;\n", false),
      ("text/csv", "amount,currency12.50,CNY48.05,USD", true), ("application/jsonl", "\n\n", false),
      ("application/json", "[]", false), ("application/jsonl", "[ ]", false),
      ("text/csv", "text\n" + String(repeating: "\n", count: 100_000), false),
    ])
  func withoutRow(type: String, list: String, asks: Bool) async throws {
    let answer = try await service.client().postBatch(list, type)
    #expect(answer.status == 422 && answer.code == "list_empty", "\(answer.text)")
    #expect(answer.text.contains("did you mean --data-binary?") == asks)
    #expect(!FileManager.default.fileExists(atPath: service.folder.url.appending(path: "batches").path))
  }

  @Test("a long list that has lost its line ends is refused, and the error suggests --data-binary")
  func lostLineEnds() async throws {
    let list = "amount,currency" + String(repeating: "12.50,CNY", count: 20_000)
    let answer = try await service.client().postBatch(list)
    #expect(answer.status == 400 && answer.code == "payload_malformed" && answer.text.contains("--data-binary"))
  }

  @Test("a JSON array is rendered like JSON lines, and an error in it has the number of the element and of the line")
  func array() async throws {
    let client = try await service.client()
    let list =
      "[{\"id\":\"a\",\"amount\":\"1.00\",\"currency\":\"USD\"},\n {\"id\":\"b\",\"amount\":\"x\",\"currency\":\"USD\"}]"
    for type in ["application/jsonl", "application/json"] {
      let place = try await client.postBatch(list, type).header("Location").orThrow("a place")
      if type == "application/jsonl" { service.startBatches() }
      let end = try await client.end(of: place)
      #expect(try end.number("done") == 1 && end.number("failed") == 1)
      let batch = try await client.get(place)
      #expect(try batch.number("faults.0.line") == 2 && batch.number("faults.0.element") == 2)
      let bad = try #require(try await client.result(place).first { $0.text.contains("\"error\"") })
      #expect(try bad.number("element") == 2 && bad.string("id") == "b")
    }
    let lines = try await client.postBatch("{\"text\":\"a\"}\n{\"text\":\"b\"}\n", "application/json")
    #expect(lines.status == 400 && lines.code == "payload_malformed")
  }

  @Test("a batch whose JSON array ends too early fails, and the clips of its earlier rows stay")
  func brokenArray() async throws {
    let client = try await service.client()
    let list = "[{\"text\":\"One\"},\n{\"text\":\"Two\"}"
    let place = try await client.postBatch(list, "application/json").header("Location").orThrow("a place")
    service.startBatches()
    let end = try await client.end(of: place)
    #expect(try end.string("state") == "failed" && end.string("error.code") == "payload_malformed")
    #expect(try end.string("error.message")?.hasPrefix("line 2, element 2: does not end") == true)
  }

  @Test("a list with semicolons is rendered, and a row with a decimal comma fails")
  func semicolons() async throws {
    let client = try await service.client()
    let list = "id;amount;currency\r\na;1.00;USD\r\nb;12,50;USD\r\n;;\r\n"
    let place = try await client.postBatch(list).header("Location").orThrow("a place")
    service.startBatches()
    let end = try await client.end(of: place)
    #expect(try end.number("rows") == 2 && end.number("done") == 1)
    let message = try await client.get(place).string("faults.0.message")
    #expect(message?.contains("has a comma; write a point before the decimals, such as 12.50") == true)
  }

  @Test("if no row of a batch can be rendered, the batch fails with the code of the error")
  func failed() async throws {
    let client = try await service.client()
    service.startBatches()
    let header = try await client.postBatch("id,currency\na,USD\n")
    #expect(header.status == 422 && header.code == "field_missing", "an invalid header is refused immediately")
    let strange = try await client.postBatch("text\none\n", query: "?pack=nobody").header("Location").orThrow("a place")
    let end = try await client.end(of: strange)
    #expect(try end.string("state") == "failed" && end.string("error.code") == "option_invalid")
    #expect(try await client.result(strange).isEmpty)
    service.voice.fail(.engineUnavailable)
    let place = try await client.postBatch("text\ntwo\n").header("Location").orThrow("a place")
    #expect(try await client.end(of: place).string("error.code") == "engine_unavailable")
    let next = try await client.postBatch("text\nthree\n").header("Location").orThrow("a place")
    #expect(try await client.end(of: next).number("rows") == 1, "the next batch still runs")
  }

  @Test("an unsupported Accept header is refused with 406", arguments: ["text/html", "audio/wav"])
  func notAcceptable(accept: String) async throws {
    let client = try await service.client()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    #expect(try await client.get(place, ["Accept": accept]).status == 406)
    let head = try await client.send(.head, place, headers: ["Accept": "text/event-stream"])
    #expect(head.status == 200 && head.body.isEmpty)
  }
}

@Suite("Batches across restarts", .timeLimit(.minutes(10)))
struct BatchRestartTests {
  @Test("a batch that was running when the service ended starts again, and existing clips are not rendered again")
  func restart() async throws {
    let service = try TestService()
    let client = try await service.client()
    let place = try await client.postBatch("id,text\na,one\nb,two\n").header("Location").orThrow("a place")
    let waiting = try await client.postBatch("text\nthree\n").header("Location").orThrow("a place")
    service.voice.hold()
    let work = service.startBatches()
    await service.voice.isAsked()
    work.cancel()
    service.voice.release()
    await work.value
    #expect(try await client.get(place).string("state") == "running")

    let next = try TestService(in: service.folder)
    let again = TestClient(server: next.server, key: client.key)
    let worker = next.startBatches()
    try await eventually { try await again.get(waiting).status != 404 }
    #expect(try await again.end(of: place).number("done") == 2)
    #expect(try await again.end(of: waiting).number("done") == 1)
    #expect(service.voice.calls + next.voice.calls <= 4)
    #expect(try await again.result(place).count == 2)
    worker.cancel()
    await worker.value

    let third = try TestService(in: service.folder)
    third.startBatches()
    let late = TestClient(server: third.server, key: client.key)
    try await eventually { try await late.get(place).status != 404 }
    #expect(try await late.get(place).string("state") == "done")
    #expect(try await late.result(place).count == 2)
    #expect(third.voice.calls == 0)
  }

  @Test("a batch that was running at two crashes of the service is set aside, and the other batches run")
  func setAside() async throws {
    let service = try TestService()
    let client = try await service.client()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    let other = try await client.postBatch("text\ntwo\n").header("Location").orThrow("a place")
    let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
    let file = service.folder.url.appending(path: "batches/\(id).json")
    var record = try (JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]).orThrow("a record")
    record["starts"] = 2
    try JSONSerialization.data(withJSONObject: record).write(to: file)

    let next = try TestService(in: service.folder)
    await next.server.batches.load()
    #expect(await next.server.batches.setAside.count == 1)
    let worker = next.startBatches()
    let again = TestClient(server: next.server, key: client.key)
    #expect(try await again.end(of: other).number("done") == 1)
    #expect(try await again.get(place).string("state") == "running")
    #expect(try await again.send(.delete, place).string("state") == "cancelled")
    #expect(await next.server.batches.setAside.count == 0)
    worker.cancel()
    await worker.value
  }

  @Test("the record of a batch counts each of its starts, and an orderly stop removes the last start from the count")
  func starts() async throws {
    let service = try TestService()
    let client = try await service.client()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
    let file = service.folder.url.appending(path: "batches/\(id).json")
    func starts() throws -> Int? {
      try (JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]).orThrow("a record")["starts"]
        as? Int
    }
    service.voice.hold()
    let work = service.startBatches()
    await service.voice.isAsked()
    #expect(try starts() == 1)
    work.cancel()
    service.voice.release()
    await work.value
    #expect(try starts() == 0)
  }

  @Test("an old finished batch is removed, and a recent or running batch stays")
  func prune() async throws {
    let service = try TestService()
    let client = try await service.client()
    let worker = service.startBatches()
    var places: [String] = []
    for _ in 0..<2 {
      places.append(try await client.postBatch("text\none\n").header("Location").orThrow("a place"))
      _ = try await client.end(of: places[places.count - 1])
    }
    await service.server.batches.prune()
    #expect(try await client.get(places[0]).status == 200)
    worker.cancel()
    await worker.value

    let folder = service.folder.url.appending(path: "batches")
    let id = try places[0].split(separator: "/").last.map(String.init).orThrow("an id")
    let file = folder.appending(path: "\(id).json")
    var record = try (JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]).orThrow("a record")
    var status = try (record["status"] as? [String: Any]).orThrow("a status")
    status["finished_at"] = Date(timeIntervalSinceNow: -Batches.longestLifetime - 60).timeIntervalSinceReferenceDate
    record["status"] = status
    try JSONSerialization.data(withJSONObject: record).write(to: file)
    let next = try TestService(in: service.folder)
    let again = TestClient(server: next.server, key: client.key)
    next.startBatches()
    try await eventually { try await again.get(places[1]).status != 404 }
    let running = try await again.postBatch("text\ntwo\n").header("Location").orThrow("a place")
    _ = try await again.end(of: running)
    await next.server.batches.prune()
    #expect(try await again.get(places[0]).status == 404)
    for place in [places[1], running] { #expect(try await again.get(place).status == 200) }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.hasPrefix(id) })
  }

  @Test("a retention time of less than 7 days also limits how long the list and the result of a batch are kept")
  func retention() async throws {
    let service = try TestService { $0.settings.retention = 86_400 }
    let client = try await service.client()
    service.startBatches()
    let batches = service.server.batches
    var ids: [String] = []
    for _ in 0..<2 {
      let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
      _ = try await client.end(of: place)
      ids.append(try place.split(separator: "/").last.map(String.init).orThrow("an id"))
    }
    for (id, days) in zip(ids, [1.1, 0.9]) {
      await (batches.place as? FileBatches)?.end(id, at: Date(timeIntervalSinceNow: -days * 86_400))
    }
    await batches.prune()
    #expect(try await client.get("/v1/batches/\(ids[0])").status == 404)
    #expect(try await client.get("/v1/batches/\(ids[1])").status == 200)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: service.folder.url.appending(path: "batches").path)
    #expect(!files.isEmpty && files.allSatisfy { $0.hasPrefix(ids[1]) })
  }

  @Test("files that do not belong to batches stay, and lists and results without a batch's record are removed")
  func otherFiles() async throws {
    let service = try TestService()
    let folder = service.folder.url.appending(path: "batches")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, text) in [
      ("a.json", "{"), ("b.json", "{}"), ("c.list", "text\none\n"), (".json", "[]"), ("d.result.jsonl", "{}"),
    ] {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
    let client = try await service.client()
    service.startBatches()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    #expect(try await client.end(of: place).string("state") == "done")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.contains("a.json") && !left.contains("c.list") && !left.contains("d.result.jsonl"))
  }

  @Test("a batch is refused if its folder cannot be written")
  func unwritable() async throws {
    let service = try TestService()
    try Data().write(to: service.folder.url.appending(path: "batches"))
    let client = try await service.client()
    let answer = try await client.postBatch("text\none\n")
    #expect(answer.status == 500 && answer.code == "internal_error")
    #expect(!answer.text.contains(service.folder.url.lastPathComponent))
  }
}

extension FileBatches {
  /// Sets the time at which a batch ended.
  fileprivate func end(_ id: String, at time: Date) { records[id]?.status.finishedAt = time }
}
