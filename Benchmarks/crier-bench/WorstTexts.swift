// SPDX-License-Identifier: Apache-2.0

import Announcements

/// Ordinary and worst-case bodies and lists of 64 KiB in one locale.
struct WorstTexts {
  let locale: String

  // MARK: Ordinary

  /// An ordinary sentence for each locale. Other locales use the English one.
  private static let prose = [
    "en-US": "Thank you for lunch, see you on Friday at the market with the children. ",
    "es-MX": "Gracias por la comida, nos vemos el viernes en el mercado con los niños. ",
    "hi-IN": "खाने के लिए धन्यवाद, शुक्रवार को बाज़ार में बच्चों के साथ मिलते हैं। ",
    "ja-JP": "昼ごはんをありがとうございました。金曜日に子供たちと市場で会いましょう。",
    "ko-KR": "점심 고마웠어요, 금요일에 아이들과 시장에서 만나요. ",
    "zh-CN": "谢谢你的午餐，星期五我们带孩子们在市场见面。",
  ]

  private var prose: String { Self.prose[locale] ?? Self.prose["en-US"] ?? "" }

  /// Bodies as backends send them, with data of the order beside the payment.
  var ordinaryBodies: [String] {
    let note = Self.repeated(prose, 80)
    return [
      payment(#""payer":"John Smith","note":"\#(note)""#, orders: true), payment(#""channel":"alipay""#, orders: true),
      text(prose, orders: true), text(prose),
      body(#""aps":{"alert":{"title":"\#(note)","body":"\#(Self.repeated(prose, 1_000))"}}"#, orders: true),
    ]
  }

  var ordinaryLists: [String] {
    let note = Self.repeated(prose, 80).replacing(",", with: "")
    return [
      list("amount,currency,channel,locale", "12.50,USD,alipay,\(locale)"),
      list("id,amount,currency,payer,note,locale", "a17,1048.05,USD,John Smith,\(note),\(locale)"),
      list("text,locale", "\"\(Self.repeated(prose, 300))\",\(locale)"),
      lines(#"{"id":"a17","amount":"12.50","currency":"USD","payer":"John Smith","locale":"\#(locale)"}"#),
      lines(#"{"text":"\#(Self.repeated(prose, 300))","locale":"\#(locale)"}"#),
    ]
  }

  // MARK: Worst cases

  /// Free texts, each of them the worst case for one of the readers.
  private static let texts: [(kind: String, piece: String)] = [
    ("combining marks", "e\u{301}\u{316}\u{301}\u{316}\u{301}\u{316}"), ("digits with separators", "1,"),
    ("digits and hyphens", "1-"), ("endless sums", "$1 000 "), ("web address without a host", "a."),
    ("at signs", "a@"), ("ligatures of 18 letters", "\u{FDFA}"), ("digits and spaces", "1 "),
    ("English numbers", "hundred "), ("Chinese numbers", "一万亿"), ("Japanese numbers", "百萬円"),
    ("Korean numbers", "천만원 "),
    ("Hindi numbers", "लाख करोड़ "), ("Spanish numbers", "mil cien "), ("flag emoji", "\u{1F1E9}\u{1F1EA}"),
    ("joined emoji", "\u{1F469}\u{200D}"), ("Roman numerals", "XIV "), ("one repeated letter", "x"), ("kana", "ァー"),
    ("Hangul syllables", "뷁"), ("Devanagari conjuncts", "क्ष्म्य"), ("alternating scripts", "aя한あ中क"),
  ]

  var bodies: [(kind: String, text: String)] {
    let marks = Self.repeated("\u{301}", 30_000)
    let columns = (0..<5_000).map { "\"k\($0)\":1" }.joined(separator: ",")
    let (payer, channel) = (Self.repeated("一万", 80), Self.repeated("five ", 80))
    let names = #""payer":"\#(payer)","channel":"\#(channel)","note":"\#(Self.repeated("1 000 ", 200))""#
    return [
      ("payer of one long grapheme", payment(#""payer":"e\#(marks)""#)),
      ("key of one long grapheme", payment(#""e\#(marks)":1"#)),
      ("many unknown keys", payment(columns)),
      ("array of numbers", payment(#""a":[\#((0..<30_000).map { _ in "1" }.joined(separator: ","))]"#)),
      ("JSON escapes", payment(#""a":"\#(Self.repeated(#"\u00e9"#, 60_000))""#)),
      ("names full of numbers", payment(names)),
    ] + Self.texts.map { ($0.kind, text($0.piece)) }
  }

  var lists: [(kind: String, text: String)] {
    let columns = (0..<4_000).map { "k\($0)" }.joined(separator: ",")
    return [
      ("short rows", list("amount,currency", "1,USD")),
      ("blank lines", "text\n" + Self.repeated("\n", PayloadDecoder.largestBytes - 5)),
      ("rows of empty cells", list("amount,currency,payer,note,locale", ",")),
      ("unknown columns", list("text,\(columns)", "a")),
      ("quotation marks", list("text", "\"\(Self.repeated("\"\"", 4_000))\"")),
      ("unterminated cell", "text\n\"" + Self.repeated(",\n", PayloadDecoder.largestBytes - 6)),
      ("empty objects", lines("{}")),
      (
        "rows with unknown keys",
        lines(#"{"text":"a",\#((0..<500).map { "\"k\($0)\":1" }.joined(separator: ","))}"#)
      ),
    ]
      + Self.texts.map { kind, piece in
        (kind, list("text,locale", "\"\(Self.repeated(piece, Announcement.longestText))\",\(locale)"))
      }
  }

  // MARK: Parts

  private static func repeated(_ piece: String, _ scalars: Int) -> String {
    let piece = Array(piece.unicodeScalars)
    return String(String.UnicodeScalarView((0..<scalars).map { piece[$0 % piece.count] }))
  }

  private func payment(_ more: String, orders: Bool = false) -> String {
    body(#""id":"p1","amount":"12.50","currency":"USD","locale":"\#(locale)",\#(more)"#, orders: orders)
  }

  /// A text of the maximum number of scalars.
  private func text(_ piece: String, orders: Bool = false) -> String {
    body(
      #""text":"\#(Self.repeated(piece, Announcement.longestText))","locale":"\#(locale)""#, orders: orders)
  }

  /// An object of 64 KiB, filled with the lines of an order or with spaces.
  private func body(_ fields: String, orders: Bool) -> String {
    let item = #"{"article":"4006381333931","name":"Pencil, soft","count":2,"price":"1.25"}"#
    var text = "{" + fields
    if orders {
      let count = (PayloadDecoder.largestBytes - text.utf8.count - 20) / (item.utf8.count + 1)
      text += #","items":["# + (0..<count).map { _ in item }.joined(separator: ",") + "]"
    }
    return text + String(repeating: " ", count: max(0, PayloadDecoder.largestBytes - text.utf8.count - 1)) + "}"
  }

  /// A table of 64 KiB with as many equal rows as fit.
  private func list(_ header: String, _ row: String) -> String {
    header + "\n" + lines(row, below: header.utf8.count + 1)
  }

  private func lines(_ line: String, below header: Int = 0) -> String {
    String(repeating: line + "\n", count: (PayloadDecoder.largestBytes - header) / (line.utf8.count + 1))
  }
}
