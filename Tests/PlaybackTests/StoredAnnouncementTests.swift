// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Ledger
import SpeechEngine
import Testing

@testable import Playback

@Suite("Stored announcements")
struct StoredAnnouncementTests {
  @Test(
    "the payload determines the category",
    arguments: [
      ("received", Ledger.Category.payment), ("refunded", .refund), ("withdrawn", .refund), ("failed", .refund),
    ])
  func category(kind: String, category: Ledger.Category) throws {
    let payload = #"{"id":"p1","amount":"1.50","currency":"CNY","sequence":42,"kind":"\#(kind)"}"#
    let announcement = try StoredAnnouncement(id: "other", payload: Data(payload.utf8))
    #expect(announcement.category == category && announcement.id == "p1" && announcement.sequence == 42)
  }

  @Test("a text is information and has the given id")
  func text() throws {
    let announcement = try StoredAnnouncement(id: "t1", payload: Data(#"{"aps":{"alert":"Closing soon"}}"#.utf8))
    #expect(announcement.category == .information && announcement.id == "t1" && announcement.sequence == nil)
  }

  @Test("a payload that cannot be read is an error, and nothing is accepted")
  func unreadable() {
    #expect(throws: AnnouncementError.self) {
      try StoredAnnouncement(id: "a", payload: Data(#"{"id":"p1","amount":"1.505","currency":"CNY"}"#.utf8))
    }
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
    return try StoredAnnouncement(id: id, payload: Data(payload.utf8))
  }

  @Test("a file is information with its absolute path")
  func file() throws {
    let file = URL(filePath: "/tmp/../tmp/a b.wav")
    let stored = StoredAnnouncement(file: file, id: "f1")
    #expect(stored.category == .information)
    #expect(try stored.content == .file(URL(filePath: "/tmp/a b.wav")))
  }

  @Test("no payload from outside can name a file of this machine")
  func noFileFromOutside() throws {
    let payload = Data(#"{"file":"/etc/passwd","id":"p1","amount":"1.50","currency":"CNY"}"#.utf8)
    let stored = try StoredAnnouncement(account: "shop", id: "p1", payload: payload)
    guard case .announcement(.payment, _, _) = try stored.content else {
      Issue.record("the content is not a payment")
      return
    }
  }

  @Test("a summary has the number and the sum of payments in each currency")
  func summary() throws {
    let payments = [try payment("1", "12.50", "CNY"), try payment("2", "20", "USD"), try payment("3", "45.00", "CNY")]
    let summary = try #require(StoredAnnouncement.summary(of: payments))
    guard case .announcement(.summary(let told), _, _) = try summary.content else {
      Issue.record("the content is not a summary")
      return
    }
    #expect(told.totals.map(\.count) == [2, 1])
    #expect(told.totals.map(\.amount.decimalText) == ["57.50", "20.00"])
    #expect(told.locale == "zh-CN")
  }

  @Test("a refund, a single payment, a text, or a sum too large to speak cannot be summarised")
  func noSummary() throws {
    let payment = try payment("1", "12.50", "CNY")
    let text = try StoredAnnouncement(id: "t", payload: Data(#"{"aps":{"alert":"Hello"}}"#.utf8))
    let most = try self.payment("2", "9999999999999", "CNY")
    #expect(StoredAnnouncement.summary(of: [payment]) == nil)
    #expect(StoredAnnouncement.summary(of: [payment, text]) == nil)
    #expect(StoredAnnouncement.summary(of: [payment, try self.payment("2", "5", "CNY", kind: "refunded")]) == nil)
    #expect(StoredAnnouncement.summary(of: [payment, most]) == nil)
    #expect(StoredAnnouncement.summary(of: []) == nil)
  }

  @Test("a replay of a file or a summary has the original's content, even a replay of a replay")
  func replays() throws {
    var file = StoredAnnouncement(file: URL(filePath: "/tmp/a.wav"), id: "f1")
    file.account = file.replayAccount()
    #expect(try file.content == .file(URL(filePath: "/tmp/a.wav")))
    #expect(file.replayAccount() == file.account)
    let payments = [try payment("1", "12.50", "CNY"), try payment("2", "20", "CNY")]
    var summary = try #require(StoredAnnouncement.summary(of: payments))
    let content = try summary.content
    summary.account = summary.replayAccount()
    #expect(try summary.content == content)
  }

  @Test("an unreadable payload is an error that names the field")
  func unreadable() throws {
    var stored = StoredAnnouncement(file: URL(filePath: "/tmp/a.wav"), id: "f1")
    stored.payload = Data("{}".utf8)
    let error = #expect(throws: AnnouncementError.self) { try stored.content }
    #expect(error?.subject == "file")
  }
}
