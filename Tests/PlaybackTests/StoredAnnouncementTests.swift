// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Ledger
import PlaybackOrder
import SpeechEngine
import Testing

@testable import Playback

/// An announcement with a payload as a backend sends it.
private func stored(_ payload: String, account: String = "", id: String) throws -> StoredAnnouncement {
  let payload = Data(payload.utf8)
  return StoredAnnouncement(
    account: account, id: id, request: try PayloadDecoder.request(payload), payload: payload)
}

@Suite("Stored announcements")
struct StoredAnnouncementTests {
  @Test(
    "the payload of an announcement determines its category",
    arguments: [
      ("received", PlaybackItem.Category.payment), ("refunded", .refund), ("withdrawn", .refund), ("failed", .refund),
      ("pending", .refund),
    ])
  func category(kind: String, category: PlaybackItem.Category) throws {
    let payload = #"{"id":"p1","amount":"1.50","currency":"CNY","sequence":42,"kind":"\#(kind)"}"#
    let announcement = try stored(payload, id: "p1")
    #expect(announcement.category == category && announcement.sequence == 42)
    #expect(announcement.kind == .request && !announcement.isReplay)
  }

  @Test("a text is an announcement of the category information, and has the given id")
  func text() throws {
    let announcement = try stored(#"{"aps":{"alert":"Closing soon"}}"#, id: "t1")
    #expect(announcement.category == .information && announcement.id == "t1" && announcement.sequence == nil)
  }

  @Test("the payload of an announcement is stored byte for byte, and the sender's defaults beside it")
  func defaults() throws {
    let payload = Data(#" {"id":"p1", "amount":"1.50","currency":"CNY"} "#.utf8)
    let announcement = StoredAnnouncement(
      account: "shop", id: "p1", request: try PayloadDecoder.request(payload), payload: payload,
      defaults: .init(locale: "zh-CN", pack: "voice", group: "group.a"))
    #expect(announcement.payload == payload)
    #expect(announcement.defaultLocale == "zh-CN" && announcement.defaultPack == "voice")
    #expect(announcement.defaultGroup == "group.a")
    #expect(announcement.defaults == .init(locale: "zh-CN", pack: "voice", group: "group.a"))
  }

  @Test("a missing engine is a temporary failure, wrong words are permanent, and unknown errors are temporary")
  func passing() {
    #expect(AnnouncerRendering.mayPass(SpeechEngineError(.engineUnavailable, "a", "b", remedy: "c")))
    #expect(!AnnouncerRendering.mayPass(SpeechEngineError(.textUnspeakable, "a", "b", remedy: "c")))
    #expect(!AnnouncerRendering.mayPass(AnnouncerError(.tooLong, "a", "b", remedy: "c")))
    #expect(!AnnouncerRendering.mayPass(AnnouncementError(.fieldInvalid, "a", "b", remedy: "c")))
    #expect(AnnouncerRendering.mayPass(CancellationError()))
  }
}

@Suite("Stored content")
struct StoredContentTests {
  private func payment(_ id: String, _ amount: String, _ currency: String, kind: String = "received") throws
    -> StoredAnnouncement
  {
    let payload = #"{"id":"\#(id)","amount":"\#(amount)","currency":"\#(currency)","kind":"\#(kind)","locale":"zh-CN"}"#
    return try stored(payload, id: id)
  }

  @Test("a sound file is an announcement of the category information, and has its absolute path")
  func file() throws {
    let file = URL(filePath: "/tmp/../tmp/a b.wav")
    let stored = StoredAnnouncement(file: file, id: "f1")
    #expect(stored.category == .information)
    #expect(try stored.content == .file(URL(filePath: "/tmp/a b.wav")))
  }

  @Test("no payload from outside can name a file of this machine")
  func noFileFromOutside() throws {
    let payload = #"{"file":"/etc/passwd","kind":"received","id":"p1","amount":"1.50","currency":"CNY"}"#
    // Earlier versions took the kind from the account's name.
    let stored = try stored(payload, account: "crier:files", id: "p1")
    guard case .announcement(.payment, _) = try stored.content else {
      Issue.record("the content is not a payment")
      return
    }
  }

  @Test("a stored summary has the number and the sum of payments in each currency")
  func summary() throws {
    let payments = [try payment("1", "12.50", "CNY"), try payment("2", "20", "USD"), try payment("3", "45.00", "CNY")]
    let summary = try #require(StoredAnnouncement.summary(of: payments))
    guard case .announcement(.summary(let summed), _) = try summary.content else {
      Issue.record("the content is not a summary")
      return
    }
    #expect(summed.totals.map(\.count) == [2, 1])
    #expect(summed.totals.map(\.amount.decimalText) == ["57.50", "20.00"])
    #expect(summed.locale == "zh-CN")
  }

  @Test("a refund, a text, a sum too large to speak, or an empty list cannot be summarised; a single payment can")
  func noSummary() throws {
    let payment = try payment("1", "12.50", "CNY")
    let text = try stored(#"{"aps":{"alert":"Hello"}}"#, id: "t")
    let most = try self.payment("2", "9999999999999", "CNY")
    #expect(StoredAnnouncement.summary(of: [payment])?.kind == .summary)
    #expect(StoredAnnouncement.summary(of: [payment, text]) == nil)
    #expect(StoredAnnouncement.summary(of: [payment, try self.payment("2", "5", "CNY", kind: "refunded")]) == nil)
    #expect(StoredAnnouncement.summary(of: [payment, most]) == nil)
    #expect(StoredAnnouncement.summary(of: []) == nil)
  }

  @Test("a replay has the content and the defaults of its original, even a replay of a replay")
  func replays() throws {
    let payments = [try payment("1", "12.50", "CNY"), try payment("2", "20", "CNY")]
    var payment = payments[0]
    (payment.account, payment.defaultLocale, payment.defaultGroup) = ("shop", "zh-CN", "group.a")
    let originals = [
      payment, StoredAnnouncement(file: URL(filePath: "/tmp/a.wav"), id: "f1"),
      try #require(StoredAnnouncement.summary(of: payments)),
    ]
    for original in originals {
      let replay = original.replay(id: "r", expiresAt: .distantFuture)
      #expect(replay.isReplay && replay.account.isEmpty && replay.id == "r" && replay.category == .alert)
      #expect(replay.sequence == nil && replay.expiresAt == .distantFuture)
      #expect(try replay.content == original.content && replay.defaults == original.defaults)
      #expect(replay.replay(id: "r", expiresAt: .distantFuture) == replay)
    }
  }

  @Test("an unreadable payload in the ledger is an error that names the field")
  func unreadable() throws {
    var stored = StoredAnnouncement(file: URL(filePath: "/tmp/a.wav"), id: "f1")
    stored.payload = Data("{}".utf8)
    let error = #expect(throws: AnnouncementError.self) { try stored.content }
    #expect(error?.subject == "file")
  }
}
