// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import ConcurrencySupport
import Crypto
import Foundation
import Ledger
import SQLiteLedger
import Testing

@testable import Announcer

@Suite("An announcement is accepted once", .timeLimit(.minutes(5)))
final class AnnouncedOnceTests {
  /// Clips that are said to exist, until they are lost.
  private final class StandInClips: ClipMaking {
    let made = Locked(0)
    let isLost = Locked(false)

    func made(
      _ announcement: Announcement, options: RenderOptions, group: String, for account: String
    ) async throws -> (report: ClipReport, isCached: Bool) {
      made.withLock { $0 += 1 }
      let clip = ClipReport.Clip(
        name: "a.wav", path: "/a.wav", url: "", bytes: 4, sha256: String(repeating: "0", count: 64),
        durationMilliseconds: 1_200, format: "wav", encoding: "pcm16", sampleRate: 22_050, channels: 1)
      let report = ClipReport(
        id: nil, text: "words", locale: "en-US", method: "speech", voice: "en-us", amount: nil, clip: clip,
        loudnessLUFS: -16, marks: [], shortened: [], unspoken: [], warnings: [], cached: false)
      return (report, false)
    }

    func keeping<Value: Sendable>(
      _ clips: [ClipReport], _ work: @Sendable () async throws -> Value
    ) async throws -> Value? {
      isLost.withLock { $0 } ? nil : try await work()
    }

    func url(ofClip name: String, authority: String?) -> String { "https://\(authority ?? "shop")/\(name)" }
  }

  private let folder = FileManager.default.temporaryDirectory.appending(path: "accepted-\(UUID().uuidString)")
  private let ledger: any Ledger.Store
  private let clips = StandInClips()
  private let told = Locked<[AnnouncementService.Told]>([])
  private let books: PhraseBooks

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"))
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    books = try PhraseBooks(directory: Installation(data: nil, environment: [:], executable: executable).templates)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func service(lane: String? = nil) -> AnnouncementService {
    AnnouncementService(
      ledger: ledger, clips: clips,
      pushes: AnnouncementPushes(lifetime: nil, ledger: ledger, phraseBooks: books) { _ in false },
      groups: AppGroups(standard: "group.crier", listed: [], containers: folder), locale: "en-US",
      lane: lane.map { PlayingLane($0) }
    ) { [told] new in told.withLock { $0.append(new) } }
  }

  private func submission(_ body: String, key: String? = nil, account: String = "shop") -> Submission {
    Submission(
      account: account, defaults: AnnouncementRequest.Defaults(), body: Data(body.utf8),
      bodyDigest: Data(SHA256.hash(data: Data(body.utf8))), key: key)
  }

  private func accept(
    _ body: String, key: String? = nil, account: String = "shop", lane: String? = nil
  ) async throws -> AnnouncementService.Accepted {
    let service = service(lane: lane)
    return try await service.accept(try service.order(submission(body, key: key, account: account)))
  }

  private func refusal(_ body: String, key: String? = nil, lane: String? = nil) async throws -> AcceptanceError.Code? {
    do {
      _ = try await accept(body, key: key, lane: lane)
      return nil
    } catch let error as AcceptanceError {
      return error.code
    }
  }

  private func payment(_ id: String, amount: String = "12.50", _ more: String = "") -> String {
    #"{"id":"\#(id)","amount":"\#(amount)","currency":"USD"\#(more)}"#
  }

  @Test("a repeated announcement gets the same report, makes no clip and causes no second event")
  func repetition() async throws {
    let first = try await accept(payment("1"))
    let second = try await accept(payment("1"))
    #expect(first.isNew && !second.isNew)
    #expect(first.report == second.report && first.id == second.id && first.clip == second.clip)
    #expect(clips.made.withLock { $0 } == 1 && told.withLock { $0.count } == 1)
    let stored = try await ledger.announcement(account: "shop", id: "1")
    #expect(stored?.decision?.amount?.value == "12.50" && stored?.decision?.text == "words")
  }

  @Test("a payload that only an earlier version accepted is refused, unless its answer is stored")
  func earlierRules() async throws {
    let body = #"{"id":"1","entity":"payment","amount":1250,"currency":"USD"}"#
    await #expect(throws: AnnouncementError.self) { try await accept(body) }
    let earlier = NewAnswer(
      account: "shop", key: "id:1", bodyDigest: submission(body).bodyDigest, id: "1", status: 201,
      report: Data(#"{"id":"1"}"#.utf8), clip: PublishedClip(name: "a.wav", group: "group.crier"))
    _ = try await ledger.accept(answer: earlier)
    let again = try await accept(body)
    #expect(!again.isNew && again.id == "1" && again.report == earlier.report)
    // Strict handling asks for the present rules.
    var strict = submission(body)
    strict.unknownKeys = .refuse
    #expect(throws: AnnouncementError.self) { try service().order(strict) }
    #expect(clips.made.withLock { $0 } == 0)
  }

  @Test("one of twenty equal simultaneous submissions is new, and all submissions get the same report")
  func atOnce() async throws {
    let service = service(lane: "shop")
    let order = try service.order(submission(payment("1", #","deliver":["play"]"#)))
    let accepted = try await withThrowingTaskGroup(of: AnnouncementService.Accepted.self) { group in
      for _ in 0..<20 { group.addTask { try await service.accept(order) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(accepted.count { $0.isNew } == 1 && Set(accepted.map(\.report)).count == 1)
    #expect(try await ledger.recent(20, lane: "shop").count == 1)
    #expect(told.withLock { $0.map(\.isPlayed) } == [true])
  }

  @Test("a changed body with the same id or Idempotency-Key is refused, and another account may use the same id")
  func conflicts() async throws {
    _ = try await accept(payment("1"))
    _ = try await accept(payment("2"), key: "k")
    #expect(try await refusal(payment("1", amount: "99.00")) == .idConflict)
    #expect(try await refusal(payment("3"), key: "k") == .idempotencyKeyReused)
    #expect(try await accept(payment("1", amount: "99.00"), account: "other").isNew)
    #expect(try await ledger.announcement(account: "shop", id: "3") == nil)
  }

  @Test(
    "a payment that is repeated with a new Idempotency-Key gets the first answer, and the key stays with the payment")
  func otherKey() async throws {
    let first = try await accept(payment("1"))
    let second = try await accept(payment("1"), key: "k")
    #expect(!second.isNew && second.report == first.report)
    #expect(try await refusal(payment("9"), key: "k") == .idempotencyKeyReused)
  }

  @Test("an announcement whose clip is lost after every rendering is refused, and can be sent again")
  func lost() async throws {
    clips.isLost.withLock { $0 = true }
    #expect(try await refusal(payment("1")) == .clipLost)
    #expect(clips.made.withLock { $0 } == 5)
    #expect(try await ledger.announcement(account: "shop", id: "1") == nil && told.withLock { $0.isEmpty })
    clips.isLost.withLock { $0 = false }
    #expect(try await accept(payment("1")).isNew)
  }

  @Test("an announcement with an invalid field or an unavailable delivery is refused and not stored")
  func refused() async throws {
    #expect(try await refusal(payment("1", #","deliver":["play"]"#)) == .playerUnavailable)
    #expect(try await refusal(payment("1", #","deliver":["push"],"device":"a""#)) == .pushUnavailable)
    #expect(try await refusal(payment("..")) == .fieldInvalid)
    await #expect(throws: AnnouncementError.self) { try await accept(payment("1", amount: "much")) }
    #expect(try await ledger.announcement(account: "shop", id: "1") == nil)
  }

  @Test("the result of an announcement is recorded before a removal of the announcement can begin")
  func noted() async throws {
    let service = service()
    let order = try service.order(submission(payment("1")))
    let removals = Locked(0)
    let removal = Locked<Task<Void, Never>?>(nil)
    _ = try await service.accept(order) { _ in
      let task = Task { await service.turns.take([["shop", "id", "1"]]) { removals.withLock { $0 += 1 } } }
      removal.withLock { $0 = task }
      #expect(removals.withLock { $0 } == 0)
    }
    await removal.withLock { $0 }?.value
    #expect(removals.withLock { $0 } == 1)
  }
}
