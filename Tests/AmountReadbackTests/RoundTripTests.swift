// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Round trips")
struct RoundTripTests {
  /// A generator that returns the same numbers each time, so that a failure can be reproduced.
  struct Generator: RandomNumberGenerator {
    var state: UInt64 = 20_260_101

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  /// Amounts of every length up to thirteen digits, many with zeros inside, and all from 0.01 to 40.00.
  static let amounts: [Int64] = {
    var generator = Generator()
    var amounts = Array(Int64(1)...4000)
    for _ in 0..<6000 {
      var major: Int64 = 0
      for _ in 0..<Int.random(in: 1...13, using: &generator) {
        major = major * 10 + (Bool.random(using: &generator) ? 0 : Int64.random(in: 1...9, using: &generator))
      }
      amounts.append(major * 100 + Int64.random(in: 0...99, using: &generator))
    }
    return amounts.filter { $0 > 0 }
  }()

  @Test("an amount that a phrase book writes is read as the same amount", arguments: SpokenAmounts.all)
  func roundTrip(_ language: SpokenAmounts.Language) throws {
    let read = try Reading(language.locale)
    for amount in Self.amounts {
      let major = language.locale == "en-IN" ? amount / 100 % 10_000_000_000 : amount / 100
      let expected = major * 100 + amount % 100
      guard expected > 0 else { continue }
      let words = language.words(major, amount % 100).joined(separator: language.separator)
      #expect(read(words, language.currency) == .amount(expected), "\(words)")
    }
  }

  @Test(
    "an amount with a missing, repeated or misplaced word is never read as the same amount",
    arguments: SpokenAmounts.all)
  func damaged(_ language: SpokenAmounts.Language) throws {
    let read = try Reading(language.locale)
    for amount in Self.amounts.suffix(500) {
      let major = language.locale == "en-IN" ? amount / 100 % 10_000_000_000 : amount / 100
      let words = language.words(major, amount % 100)
      let expected = Reading.Outcome.amount(major * 100 + amount % 100)
      for index in words.indices {
        var damaged = words
        damaged.remove(at: index)
        var all = [damaged]
        damaged.insert(contentsOf: [words[index], words[index]], at: index)
        all.append(damaged)
        // Swapping two words may put a number after its unit, which is a valid form.
        if index > 0, words.count > 2, words[index] != words[index - 1] {
          damaged = words
          damaged.swapAt(index, index - 1)
          all.append(damaged)
        }
        for damaged in all {
          let text = damaged.joined(separator: language.separator)
          #expect(read(text, language.currency) != expected, "\(text)")
        }
      }
    }
  }

  struct Alphabet: Sendable, CustomTestStringConvertible {
    var locale: String
    var words: [String]
    /// Unifies the spellings that the reader treats as equivalent.
    var plain: @Sendable (String) -> String = { $0 }

    var testDescription: String { locale }
  }

  static let alphabets = [
    Alphabet(locale: "en-US", words: ["one", "five", "eleven", "twenty", "hundred", "thousand", "million", "and"]) {
      $0.replacing(" and ", with: " ")
    },
    Alphabet(locale: "en-IN", words: ["one", "five", "eleven", "hundred", "lakh", "crore"]),
    Alphabet(locale: "es-MX", words: ["un", "treinta", "y", "cien", "ciento", "mil", "millón", "millones", "de"]),
    Alphabet(locale: "es", words: ["una", "un", "veintiún", "doscientas", "doscientos", "mil", "millones", "de"]) {
      // Both forms are used before mil.
      $0.replacing("una mil", with: "un mil")
    },
    Alphabet(locale: "hi-IN", words: ["एक", "पाँच", "बारह", "सौ", "हज़ार", "लाख", "करोड़"]),
    Alphabet(locale: "ko-KR", words: ["일", "이", "십", "백", "천", "만", "억"]) {
      // 일 is optional before 십, 백, 천, and before 만 at the beginning.
      let words = $0.replacing("일십", with: "십").replacing("일백", with: "백").replacing("일천", with: "천")
      return words.hasPrefix("일만") ? String(words.dropFirst()) : words
    },
    Alphabet(locale: "ja-JP", words: ["いち", "に", "じゅう", "ひゃく", "せん", "まん", "おく"]),
    Alphabet(locale: "zh-CN", words: ["零", "一", "二", "十", "百", "千", "万", "亿"]) {
      // The number may begin with 十 or 一十. Before thousands after a group that ends in zeros, 零 is optional.
      ($0.hasPrefix("一十") ? String($0.dropFirst()) : $0)
        .replacing("零一千", with: "一千").replacing("零二千", with: "二千")
    },
  ]

  @Test(
    "a sequence of number words is read as an amount only if it is the correct form of the amount", arguments: alphabets
  )
  func allSequences(_ alphabet: Alphabet) throws {
    let language = try #require(SpokenAmounts.all.first { $0.locale == alphabet.locale })
    let read = try Reading(language.locale)
    let unit = try #require(language.words(1, 0).last)
    var accepted = 0
    for length in 1...5 {
      var indices = Array(repeating: 0, count: length)
      while true {
        let words = (indices.map { alphabet.words[$0] } + [unit]).joined(separator: language.separator)
        if case .amount(let amount) = read(words, language.currency), amount > 0 {
          let written = language.words(amount / 100, 0).joined(separator: language.separator)
          #expect(alphabet.plain(words) == alphabet.plain(written))
          accepted += 1
        }
        guard let last = indices.lastIndex(where: { $0 < alphabet.words.count - 1 }) else { break }
        indices[last] += 1
        for index in (last + 1)..<length { indices[index] = 0 }
      }
    }
    #expect(accepted > 100)
  }
}
