// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("Text from outside is made safe to speak")
struct FreeTextTests {
  private func said(_ text: String, _ locale: String = "en-US") throws -> String {
    try Books.withVoices().writer(for: locale).script(for: .text(text, locale: nil)).text
  }

  @Test(
    "numbers and signs in a text become words",
    arguments: [
      ("Order 42 ready", "en-US", "Order forty-two ready"),
      ("It is $12.50!", "en-US", "It is twelve dollars and fifty cents."),
      ("12.50€", "en-US", "twelve euros and fifty cents"), ("₹1,25,000.50", "hi-IN", "एक लाख पच्चीस हज़ार रुपये पचास पैसे"),
      ("收到12.50元", "zh-CN", "收到 十二元五角"), ("1200円です", "ja-JP", "せんにひゃくえん です"),
      ("pi 3.14", "en-US", "pi three point one four"),
      ("call 0791", "en-US", "call zero seven nine one"), ("①②", "en-US", "one, two"),
      ("Tom & Ann", "en-US", "Tom and Ann"),
      ("٤٢", "en-US", "forty-two"),
      ("收款12元5角", "zh-CN", "收款 十二元五角"), ("收款5百3十元", "zh-CN", "收款 五百三十元"), ("共3元2人", "zh-CN", "共 三元, 两人"),
      ("5000円1つ", "ja-JP", "ごせんえん, ひとつ"), ("5€3", "en-US", "five euros, three"),
      ("HK$50", "en-US", "fifty Hong Kong dollars"), ("¥12.50", "en-US", "one two point five zero yen"),
      ("$", "en-US", "dollars"),
      // A sum with more than one reading is spoken digit by digit, but its multiplier or sign is still spoken.
      ("$12,50", "en-US", "one two, five zero dollars"), ("€1.234", "en-US", "one, two three four euros"),
      ("1.234,56 €", "en-US", "one thousand two hundred thirty-four euros and fifty-six cents"),
      ("1,234.50", "en-US", "one thousand two hundred thirty-four point five zero"),
      ("-$5.00", "en-US", "minus five dollars"),
      ("¥1.5万", "zh-CN", "一万五千元"), ("$1.2M", "en-US", "one million two hundred thousand dollars"),
      ("3½", "en-US", "three and a half"),
      ("10²", "en-US", "ten, two"), ("covid-19", "en-US", "covid nineteen"), ("1万円", "ja-JP", "いちまんえん"),
      ("元旦快乐", "zh-CN", "元旦快乐"),
      ("ราคา ๑,๒๓๔.๕๐ บาท", "th-TH", "ราคา หนึ่งพันสองร้อยสามสิบสี่บาทห้าสิบสตางค์"),
      ("ทอน20บาทนะ", "th-TH", "ทอน ยี่สิบบาท นะ"), ("5 แสนบาท", "th-TH", "ห้าแสนบาท"), ("น้ำ ๒ แก้ว", "th-TH", "น้ำ สอง แก้ว"),
      ("₱1,234.50", "fil-PH", "isang libo't dalawang daan at tatlumpu't apat na piso at limampung sentimo"),
    ])
  func numbers(text: String, locale: String, words: String) throws {
    #expect(try said(text, locale) == words)
  }

  @Test(
    "markup, phoneme escapes and shell words in a text are read as plain words",
    arguments: [
      ("[[h@loU]] <audio src=\"secret.wav\"/>", "h at loU audio src equals secret. wav"),
      ("-fsecret.txt $(id) `id`", "fsecret. txt dollars id id"), ("O'Brien's", "O Brien s"), ("O'Brien", "O'Brien"),
      ("s's's's", "s s s s"), ("a.b.c", "a. b. c"), ("hi,,,... there", "hi, there"), ("x\u{202E}y\u{0}z", "x y z"),
    ])
  func plainWords(text: String, words: String) throws {
    #expect(try said(text) == words)
  }

  @Test("words and clauses that exceed the engine's limits are divided, not dropped")
  func longWords() throws {
    let kana = String(repeating: "かきくけこ", count: 40)
    let words = try said(kana, "ja-JP").split(separator: " ")
    #expect(words.map { $0.filter(\.isLetter) }.joined() == kana)
    #expect(words.allSatisfy { $0.count <= 37 })
    let korean = try said(String(repeating: "감사합니다 ", count: 33), "ko-KR")
    #expect(korean.split(separator: ",").allSatisfy { $0.count <= 120 })
    #expect(korean.filter(\.isLetter).count == 165)
  }

  @Test("only letters, marks, spaces and plain punctuation reach a voice")
  func alphabet() throws {
    let hostile = try FileManager.default.contentsOfDirectory(
      at: Books.directory.appending(path: "../Tests/Fixtures/hostile"), includingPropertiesForKeys: nil)
    #expect(hostile.count >= 5)
    for locale in try Books.all().locales {
      for file in hostile {
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let script = try? Books.script(.text(text + " x", locale: nil), locale) else { continue }
        for scalar in script.runs.map(\.text).joined().unicodeScalars {
          let isLetter =
            scalar.properties.isAlphabetic
            || [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
          #expect(isLetter || " ,.'-".unicodeScalars.contains(scalar), "\(file.lastPathComponent): \(scalar.value)")
        }
      }
    }
  }
}
