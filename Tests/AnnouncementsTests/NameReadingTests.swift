// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Announcements

@Suite("The pronunciation of a payer's name")
struct NameReadingTests {
  private func writing(
    _ locale: String, _ payer: String, _ reading: String
  ) throws -> (name: [Script.Segment], runs: [Script.Run], remarks: Remarks) {
    let payment = Payment(amount: try Books.money("5", "CNY"), payer: payer, payerReading: reading)
    let (script, remarks) = try Books.all().writer(for: locale).writing(of: .payment(payment))
    // The pause before the name belongs to the name's segment in Japanese.
    let name = script.runs.flatMap(\.segments).filter { $0.role == .payer }.map { segment in
      Script.Segment(
        String(segment.text.trimmingPrefix("。")), .payer,
        respelled: segment.respelled.map { String($0.trimmingPrefix("。")) })
    }
    return (name, script.runs, remarks)
  }

  @Test(
    "a name's reading in pinyin, with tone digits or marks, is spoken by the Chinese voice, syllable by syllable",
    arguments: [
      ("li3 zong1 sheng4", "li3 zong1 sheng4"), ("Li3 Zong1sheng4", "li3 zong1 sheng4"),
      ("lǐ zōng shèng", "li3 zong1 sheng4"), ("Lǐ Zōngshèng", "li3 zong1 sheng4"), ("Xī'ān", "xi1 an1"),
      ("fàngàn", "fan4 gan4"), ("fàng'àn", "fang4 an4"), ("Lǚ Bù", "lv3 bu4"), ("lü3 bu4", "lv3 bu4"),
      ("nǚ’ér", "nv3 er2"), ("bàba", "ba4 ba5"), ("ba4 ba0", "ba4 ba5"), ("Ōuyáng Nànà", "ou1 yang2 na4 na4"),
      ("Zhūgě·Liàng", "zhu1 ge3 liang4"), ("李宗盛", "李宗盛"), ("Li\u{30C} Zo\u{304}ng", "li3 zong1"),
      ("xi1an1", "xi1 an1"), ("shuang1", "shuang1"),
    ])
  func pinyin(reading: String, said: String) throws {
    let (name, runs, remarks) = try writing("zh-CN", "李宗盛", reading)
    #expect(name.map(\.text) == ["李宗盛"] && name.map(\.spelling) == [said])
    #expect(Set(runs.map(\.voice)) == ["cmn-latn-pinyin+f2"])
    #expect(remarks == Remarks())
  }

  @Test(
    "a name's reading in kana or romaji is spoken by the Japanese voice, in kana",
    arguments: [
      ("わたなべ", "わたなべ"), ("ワタナベ　ケン", "ワタナベ ケン"), ("watanabe", "ワタナベ"), ("Watanabe Ken'ichi", "ワタナベ ケン イチ"),
      ("Tōkyō", "トーキョー"), ("shinjuku", "シンジュク"), ("honma", "ホンマ"), ("homma", "ホンマ"), ("Namba", "ナンバ"),
      ("hattori", "ハットリ"), ("hatchōbori", "ハッチョーボリ"), ("zyunko", "ジュンコ"), ("らーめん", "らーめん"),
    ])
  func kana(reading: String, said: String) throws {
    let (name, runs, remarks) = try writing("ja-JP", "渡辺", reading)
    #expect(name.map(\.spelling) == [said])
    #expect(Set(runs.map(\.voice)) == ["ja+f2"])
    #expect(remarks == Remarks())
  }

  @Test("a name's reading in Hangul is spoken by the Korean voice")
  func hangul() throws {
    let (name, runs, remarks) = try writing("ko-KR", "金哲秀", "김철수")
    #expect(name.map(\.spelling) == ["김철수"])
    #expect(runs.count == 1 && remarks == Remarks())
  }

  @Test(
    "a name's reading with a spelling mistake is refused with the mistake's place, and the name is spoken as written",
    arguments: [
      ("zh-CN", "李宗盛", "li zong sheng", 1, "neither pinyin with tones nor a Chinese character"),
      ("zh-CN", "李宗盛", "li3 zonk1 sheng4", 5, "neither pinyin with tones nor a Chinese character"),
      ("zh-CN", "李宗盛", "li3 9", 5, "neither pinyin with tones nor a Chinese character"),
      ("zh-CN", "李宗盛", "li3, Ли", 6, "neither pinyin with tones nor a Chinese character"),
      ("zh-CN", "李宗盛", "li34", 4, "neither pinyin with tones nor a Chinese character"),
      ("zh-CN", "李宗盛", "♥", 1, "neither pinyin with tones nor a Chinese character"),
      ("ja-JP", "ハナ", "花", 1, "neither kana nor romaji"), ("ja-JP", "ハナ", "hana2", 5, "neither kana nor romaji"),
      ("ja-JP", "ハナ", "Smith", 1, "neither kana nor romaji"), ("ja-JP", "ハナ", "xyz", 1, "neither kana nor romaji"),
      ("ja-JP", "ハナ", "", 1, "neither kana nor romaji"), ("ko-KR", "철수", "Cheolsu", 1, "not a letter of the language"),
      ("ko-KR", "철수", "철哲", 2, "not a letter of the language"),
    ])
  func refused(locale: String, payer: String, reading: String, place: Int, fault: String) throws {
    let (name, runs, remarks) = try writing(locale, payer, reading)
    #expect(name.map(\.spelling) == [payer] && runs.count == 1)
    #expect(
      remarks.warnings == [
        "payer_reading: character \(place) is \(fault), so the name is spoken as it is written"
      ])
  }

  @Test(
    "a name's reading that is a sum of money is not spoken, whether it has characters, pinyin, romaji or Hangul",
    arguments: [
      ("zh-CN", "jiu3 bai3 yuan2"), ("zh-CN", "jiǔ bǎi yuán"), ("zh-CN", "jiǔbǎiměiyuán"), ("zh-CN", "九百元"),
      ("zh-CN", "yi1 wan4 ren2 min2 bi4"), ("zh-CN", "san1 qian1 kuai4 qian2"), ("zh-CN", "wu3 shi2 ou1 yuan2"),
      ("ja-JP", "kyuuhyakuen"), ("ja-JP", "kyūhyaku doru"), ("ko-KR", "구백원"),
    ])
  func sum(locale: String, reading: String) throws {
    let payer = ["zh-CN": "张", "ja-JP": "ハナ", "ko-KR": "철수"][locale] ?? ""
    let (name, _, remarks) = try writing(locale, payer, reading)
    #expect(name.map(\.spelling) == [payer])
    #expect(remarks.warnings.count == 1 && remarks.warnings.first?.contains("a sum of money") == true, "\(remarks)")
    #expect(remarks.unspoken == [Remarks.Unspoken(field: "payer", text: reading)])
  }

  @Test("a name's reading of 80 characters that are not pinyin is refused, and a reading of 79 vowels is accepted")
  func long() throws {
    let (_, _, refused) = try writing("zh-CN", "李", String(repeating: "an", count: 39) + "x1")
    #expect(refused.warnings.count == 1)
    let (name, _, remarks) = try writing("zh-CN", "李", String(repeating: "a", count: 79) + "1")
    #expect(name.first?.spelling.hasSuffix("a5 a1") == true && remarks.warnings == [])
  }

  @Test("in a language that has no rule for the spelling of readings, a reading is spoken like a name")
  func english() throws {
    let (name, _, remarks) = try writing("en-US", "Siobhan", "shivawn")
    #expect(name.map(\.spelling) == ["shivawn"] && remarks == Remarks())
  }
}
