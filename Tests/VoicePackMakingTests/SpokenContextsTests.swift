// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@testable import VoicePackMaking

@Suite("The engine's clips are cut out of whole announcements")
struct SpokenContextsTests {
  private func contexts(_ locale: String) throws -> [SpokenContext] {
    try SpokenContexts(writer: Templates.writer(locale)).sentences.flatMap(\.contexts)
  }

  @Test("a number is spoken with the unit after it, both in the middle of a sentence and at its end")
  func units() throws {
    let english = try contexts("en-US")
    for tokens in [["thirty", "cents"], ["twenty", "five", "dollars"], ["one", "dollar"]] {
      let positions = Set(english.filter { $0.tokens == tokens }.map(\.position))
      #expect(positions.isSuperset(of: [.plain, .final]), "\(tokens)")
    }
    for tokens in [
      ["forty", "one", "thousand"], ["three", "hundred"], ["twenty", "five"], ["dollars"], ["Received"],
    ] {
      #expect(english.contains { $0.tokens == tokens && $0.position == .plain }, "\(tokens)")
    }
    #expect(english.first { $0.tokens == ["forty", "one", "thousand"] }?.text == "forty-one thousand")
    let chinese = try contexts("zh-CN")
    for tokens in [["四十", "一", "万"], ["二十", "五", "元"], ["五", "角"]] {
      #expect(chinese.contains { $0.tokens == tokens }, "\(tokens)")
    }
    let hindi = try contexts("hi-IN")
    for tokens in [["इकतालीस", "हज़ार"], ["तीन", "सौ"], ["पच्चीस", "लाख"]] {
      #expect(hindi.contains { $0.tokens == tokens }, "\(tokens)")
    }
  }

  @Test(
    "a word's clip is cut once for each position, from the stated place in the sentence",
    arguments: ["en-US", "zh-CN", "hi-IN", "ja-JP"])
  func extents(locale: String) throws {
    let sentences = try SpokenContexts(writer: Templates.writer(locale)).sentences
    var known: Set<[String]> = []
    for sentence in sentences {
      let said = sentence.run.text.filter(\.isLetter)
      for context in sentence.contexts {
        #expect(known.insert(context.tokens + [context.position.rawValue]).inserted)
        #expect(context.extent.count == context.text.spokenLength)
        #expect(context.extent.upperBound <= sentence.run.text.spokenLength)
        #expect(said.contains(context.text.filter(\.isLetter)))
        #expect(context.text.filter(\.isLetter) == context.tokens.joined().filter(\.isLetter))
      }
    }
    #expect((300...1_500).contains(known.count))
  }

  @Test("the sentences from which the clips are cut are always the same")
  func deterministic() throws {
    #expect(try contexts("en-US") == contexts("en-US"))
  }
}
