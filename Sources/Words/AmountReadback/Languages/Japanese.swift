// SPDX-License-Identifier: Apache-2.0

/// Japanese in kana and kanji. (The writer produces only kana, for a voice that reads nothing else.)
///
/// Sound changes are part of the words: さんびゃく is accepted, さんひゃく is not. The forms いっ, はっ, ろっ and じゅっ may stand only
/// before a sound that requires them, and よ for 4 only before えん. Without a number before them, ひゃく, せん and じゅう are
/// 100, 1000 and 10. The words まん, おく and ちょう require a number before them (いちまん).
enum Japanese: AmountLanguage {
  static let compiled = CompiledLanguage(Japanese.self)
  static let subtag = "ja"
  static let separatesWords = false

  /// For a number: the number ends in っ. For a scale, a point or a unit: the number before it may end in っ.
  private static let geminate: UInt8 = 1
  /// On the number よ and on the unit えん: よ may stand only before えん.
  private static let beforeYen: UInt8 = 2

  static var words: [Word] {
    let ones = Word.numbers(
      from: 0,
      ["れい ゼロ ぜろ 零 〇", "いち 一", "に 二", "さん 三", "よん し 四", "ご 五", "ろく 六", "なな しち 七", "はち 八", "きゅう く 九"])
    let changed = [
      Word("いっ", .number, 1, tag: geminate),
      Word("ろっ", .number, 6, tag: geminate),
      Word("はっ", .number, 8, tag: geminate),
      Word("よ", .number, 4, tag: beforeYen),
    ]
    let hundreds = [
      "ひゃく 百", "にひゃく 二百", "さんびゃく 三百", "よんひゃく 四百", "ごひゃく 五百", "ろっぴゃく 六百",
      "ななひゃく しちひゃく 七百", "はっぴゃく 八百", "きゅうひゃく 九百",
    ]
    let thousands = [
      "せん いっせん 千 一千", "にせん 二千", "さんぜん 三千", "よんせん 四千", "ごせん 五千", "ろくせん 六千",
      "ななせん しちせん 七千", "はっせん 八千", "きゅうせん 九千",
    ]
    let scales = [
      Word("まん", .scale, 10_000), Word("万", .scale, 10_000),
      Word("おく", .scale, 100_000_000), Word("億", .scale, 100_000_000),
      Word("ちょう", .scale, 1_000_000_000_000, tag: geminate), Word("兆", .scale, 1_000_000_000_000, tag: geminate),
      Word("けい", .scale, 10_000_000_000_000_000, tag: geminate),
      Word("京", .scale, 10_000_000_000_000_000, tag: geminate),
      Word("てん", .point, tag: geminate), Word("点", .point, tag: geminate),
      Word("と", .joiner),
    ]
    return ones + changed + tens + multiples(of: 100, hundreds) + multiples(of: 1000, thousands) + scales
  }

  /// A tag for the number ひゃっ. No unit of money here follows it.
  private static let beforeCounter: UInt8 = 3

  static var countWords: [Word] {
    let hundreds = ["ひゃっ", "にひゃっ", "さんびゃっ", "よんひゃっ", "ごひゃっ", "ろっぴゃっ", "ななひゃっ", "はっぴゃっ", "きゅうひゃっ"]
    return zip(1..., hundreds).map { Word($1, .number, $0 * 100, tag: beforeCounter) }
  }

  /// Reads a count. The last number word may end in っ, because the counted noun after it may require that. It must not
  /// be よ.
  static func count(_ tokens: [Token]) throws(Refusal) -> Int64 {
    var tokens = tokens
    if let last = tokens.last, last.kind == .number, last.tag != beforeYen { tokens[tokens.count - 1].tag = 0 }
    try checkNeighbours(tokens)
    return try number(tokens)
  }

  private static var tens: [Word] {
    let kana = ["", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう"]
    let kanji = ["", "二", "三", "四", "五", "六", "七", "八", "九"]
    let variants = zip(1..., kana).map { (Int64($0), $1) } + [(4, "し"), (7, "しち")]
    return variants.flatMap { value, word in
      [
        Word(word + "じゅう", .number, value * 10),
        Word(word + "じゅっ", .number, value * 10, tag: geminate),
        Word(word + "じっ", .number, value * 10, tag: geminate),
      ]
    } + zip(1..., kanji).map { Word($1 + "十", .number, Int64($0) * 10) }
  }

  private static func multiples(of place: Int64, _ variants: [String]) -> [Word] {
    Word.numbers(from: 1, variants).map { Word($0.text, .number, $0.token.value * place) }
  }

  static var units: [UnitName] {
    let cents: CurrencySet = ["USD", "EUR", "HKD", "TWD", "SGD", "AUD", "CAD", "NZD"]
    return [
      UnitName("JPY", tag: beforeYen, "えん", "円"),
      UnitName("JPY", "にほんえん", "日本円"),
      UnitName("CNY", "げん", "元", "じんみんげん", "人民元", "ちゅうごくげん", "中国元"),
      UnitName("CNY", "ちゅうごくじんみんげん", "中国人民元"),
      UnitName("CNY", fraction: 1, tag: geminate, "かく", "角"),
      UnitName("CNY", fraction: 1, "ジャオ"),
      UnitName("CNY", fraction: 2, tag: geminate, "ぷん", "分"),
      UnitName("CNY", fraction: 2, "ふん", "フェン"),
      UnitName("USD", "ドル", "べいドル", "米ドル", "アメリカドル"),
      UnitName("USD", fraction: 2, whenNamed: cents, tag: geminate, "セント"),
      UnitName("EUR", "ユーロ"),
      UnitName("EUR", fraction: 2, "ユーロセント"),
      UnitName("GBP", tag: geminate, "ポンド"),
      UnitName("GBP", "えいポンド", "英ポンド", "えいこくポンド", "英国ポンド", "イギリスポンド"),
      UnitName("GBP", fraction: 2, tag: geminate, "ペンス", "ペニー"),
      UnitName("KRW", "ウォン"),
      UnitName("KRW", tag: geminate, "かんこくウォン", "韓国ウォン"),
      UnitName("INR", "ルピー", "インドルピー"),
      UnitName("INR", fraction: 2, tag: geminate, "パイサ", "パイセ"),
      UnitName("HKD", "ホンコンドル", "香港ドル"),
      UnitName("HKD", fraction: 2, "ホンコンセント", "香港セント"),
      UnitName("TWD", "しんたいわんドル", "新台湾ドル", "ニュータイワンドル", "たいわんドル", "台湾ドル"),
      UnitName("SGD", "シンガポールドル"),
      UnitName("SGD", fraction: 2, "シンガポールセント"),
      UnitName(.dinars, "ディナール"),
      UnitName("KWD", "クウェートディナール"),
      UnitName("BHD", "バーレーンディナール"),
      UnitName(.dinars, fraction: 3, "フィルス"),
      UnitName("VND", "ドン", "ベトナムドン"),
      UnitName("THB", "バーツ", "タイバーツ"),
      UnitName("THB", fraction: 2, tag: geminate, "サタン"),
    ]
  }

  static var otherNames: [UnitName] {
    [
      UnitName("AED", "アラブしゅちょうこくれんぽうディルハム"),
      UnitName("BAM", "ボスニアヘルツェゴビナマルク"),
      UnitName("FKP", "フォークランドポンド"),
      UnitName("ILS", "イスラエルシェケル"),
      UnitName("KPW", "きたちょうせんウォン"),
      UnitName("KYD", "ケイマンドル"),
      UnitName("SBD", "ソロモンドル"),
      UnitName("SSP", "みなみスーダンポンド"),
      UnitName("VED", "デジタルボリバル"),
      UnitName("XAF", "ちゅうおうアフリカシーエフエーフラン"),
      UnitName("XCD", "ひがしカリブドル"),
      UnitName("XCG", "カリブギルダー"),
      UnitName("XOF", "にしアフリカシーエフエーフラン"),
      UnitName("XPF", "シーエフピーフラン"),
      UnitName("ZAR", "みなみアフリカランド"),
      UnitName("ZWG", "ジンバブエゴールド"),
    ]
  }

  static func checkNeighbours(_ tokens: [Token]) throws(Refusal) {
    for (index, token) in tokens.enumerated() where token.kind == .number && token.tag != 0 {
      guard index + 1 < tokens.count else { throw .unreadable }
      let next = tokens[index + 1]
      guard next.kind != .number, next.kind != .zero, next.tag == token.tag else { throw .unreadable }
    }
  }

  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64 {
    try tokens.scaledNumber { (tokens, _) throws(Refusal) in try tokens.placeGroup() }
  }
}
