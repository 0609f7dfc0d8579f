// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Ledger
import SpeechEngine
import Testing

@testable import Playback

@Suite("An announcement for a player")
struct StoredAnnouncementTests {
  @Test(
    "its category is read from the payload",
    arguments: [
      ("received", Ledger.Category.payment), ("refunded", .refund), ("withdrawn", .refund), ("failed", .refund),
    ])
  func category(kind: String, category: Ledger.Category) throws {
    let payload = #"{"id":"p1","amount":"1.50","currency":"CNY","sequence":42,"kind":"\#(kind)"}"#
    let announcement = try StoredAnnouncement(id: "other", payload: Data(payload.utf8))
    #expect(announcement.category == category && announcement.id == "p1" && announcement.sequence == 42)
  }

  @Test("text is information, with the id that it is given")
  func text() throws {
    let announcement = try StoredAnnouncement(id: "t1", payload: Data(#"{"aps":{"alert":"Closing soon"}}"#.utf8))
    #expect(announcement.category == .information && announcement.id == "t1" && announcement.sequence == nil)
  }

  @Test("a payload that cannot be read is an error before anything is accepted")
  func unreadable() {
    #expect(throws: AnnouncementError.self) {
      try StoredAnnouncement(id: "a", payload: Data(#"{"id":"p1","amount":"1.505","currency":"CNY"}"#.utf8))
    }
  }

  @Test("an engine that is away passes; words that are wrong do not; in doubt, money waits")
  func passing() {
    #expect(AnnouncerRendering.mayPass(SpeechEngineError(.engineUnavailable, "a", "b", remedy: "c")))
    #expect(!AnnouncerRendering.mayPass(SpeechEngineError(.textUnspeakable, "a", "b", remedy: "c")))
    #expect(!AnnouncerRendering.mayPass(AnnouncerError(.amountMismatch, "a", "b", remedy: "c")))
    #expect(!AnnouncerRendering.mayPass(AnnouncementError(.fieldInvalid, "a", "b", remedy: "c")))
    #expect(AnnouncerRendering.mayPass(CancellationError()))
  }
}
