// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Limits on the work of an account", .timeLimit(.minutes(10)))
struct AccountWorkTests {
  private func service(in folder: TemporaryFolder? = nil, _ change: (inout WorkLimits) -> Void) throws -> TestService {
    try TestService(in: folder) { change(&$0.settings.work) }
  }

  @Test("an account above its limit of simultaneous new clips gets 429, and another account is served")
  func atOnce() async throws {
    let service = try service { $0.clipsAtOnce = 1 }
    let (one, other) = (try await service.client(), try await service.client(account: "other"))
    service.voice.hold()
    async let first = one.post(payment("p1", "1.00"))
    await service.voice.isAsked()
    let refused = try await one.post(payment("p2", "2.00"))
    #expect(refused.status == 429 && refused.code == "account_busy" && refused.header("Retry-After") == "1")
    async let others = other.post(payment("p3", "3.00"))
    await service.voice.isAsked(2)
    service.voice.release()
    let made = try await [first, others]
    #expect(made.map(\.status) == [201, 201])
    #expect(try await one.post(payment("p2", "2.00")).status == 201, "the refused request was not executed")
    let metrics = try await service.stranger.get("/metrics").text
    #expect(metrics.contains(#"crier_refusals_total{code="account_busy"} 1"#))
  }

  @Test("an account above its daily limit of new clips still gets existing clips, and other accounts are not affected")
  func clipsADay() async throws {
    let service = try service { $0.clipsADay = 2 }
    let (one, other) = (try await service.client(), try await service.client(account: "other"))
    for number in 1...2 { #expect(try await one.post(payment("p\(number)", "\(number).00")).status == 201) }
    let refused = try await one.post(payment("p3", "3.00"))
    #expect(refused.status == 429 && refused.code == "daily_limit")
    #expect((Int(refused.header("Retry-After") ?? "") ?? 0) > 40_000)
    #expect(service.voice.calls == 2)
    #expect(try await one.post(payment("p4", "1.00")).status == 201, "an existing clip costs nothing")
    #expect(try await other.post(payment("p3", "3.00")).status == 201)
    #expect(try await one.post(payment("p3", "3.00")).status == 201, "a clip of another account costs nothing")
    #expect(service.server.work.use(of: "shop").clips == 2 && service.server.work.use(of: "other").clips == 1)
  }

  @Test("a clip on the disk does not count towards the daily limit, even if the clip is not in memory")
  func onDisk() async throws {
    let before = try service { $0.clipsADay = 2 }
    let client = try await before.client()
    #expect(try await client.post(payment("p1", "1.00")).status == 201)
    let after = try service(in: before.folder) { $0.clipsADay = 1 }
    let again = TestClient(server: after.server, key: client.key)
    #expect(try await again.post(payment("p2", "2.00")).status == 201)
    #expect(try await again.post(payment("p3", "1.00")).status == 201)
    #expect(try await again.post(payment("p4", "3.00")).code == "daily_limit")
  }

  @Test("an account above its daily limit of bytes gets no new clip")
  func bytesADay() async throws {
    let service = try service { $0.bytesADay = 1 }
    let client = try await service.client()
    #expect(try await client.post(payment("p1", "1.00")).status == 201)
    #expect(try await client.post(payment("p2", "2.00")).code == "daily_limit")
  }

  @Test(
    "a clip that the service could not make does not count towards the daily limit",
    arguments: [SpeechEngineError.Code.engineUnavailable, .speakerDied, .queueFull])
  func failed(code: SpeechEngineError.Code) async throws {
    let service = try service { ($0.clipsADay, $0.clipsAtOnce) = (1, 1) }
    let client = try await service.client()
    service.voice.fail(code)
    for _ in 0..<3 { #expect(try await client.post(payment()).status == 503) }
    service.voice.fail(nil)
    #expect(try await client.post(payment()).status == 201)
  }

  @Test(
    "a clip that cannot be made because of its text counts towards the daily limit",
    arguments: [SpeechEngineError.Code.textUnspeakable, .speechMismatch, .requestRefused, .voiceUnknown])
  func textFailed(code: SpeechEngineError.Code) async throws {
    let service = try service { ($0.clipsADay, $0.clipsAtOnce) = (2, 1) }
    let client = try await service.client()
    service.voice.fail(code)
    for _ in 0..<2 {
      let answer = try await client.post(#"{"id":"t1","text":"one"}"#)
      #expect(answer.status == 422 || answer.status == 500)
      #expect(answer.code == code.rawValue)
    }
    #expect(service.server.work.use(of: "shop") == AccountBudget.Use(clips: 2, bytes: 0))
    let calls = service.voice.calls
    #expect(try await client.post(#"{"id":"t1","text":"one"}"#).code == "daily_limit")
    #expect(service.voice.calls == calls, "the engine is not asked again")
  }

  @Test("if two accounts wait for the same clip and one of them is above its limit, the other account gets the clip")
  func shared() async throws {
    let folder = try TemporaryFolder()
    var limits = WorkLimits()
    limits.clipsADay = 1
    let work = AccountWork(limits: limits, file: folder.url.appending(path: "none")) { .zero }
    let flights = SingleFlight<String, Int>()
    let permit = work.permit("poor")
    try await permit.begin()
    permit.end(.made(bytes: 1))
    await #expect(throws: AccountWork.Refusal.self) { try await work.permit("poor").begin() }
    let door = Locked(false)
    let poor = Task {
      try await flights.value(for: "clip") {
        try await eventually { door.withLock({ $0 }) }
        try await work.permit("poor").begin()
        return 1
      }.value
    }
    try await eventually { await flights.count >= 1 }
    async let rich = Clips.shared("rich") {
      try await flights.value(for: "clip") {
        try await work.permit("rich").begin()
        return 2
      }
    }
    try await eventually { await flights.waiting >= 2 }
    door.withLock { $0 = true }
    let made = try await rich
    #expect(made.value == 2)
    await #expect(throws: AccountWork.Refusal.self) { try await poor.value }
  }

  @Test("only new clips of a list count towards the daily limit, and a list may use four fifths of the limit at most")
  func batch() async throws {
    let service = try service { $0.clipsADay = 4 }
    let client = try await service.client()
    service.startBatches()
    #expect(try await client.post(payment("p1", "1.00")).status == 201)
    let list = "id,amount,currency\na,1.00,USD\nb,2.00,USD\nc,3.00,USD\nd,4.00,USD\ne,5.00,USD\n"
    let place = try await client.postBatch(list).header("Location").orThrow("a place")
    let end = try await client.end(of: place)
    #expect(try end.string("state") == "failed" && end.string("error.code") == "daily_limit")
    #expect(try end.number("done") == 3 && service.clips().count == 3)
    #expect(
      try await client.post(payment("p2", "6.00")).status == 201, "the part that lists may not use is left for payments"
    )
    #expect(
      try await client.post(payment("p3", "7.00")).code == "daily_limit", "rows and payments count for the same account"
    )
  }

  /// Starts a batch of one row once the service is making the client's first clip.
  ///
  /// - Returns: The path of the batch.
  private func startBatch(behindFirstOf service: TestService, _ client: TestClient) async throws -> String {
    await service.voice.isAsked()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    service.startBatches()
    return place
  }

  @Test("a list waits while its account has the maximum number of clips in progress")
  func batchWaits() async throws {
    let service = try service { $0.clipsAtOnce = 1 }
    let client = try await service.client()
    service.voice.hold()
    async let first = client.post(payment("p1", "1.00"))
    let place = try await startBatch(behindFirstOf: service, client)
    service.voice.release()
    let made = try await first
    #expect(made.status == 201)
    #expect(try await client.end(of: place).string("state") == "done")
  }

  @Test("a row that waits for other clips of its account does not start after its list is cancelled")
  func waitingRowStops() async throws {
    let service = try service { $0.clipsAtOnce = 1 }
    let client = try await service.client()
    service.voice.hold()
    async let first = client.post(payment("p1", "1.00"))
    let place = try await startBatch(behindFirstOf: service, client)
    try await eventually { service.server.work.waiting >= 1 }
    // The account's other clip is under way until this is answered.
    let taken = try await client.send(.delete, place)
    #expect(taken.status == 200)
    #expect(try taken.string("state") == "cancelled" && taken.number("rows") == 0 && taken.number("done") == 0)
    #expect(try taken.number("failed") == 0)
    #expect(try await client.result(place).isEmpty)
    service.voice.release()
    let made = try await first
    #expect(made.status == 201 && service.voice.calls == 1)
  }

  @Test("the daily usage of an account survives a restart, and decreases even while no service is running")
  func restart() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "account-work.json")
    var limits = WorkLimits()
    limits.clipsADay = 2
    let moment = Date(timeIntervalSince1970: 1_800_000_000)
    func used(_ work: AccountWork) async throws -> Int {
      let permit = work.permit("shop")
      try await permit.begin()
      permit.end(.made(bytes: 10))
      return work.use(of: "shop").clips
    }
    let first = AccountWork(limits: limits, file: file, now: moment) { .zero }
    try await first.save(at: moment)
    #expect(!FileManager.default.fileExists(atPath: file.path), "no file is written before a clip is made")
    #expect(try await used(first) == 1)
    #expect(try await used(first) == 2)
    try await first.save(at: moment)
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    let second = AccountWork(limits: limits, file: file, now: moment + 60) { .seconds(5) }
    await #expect(throws: AccountWork.Refusal.self) { try await used(second) }
    let third = AccountWork(limits: limits, file: file, now: moment + 43_200) { .seconds(5) }
    #expect(third.use(of: "shop").clips == 1)
    #expect(try await used(third) == 2)
    let backwards = AccountWork(limits: limits, file: file, now: moment - 86_400) { .zero }
    #expect(backwards.use(of: "shop").clips == 2)
    try Data("{".utf8).write(to: file)
    #expect(AccountWork(limits: limits, file: file, now: moment) { .zero }.use(of: "shop").clips == 0)
  }

  @Test("batches above the limit of an account, or of all accounts, are refused with 429")
  func batches() async throws {
    let service = try service { $0.batches = 2 }
    let one = try await service.client()
    for _ in 0..<2 { #expect(try await one.postBatch("text\none\n").status == 202) }
    let refused = try await one.postBatch("text\none\n")
    #expect(refused.status == 429 && refused.code == "account_busy" && refused.header("Retry-After") == "30")
    for number in 2..<Batches.mostUnfinished {
      let other = try await service.client(account: "account \(number)")
      #expect(try await other.postBatch("text\none\n").status == 202)
    }
    let late = try await service.client(account: "late").postBatch("text\none\n")
    #expect(late.status == 429 && late.code == "busy" && late.header("Retry-After") == "30")
  }

  @Test("an account with many lists takes turns with other accounts")
  func turns() async throws {
    let service = try TestService()
    let (many, one) = (try await service.client(), try await service.client(account: "other"))
    var places: [String] = []
    for text in ["a", "b", "c"] {
      places.append(try await many.postBatch("text\n\(text)\n").header("Location").orThrow("a place"))
    }
    let others = try await one.postBatch("text\nx\n").header("Location").orThrow("a place")
    service.startBatches()
    _ = try await many.end(of: places[2])
    let ends = [try await many.get(places[0]), try await one.get(others), try await many.get(places[1])]
    let finished = try ends.map { try $0.string("finished_at").orThrow("an end") }
    #expect(finished == finished.sorted())
  }

  @Test("an account above its limit of batch streams gets 429, and a stream that ends frees its slot")
  func batchStreams() async throws {
    let service = try service { $0.batchStreams = 2 }
    let client = try await service.client()
    let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
    let headers = ["Accept": "text/event-stream"]
    var streams: [TestStream] = []
    for _ in 0..<2 {
      let stream = await client.stream(place, headers)
      #expect(try await stream.event().name == "progress")
      streams.append(stream)
    }
    let refused = try await client.get(place, headers)
    #expect(refused.status == 429 && refused.code == "account_busy" && refused.header("Retry-After") != nil)
    #expect(try await service.stranger.get("/metrics").text.contains("crier_batch_streams 2\n"))
    streams[0].end()
    try await eventually { service.server.batchSlots.count <= 1 }
    let again = await client.stream(place, headers)
    #expect(try await again.event().name == "progress")
    again.end()
    streams[1].end()
  }
}
