// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("What clips can be made from", .removesLedgers)
struct ClipSourceTests {
  private func decision(_ clip: String, pack: String? = nil) -> Decision {
    Decision(
      kind: "received", text: "twelve", locale: "en-US", method: pack == nil ? "speech" : "clips",
      voice: pack ?? "en-us", packDigest: pack.map { _ in "digest" },
      clip: PublishedClip(name: clip, group: "group.crier"), durationMilliseconds: 1, loudnessLUFS: -16)
  }

  private func answer(
    _ id: String, clip: String, pack: String? = nil, source: NewAnswer.Source? = nil
  ) -> NewAnswer {
    NewAnswer(
      account: "shop", key: "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data("{}".utf8),
      clip: PublishedClip(name: clip, group: "group.crier"), decision: decision(clip, pack: pack), source: source)
  }

  private let payload = Data([0x7B, 0, 0xFF, 0x7D])

  @Test("an answer's source is found by its clip, with the voice that spoke", arguments: LedgerUnderTest.all)
  func answered(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await ledger.accept(
      answer: answer("A-1", clip: "a.wav", source: NewAnswer.Source(payload: payload, defaultPack: "mine")))
    _ = try await ledger.accept(
      answer: answer("A-2", clip: "b.wav", pack: "anna", source: NewAnswer.Source(payload: payload)))
    #expect(
      try await ledger.clipSources("a.wav") == [
        ClipSource(account: "shop", payload: payload, defaultPack: "mine", locale: "en-US", voice: .engine)
      ])
    #expect(
      try await ledger.clipSources("b.wav") == [
        ClipSource(account: "shop", payload: payload, locale: "en-US", voice: .pack(id: "anna"))
      ])
  }

  @Test("an announcement that is played is the source of its clip", arguments: LedgerUnderTest.all)
  func played(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var playing = payment("A-1", account: "shop", payload: #"{"id":"A-1"}"#)
    playing.defaultPack = "mine"
    _ = try await ledger.accept(answer: answer("A-1", clip: "a.wav"), playing: playing)
    #expect(
      try await ledger.clipSources("a.wav") == [
        ClipSource(
          account: "shop", payload: Data(#"{"id":"A-1"}"#.utf8), defaultPack: "mine", locale: "en-US", voice: .engine)
      ])
  }

  @Test("a clip in the language of a phone has that language, and an unknown voice", arguments: LedgerUnderTest.all)
  func pushed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var device = newDevice()
    device.locale = "hi-IN"
    _ = try await ledger.register(device)
    _ = try await ledger.accept(
      answer: answer("A-1", clip: "a.wav", source: NewAnswer.Source(payload: payload)),
      pushing: [newPush(clip: "b.wav")])
    #expect(
      try await ledger.clipSources("b.wav") == [
        ClipSource(account: "shop", payload: payload, locale: "hi-IN", voice: .unknown)
      ])
  }

  @Test("of many announcements with a clip, a few are its sources", arguments: LedgerUnderTest.all)
  func many(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for number in 0..<9 {
      _ = try await ledger.accept(
        answer: answer("A-\(number)", clip: "a.wav", source: NewAnswer.Source(payload: Data("\(number)".utf8))))
    }
    #expect((1...8).contains(try await ledger.clipSources("a.wav").count))
  }

  @Test(
    "a removed announcement, one without a stored payload and an unknown clip have no source",
    arguments: LedgerUnderTest.all)
  func none(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    _ = try await ledger.accept(answer: answer("A-1", clip: "a.wav", source: NewAnswer.Source(payload: payload)))
    _ = try await ledger.accept(answer: answer("A-2", clip: "b.wav"))
    _ = try await ledger.remove(account: "shop", id: "A-1")
    for name in ["a.wav", "b.wav", "c.wav", "", "a\0.wav"] {
      #expect(try await ledger.clipSources(name).isEmpty, "\(name)")
    }
  }

  @Test("a source that is too large, or whose pack has a zero byte, is refused", arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for source in [
      NewAnswer.Source(payload: Data(count: StoredAnnouncement.maximumPayloadBytes + 1)),
      NewAnswer.Source(payload: payload, defaultPack: "a\0"),
      NewAnswer.Source(payload: payload, defaultPack: String(repeating: "a", count: 256)),
    ] {
      let error = await #expect(throws: LedgerError.self) {
        try await ledger.accept(answer: answer("A-1", clip: "a.wav", source: source))
      }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await ledger.clipSources("a.wav").isEmpty)
  }
}
