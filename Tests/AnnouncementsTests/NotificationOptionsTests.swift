// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("The notification that an APNs payload asks for")
struct NotificationOptionsTests {
  private func request(
    aps: String, beside more: String = "", deliver: String = #"["push"]"#,
    unknownKeys: PayloadDecoder.UnknownKeys = .warn
  ) throws -> AnnouncementRequest {
    let json = """
      {"aps":{\(aps)},"payment":{"id":"p1","amount":"1.00","currency":"CNY"},"deliver":\(deliver),"device":"d"\(more)}
      """
    return try PayloadDecoder.request(Data(json.utf8), unknownKeys: unknownKeys)
  }

  @Test("badge, level, score, thread, volume and attachment are read from aps, with two decimals of score and volume")
  func all() throws {
    let request = try request(
      aps: """
        "badge":3,"mutable-content":1,"interruption-level":"critical","relevance-score":0.29,"thread-id":"till-2",\
        "sound":{"critical":1,"name":"other.wav","volume":0.57}
        """, beside: #","attachment-url":"https://shop.example/tea.jpg""#, unknownKeys: .refuse)
    let options = request.notification
    #expect(options.badge == 3 && options.threadID == "till-2")
    #expect(options.interruptionLevel == .critical)
    #expect(options.relevanceScore == 29 && options.criticalVolume == 57)
    #expect(options.attachmentURL?.absoluteString == "https://shop.example/tea.jpg")
    #expect(request.warnings == [Self.soundWarning])
  }

  @Test(
    "a missing or null key of aps leaves its option empty, and a sound that is not critical has no volume",
    arguments: [
      #""mutable-content":1"#, #""mutable-content":1,"sound":"default""#, #""mutable-content":1,"badge":null"#,
      #""mutable-content":1,"sound":{"critical":0,"volume":0.5}"#,
      #""mutable-content":1,"sound":{"name":"default"}"#,
    ])
  func empty(aps: String) throws {
    let request = try request(aps: aps)
    #expect(request.notification == NotificationOptions())
    #expect(request.warnings.isEmpty)
  }

  private static let soundWarning =
    "aps.sound: the name is not used, because the phone plays the clip of the announcement"

  @Test(
    "a sound that an APNs payload names is not used, and the report says so",
    arguments: [#""cash.wav""#, #""cash""#, #"{"name":"cash.wav"}"#])
  func namedSound(sound: String) throws {
    #expect(try request(aps: #""mutable-content":1,"sound":\#(sound)"#).warnings == [Self.soundWarning])
  }

  @Test("a critical sound without a volume is played at full volume")
  func fullVolume() throws {
    #expect(try request(aps: #""sound":{"critical":1}"#).notification.criticalVolume == 100)
  }

  @Test("a badge may be 0 or the largest number of 32 bits, and a relevance score may be 0 or 1")
  func limits() throws {
    #expect(try request(aps: #""badge":0,"relevance-score":0"#).notification.badge == 0)
    #expect(try request(aps: #""relevance-score":0"#).notification.relevanceScore == 0)
    #expect(try request(aps: #""relevance-score":1.00"#).notification.relevanceScore == 100)
    #expect(try request(aps: #""badge":4294967295"#).notification.badge == .max)
  }

  @Test(
    "a value in aps that iOS would refuse is an error that names its key",
    arguments: [
      (#""badge":-1"#, "aps.badge"), (#""badge":4294967296"#, "aps.badge"), (#""badge":1.5"#, "aps.badge"),
      (#""badge":"3""#, "aps.badge"), (#""interruption-level":"loud""#, "aps.interruption-level"),
      (#""interruption-level":"Critical""#, "aps.interruption-level"),
      (#""interruption-level":1"#, "aps.interruption-level"),
      (#""relevance-score":1.01"#, "aps.relevance-score"), (#""relevance-score":-0.01"#, "aps.relevance-score"),
      (#""relevance-score":0.555"#, "aps.relevance-score"), (#""relevance-score":"0.5""#, "aps.relevance-score"),
      (#""relevance-score":1e3"#, "aps.relevance-score"), (#""thread-id":" ""#, "aps.thread-id"),
      (#""thread-id":["a"]"#, "aps.thread-id"), (#""sound":{"critical":2}"#, "aps.sound.critical"),
      (#""sound":{"critical":true}"#, "aps.sound.critical"),
      (#""sound":{"critical":1,"volume":2}"#, "aps.sound.volume"),
      (#""sound":{"critical":1,"volume":"1"}"#, "aps.sound.volume"),
    ])
  func invalid(aps: String, field: String) {
    let error = #expect(throws: AnnouncementError.self) { _ = try request(aps: aps) }
    #expect(error?.code == .fieldInvalid && error?.subject == field)
  }

  @Test(
    "the attachment of a notification must have a web address",
    arguments: [
      "file:///etc/passwd", "tea.jpg", "https://", "ftp://shop.example/a",
      "https://" + String(repeating: "x", count: 1_000),
    ])
  func attachment(url: String) {
    let error = #expect(throws: AnnouncementError.self) {
      _ = try request(aps: "", beside: #","attachment-url":"\#(url)""#)
    }
    #expect(error?.code == .fieldInvalid && error?.subject == "attachment-url")
  }

  @Test("a payload with aps gets a warning if mutable-content is not 1, and a payload without aps gets none")
  func withoutExtension() throws {
    for aps in ["", #""mutable-content":0"#, #""mutable-content":"1""#] {
      let warnings = try request(aps: aps).warnings
      #expect(warnings.count == 1 && warnings[0].hasPrefix("aps.mutable-content: "))
    }
    let plain = #"{"id":"p1","amount":"1.00","currency":"CNY","deliver":["push"],"device":"d"}"#
    #expect(try PayloadDecoder.request(Data(plain.utf8)).warnings.isEmpty)
  }

  @Test("without a push, the keys of aps belong to the app, and their values are not checked")
  func otherDeliveries() throws {
    let request = try request(
      aps: #""badge":-1,"sound":7"#, beside: #","attachment-url":"https://a.example/b""#, deliver: #"["clip"]"#)
    #expect(request.notification == NotificationOptions())
    #expect(request.warnings == ["attachment-url: unknown key, ignored"])
  }

  @Test("a stored request with an invalid notification option is read without notification options")
  func stored() throws {
    let json = #"{"aps":{"alert":"x","badge":-1},"deliver":["push"],"device":"d"}"#
    let request = try PayloadDecoder.storedRequest(Data(json.utf8))
    #expect(request.notification == NotificationOptions() && request.warnings.isEmpty)
  }

  @Test("a notification shows the payer's name without invisible characters and controls of direction")
  func payer() throws {
    func visible(_ payer: String?) throws -> String? {
      let amount = try Money(minorUnits: 100, currency: #require(Currency(code: "CNY")), field: "minor")
      return Payment(id: "p1", amount: amount, payer: payer).visiblePayer
    }
    #expect(try visible("Ann\u{202E}a\u{200B}") == "Anna")
    #expect(try visible("\u{200B}") == nil)
    #expect(try visible(nil) == nil)
  }
}
