// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("Thai amounts")
struct ThaiTests {
  let read: Reading

  init() throws { read = try Reading("th-TH") }

  static let good: [Good] = [
    ("หนึ่งบาท", "THB", 2, 100),
    ("สิบสองบาทห้าสิบสตางค์", "THB", 2, 1250),
    ("สิบสอง บาท ห้าสิบ สตางค์", "THB", 2, 1250),
    ("ยี่สิบ\u{200B}เอ็ด\u{200B}บาท", "THB", 2, 2100),
    ("หนึ่งร้อยเอ็ดบาท", "THB", 2, 10_100),
    ("หนึ่งแสนสองหมื่นสามพันสี่ร้อยห้าสิบหกบาท", "THB", 2, 12_345_600),
    ("หนึ่งล้านเอ็ดบาท", "THB", 2, 100_000_100),
    ("หนึ่งล้านล้านบาท", "THB", 2, 100_000_000_000_000),
    ("หนึ่งล้านเอ็ดล้านเอ็ดบาท", "THB", 2, 100_000_100_000_100),
    ("ห้าสิบเซ็นต์สหรัฐ", "USD", 2, 50),
    ("สองจุดห้าศูนย์ฟรังก์สวิส", "CHF", 2, 250),
  ]

  @Test("Thai amounts in words are read to the satang", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("บาท", "THB", .unreadable),
    // One behind a larger unit, two before ten, and one before ten have words of their own.
    ("หนึ่งร้อยหนึ่งบาท", "THB", .unreadable),
    ("เอ็ดบาท", "THB", .unreadable),
    ("สองสิบบาท", "THB", .unreadable),
    ("หนึ่งสิบบาท", "THB", .unreadable),
    ("ร้อยบาท", "THB", .unreadable),
    ("สองพันสองหมื่นบาท", "THB", .unreadable),
    ("สิบร้อยบาท", "THB", .unreadable),
    ("หนึ่งบาทหนึ่งร้อยสตางค์", "THB", .unreadable),
    // Unknown words beside the name of a currency may belong to the name of another one.
    ("หาบาท", "THB", .wrongCurrency),
    ("๕ บาท", "THB", .wrongCurrency),
    ("ห้าหยวน", "THB", .wrongCurrency),
  ]

  @Test("text that is not a correct Thai amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }
}
