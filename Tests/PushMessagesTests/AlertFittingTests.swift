// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import TestSupport
import Testing

@Suite struct AlertFittingTests {
  private typealias Part = AlertMessage.Part

  /// A message whose clip's URL is lengthened until the payload has exactly so many bytes.
  private func message(_ message: AlertMessage, ofBytes bytes: Int) throws -> AlertMessage {
    var message = message
    let missing = bytes - message.encoded().count
    let urlBytes = try #require(message.content?.clip).url.absoluteString.utf8.count
    message.content?.clip = try AlertMessages.clip(urlBytes: urlBytes + missing)
    #expect(message.encoded().count == bytes)
    return message
  }

  /// Expects the parts that are never left out, whatever the size.
  private func expectEssentials(of message: AlertMessage, in body: Data) throws {
    let read = try #require(try AlertMessage.Content(payload: body))
    let content = try #require(message.content)
    #expect(read.id == content.id)
    #expect(read.sequence == content.sequence)
    #expect(read.amount == content.amount)
    #expect(read.locale == content.locale)
    #expect(read.kind == content.kind)
    #expect(read.clip == content.clip)
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.contains(#""mutable-content":1"#))
    #expect(text.contains(#""sound":"9f2c.wav""#))
  }

  private func alert(in body: Data) throws -> [String: String] {
    struct Outer: Decodable {
      struct Notification: Decodable { var alert: [String: String] }
      var aps: Notification
    }
    return try JSONDecoder().decode(Outer.self, from: body).aps.alert
  }

  @Test("a push message of 4,096 bytes is sent whole, and a message of one byte more loses its spoken text")
  func boundary() throws {
    let full = try message(AlertMessages.full(), ofBytes: 4_096)
    let whole = try full.fitted()
    #expect(whole.body == full.encoded())
    #expect(whole.leftOut == [])
    let larger = try message(AlertMessages.full(), ofBytes: 4_097).fitted()
    #expect(larger.leftOut == [.text])
  }

  @Test("a part of a push message is removed only if the message is still too large after the earlier removals")
  func steps() throws {
    // A body of 160 characters is not shortened before the tokens have given way.
    var full = try AlertMessages.full()
    full.body = String(repeating: "b", count: 160)
    let removals: [(Part, (inout AlertMessage) -> Void)] = [
      (.text, { $0.content?.text = nil }), (.attachment, { $0.attachmentURL = nil }),
      (.payer, { $0.content?.payer = nil }), (.subtitle, { $0.subtitle = nil }),
      (.tokens, { $0.content?.spoken = nil }),
    ]
    var reduced = full
    var expected: [Part] = []
    for (part, remove) in removals {
      remove(&reduced)
      expected.append(part)
      let saved = full.encoded().count - reduced.encoded().count
      // The message fits exactly when the parts up to this one are gone.
      let fits = try message(full, ofBytes: 4_096 + saved)
      let fitted = try fits.fitted()
      #expect(fitted.body.count == 4_096)
      #expect(fitted.leftOut == expected)
      try expectEssentials(of: fits, in: fitted.body)
      let tooLarge = try message(full, ofBytes: 4_097 + saved)
      let next = try tooLarge.fitted()
      #expect(next.body.count <= 4_096)
      #expect(next.leftOut.count == expected.count + 1)
      #expect(
        next.leftOut.first { !expected.contains($0) } == (removals.first { !expected.contains($0.0) }?.0 ?? .body))
      try expectEssentials(of: tooLarge, in: next.body)
    }
  }

  @Test("a long body of a push is shortened to a banner's length before the subtitle and the tokens are removed")
  func longBody() throws {
    var long = try AlertMessages.full()
    long.body = String(repeating: "word ", count: 1_000)
    let fitted = try long.fitted()
    #expect(fitted.leftOut == [.text, .attachment, .payer, .body])
    #expect((4_091...4_096).contains(fitted.body.count))
    #expect(try alert(in: fitted.body)["body"]?.hasSuffix("word…") == true)
    #expect(try alert(in: fitted.body)["subtitle"] == "Tea shop")
  }

  @Test("the body of a push keeps 160 characters as long as the subtitle or the tokens can be removed")
  func visibleBody() throws {
    var long = try AlertMessages.full()
    long.body = String(repeating: "b", count: 500)
    var bare = long
    bare.content?.text = nil
    bare.attachmentURL = nil
    bare.content?.payer = nil
    bare.body = String(repeating: "b", count: 160) + "…"
    let saved = long.encoded().count - bare.encoded().count
    let fits = try message(long, ofBytes: 4_096 + saved).fitted()
    #expect(fits.leftOut == [.text, .attachment, .payer, .body])
    #expect(try alert(in: fits.body)["body"] == bare.body)
    let next = try message(long, ofBytes: 4_097 + saved).fitted()
    #expect(next.leftOut == [.text, .attachment, .payer, .body, .subtitle])
    #expect(try alert(in: next.body)["body"]?.count ?? 0 > 160)
  }

  @Test("a body of digits alone is removed instead of shortened, because its beginning would be another amount")
  func digits() throws {
    var long = try AlertMessages.full()
    long.body = String(repeating: "7", count: 5_000)
    let body = try alert(in: try long.fitted().body)["body"]
    #expect(body?.contains("7") != true)
  }

  @Test("the title of a push is shortened last, and is never removed")
  func title() throws {
    var long = try AlertMessages.full()
    long.title = String(repeating: "t", count: 5_000)
    let fitted = try long.fitted()
    #expect(fitted.leftOut == Part.allCases)
    #expect(fitted.body.count == 4_096)
    #expect(try alert(in: fitted.body)["title"]?.hasSuffix("t…") == true)
    try expectEssentials(of: long, in: fitted.body)
  }

  @Test("a push message is an error if the parts that must stay are too large")
  func tooLarge() throws {
    var least = try AlertMessages.full()
    least.title = "t"
    let full = least
    least.content?.text = nil
    least.attachmentURL = nil
    least.content?.payer = nil
    least.subtitle = nil
    least.content?.spoken = nil
    least.body = nil
    let saved = full.encoded().count - least.encoded().count
    #expect(try message(full, ofBytes: 4_096 + saved).fitted().body.count == 4_096)
    let tooLarge = try message(full, ofBytes: 4_097 + saved)
    let error = #expect(throws: PushMessageError.self) { try tooLarge.fitted() }
    #expect(error?.code == .messageTooLarge)
    #expect(error?.description.contains("2026112000012345") == false)
  }

  @Test("shortening never divides a character: an emoji with modifiers, a family, a flag, or a letter with marks")
  func characters() throws {
    for character in ["👩‍👩‍👧‍👦", "👍🏽", "🇨🇳", "e\u{301}\u{323}", "नि", "각", "\u{1F468}\u{200D}\u{1F4BB}"] {
      var long = try AlertMessages.full()
      long.body = String(repeating: character, count: 3_000)
      for extra in 0..<12 {
        let fitted = try message(long, ofBytes: long.encoded().count + extra).fitted()
        #expect(fitted.body.count <= 4_096)
        let body = try #require(try alert(in: fitted.body)["body"])
        #expect(body.hasSuffix("…"))
        #expect(body.dropLast().allSatisfy { String($0) == character })
      }
    }
  }

  @Test(
    "a shortened push shows an amount whole or not at all",
    arguments: [
      ("¥1,234.50", "人民币"), ("€ 1.234,50", "Euro"), ("1 234,50 €", "x"), ("12 lakh", "rupees"), ("3万2千元", "已到账"),
      ("١٬٢٣٤٫٥٠", "ج.م"), ("CHF 1’234.50", "x"), ("HK$5", "x"),
    ])
  func amounts(amount: String, rest: String) throws {
    let start = String(repeating: "x", count: 30) + " "
    var long = try AlertMessages.full()
    long.body = start + amount + " " + rest + String(repeating: "y", count: 200)
    var bare = long
    bare.content?.text = nil
    bare.attachmentURL = nil
    bare.content?.payer = nil
    bare.subtitle = nil
    bare.content?.spoken = nil
    // The clip's URL leaves room for so many characters of the body.
    for count in start.count...(start.count + amount.count + rest.count + 3) {
      bare.body = String(long.body?.prefix(count) ?? "") + "…"
      let saved = long.encoded().count - bare.encoded().count
      let fitted = try message(long, ofBytes: 4_096 + saved).fitted()
      let body = try #require(try alert(in: fitted.body)["body"])
      let digits = body.filter { $0.isNumber || $0 == "," || $0 == "." }
      #expect(digits.isEmpty || body.contains(amount))
    }
  }

  @Test("random push messages fit or are an error, and keep the parts that must stay")
  func randomMessages() throws {
    var generator = SplitMix64(seed: 21)
    let alphabet = ["a", " ", "\"", "\\", "/", "\n", "\u{1}", "é", "张", "👩‍👩‍👧‍👦", "7", "¥", "\u{2028}"]
    func text(_ longest: Int) -> String {
      (0..<Int.random(in: 0...longest, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? "" }
        .joined()
    }
    for _ in 0..<300 {
      var random = try AlertMessages.full()
      random.title = text(60)
      random.subtitle = text(400)
      random.body = text(2_000)
      random.content?.text = text(2_000)
      random.content?.payer?.name = text(80)
      random.content?.clip = try AlertMessages.clip(urlBytes: Int.random(in: 60...3_000, using: &generator))
      guard let fitted = try? random.fitted() else { continue }
      #expect(fitted.body.count <= 4_096)
      #expect(fitted.leftOut.isEmpty == (random.encoded().count <= 4_096))
      try expectEssentials(of: random, in: fitted.body)
    }
  }
}
