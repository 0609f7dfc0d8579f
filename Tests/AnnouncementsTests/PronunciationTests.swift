// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Announcements

@Suite("Words are respelled for a voice, but people see them unchanged")
struct PronunciationTests {
  private func pronunciation(_ json: String) throws -> Pronunciation {
    try Pronunciation(data: Data(json.utf8), name: "xx.json")
  }

  private func spellings(_ pronunciation: Pronunciation, _ texts: String...) -> [String] {
    pronunciation.respell(texts.map { Script.Segment($0, .amount) }).map(\.spelling)
  }

  @Test("a whole word is respelled in any letter case, but part of a word is not")
  func words() throws {
    let voice = try pronunciation(#"{"voice": "xx", "reads": "a-z", "words": {"won": "wahn"}}"#)
    #expect(spellings(voice, "twenty ", "won") == ["twenty ", "wahn"])
    #expect(spellings(voice, "Won, wonder") == ["wahn, wonder"])
  }

  @Test("a phrase is respelled anywhere, the longest first, and a phrase that maps to itself is protected")
  func phrases() throws {
    let voice = try pronunciation(
      #"{"voice": "xx", "reads": "一-龥", "phrases": {"一元": "yì元", "十一": "十一", "银行": "银航"}}"#)
    #expect(spellings(voice, "一元") == ["yì元"])
    #expect(spellings(voice, "十", "一", "元") == ["十", "一", "元"])
    #expect(spellings(voice, "中国银行卡") == ["中国银航卡"])
  }

  @Test("if a respelled phrase spans two segments, each segment keeps its own part of the phrase")
  func segments() throws {
    let voice = try pronunciation(
      #"{"voice": "xx", "reads": "一-龥 가-힣", "phrases": {"一元": "yì元", "십 원": "시붠"}}"#)
    #expect(spellings(voice, "一", "元", "五角") == ["yì", "元", "五角"])
    #expect(spellings(voice, "십 ", "원", " 입금") == ["시붠", "", " 입금"])
    let segments = voice.respell([Script.Segment("一", .amount), Script.Segment("元", .amount)])
    #expect(segments.map(\.text) == ["一", "元"])
    #expect(segments[1].respelled == nil)
  }

  @Test("a letter that the voice does not read is respelled, read without its marks, or left out")
  func letters() throws {
    let voice = try pronunciation(#"{"voice": "xx", "reads": "a-z ê", "letters": {"ß": "ss", "đ": "d"}}"#)
    #expect(spellings(voice, "Nguyễn Đức Straße") == ["Nguyên duc Strasse"])
    #expect(voice.canSay("ễ") && voice.canSay("Đ") && !voice.canSay("張"))
    #expect(spellings(voice, "e\u{301}\u{302}x") == ["ex"])
  }

  @Test(
    "words in capitals that a voice would read as Roman numerals are written in small letters for this voice")
  func romanNumerals() throws {
    let voice = try pronunciation(#"{"voice": "xx", "reads": "a-z", "saysRomanNumerals": true}"#)
    #expect(spellings(voice, "Banda MIX, CD", " XXL") == ["Banda mix, cd", " xxl"])
    #expect(spellings(voice, "LCDs, DVD, Vi, X I V, CDB, AMC") == ["LCDs, dvd, Vi, X I V, CDB, AMC"])
    #expect(spellings(try pronunciation(#"{"voice": "xx", "reads": "a-z"}"#), "MIX") == ["MIX"])
  }

  @Test("the Japanese iteration mark repeats the kanji before it")
  func iterationMark() throws {
    let voice = try pronunciation(#"{"voice": "xx", "reads": "一-龥"}"#)
    #expect(spellings(voice, "佐々木") == ["佐佐木"])
  }

  @Test(
    "an invalid table of respellings is refused, and the error names the file",
    arguments: [
      ("{", "is not a valid table of pronunciations"),
      (#"{"voice": "yy", "reads": "a-z"}"#, "is for the voice yy, but the file must be named after its voice"),
      (#"{"voice": "xx", "reads": "a-z abc"}"#, "has a part in reads that is neither a letter nor a range such as a-z"),
      (#"{"voice": "xx", "reads": "z-a"}"#, "has a part in reads that is neither a letter nor a range such as a-z"),
      (
        #"{"voice": "xx", "reads": "a", "letters": {"ab": "c"}}"#, "has a key in letters that is not one Unicode scalar"
      ),
    ])
  func faults(json: String, problem: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try pronunciation(json) }
    #expect(error?.code == .phraseBookInvalid)
    #expect(error?.subject == "pronunciation/xx.json")
    #expect(error?.problem == problem)
  }

  @Test("respelling changes neither the report's text nor the words that are read back")
  func realWords() throws {
    let script = try Books.script(
      .payment(Payment(amount: try Books.money("20", "KRW"), channel: "bank", payer: "Nguyễn")), "en-US")
    #expect(script.text == "Received twenty won by bank transfer, from Nguyễn")
    #expect(script.amountText == "twenty won")
    #expect(script.runs.map(\.spelling) == ["Received twenty wahn by bank transfer, from Nguyên"])
  }

  @Test("every phrase book's sentences are respelled with the table of its voice")
  func books() throws {
    func spelling(_ amount: String, _ code: String, _ locale: String, channel: String? = nil) throws -> String {
      let payment = Payment(amount: try Books.money(amount, code), channel: channel)
      return try Books.script(.payment(payment), locale).runs.map(\.spelling).joined()
    }
    #expect(try spelling("101.10", "CNY", "zh-CN", channel: "card") == "银航卡到账yì百零一元yì角")
    #expect(try spelling("11000", "CNY", "zh-CN") == "到账yí万yì千元")
    #expect(try spelling("600", "JPY", "ja-JP") == "ろっ-ぴゃくえんをうけとりました")
    #expect(try spelling("20", "KRW", "ko-KR") == "이시붠 입금되어씀니다")
    #expect(try spelling("55.59", "INR", "hi-IN") == "पच्पन रुपये उन्सठ पैसे प्राप्त हुए")
    #expect(try spelling("1.05", "INR", "en-US") == "Received one rupee and five pysay")
  }

  @Test(
    "if the voice of a phrase book cannot read a letter of a channel's name, the name is respelled, not shortened",
    arguments: EveryBookTests.locales)
  func channels(locale: String) throws {
    let writer = try Books.all().writer(for: locale)
    // Without a voice, only recordings say the names.
    guard let voice = writer.book.voice else { return }
    for name in writer.book.channelNames.values.sorted() {
      let segment = Script.Segment(name, .channel)
      let run = Script.Run(language: locale, voice: voice, segments: [segment])
      let lost = name.unicodeScalars.filter {
        $0.isWordPart && !writer.pronunciations.canSay($0, by: voice)
      }
      let kept = name.unicodeScalars.filter { !lost.contains($0) }
      #expect(
        lost.isEmpty || writer.respelled(run).spelling != String(String.UnicodeScalarView(kept)), "\(name): \(lost)")
    }
  }
}
