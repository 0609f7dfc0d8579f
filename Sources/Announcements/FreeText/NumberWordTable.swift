// SPDX-License-Identifier: Apache-2.0

/// The words of numbers and of units of money, to find sums in words inside a name.
///
/// A name may imitate an announcement in any language that its listener understands, so the words of all phrase books
/// are looked for, and common words of money that no book says.
struct NumberWordTable: Sendable {
  /// A number's word has itself as its value, and a word that only joins two of them ("and") has none.
  private var words = ReplacementTable()
  /// The names of major and minor units.
  private var units = ReplacementTable()

  init() {
    for numeral in "一二三四五六七八九十百千万萬亿億两兩零〇壹贰叁肆伍陆柒捌玖拾佰仟壱弐参" { add(word: String(numeral)) }
    for word in ["पांच", "हजार", "छः", "पन्द्रह"] { add(word: word) }
    let everyday = [
      "块", "块钱", "圆", "美金", "人民币", "元", "円", "圓", "원", "불", "달라", "रुपए", "रूपये", "रूपए", "रु", "rs", "bucks", "pesos",
      "dollars", "rupees", "yen", "yuan", "euros", "dólares", "dollar", "pesetas",
    ]
    for unit in everyday { add(unit: unit) }
  }

  /// - Parameters:
  ///   - words: words of numbers.
  ///   - joiners: words that stand between two of them: `and`, the decimal point.
  ///   - units: names of units of money.
  mutating func add(words: Set<String>, joiners: Set<String>, units: Set<String>) {
    for word in joiners { self.words.add(word, "", isWholeWord: Self.isWholeWord(word)) }
    for word in words.subtracting(joiners) { add(word: word) }
    for unit in units { add(unit: unit) }
  }

  private mutating func add(word: String) { words.add(word, word, isWholeWord: Self.isWholeWord(word)) }

  private mutating func add(unit: String) { units.add(unit, unit, isWholeWord: Self.isWholeWord(unit)) }

  private static func isWholeWord(_ word: String) -> Bool { !word.unicodeScalars.allSatisfy(\.isUnspaced) }

  /// The end of a sum that begins at `index`: numbers in words or digits, and a unit of money, with whatever between them.
  ///
  /// - Parameter speaksOfPayment: whether the text speaks of a payment. Then a number of two words is enough, and letters
  ///   beside the sum do not make it a part of a name, as they do in 김이원.
  func endOfSum(in text: [Unicode.Scalar], at index: Int, speaksOfPayment: Bool) -> Int? {
    var end = index
    var count = 0
    var next = index
    while let (after, isNumber) = number(in: text, at: next), isNumber || count > 0 {
      end = after
      count += isNumber ? 1 : 0
      next = Self.skippingSeparators(text, end)
    }
    guard count > 0 else { return nil }
    guard let unit = units.match(text, at: next) else { return speaksOfPayment && count >= 2 ? end : nil }
    end = next + unit.key.count
    let isPartOfName = text[index].isUnspaced && (count == 1 || WritingSystem.of(text[index]) != "Hani")
    let hasEdges = Self.isEdge(text, index - 1) && Self.isEdge(text, end)
    return isPartOfName && !hasEdges && !speaksOfPayment ? nil : end
  }

  private func number(in text: [Unicode.Scalar], at index: Int) -> (end: Int, isNumber: Bool)? {
    guard index < text.count else { return nil }
    if text[index].digit != nil { return (text[index...].firstIndex { $0.digit == nil } ?? text.count, true) }
    return words.match(text, at: index).map { (index + $0.key.count, !$0.value.isEmpty) }
  }

  private static func skippingSeparators(_ text: [Unicode.Scalar], _ index: Int) -> Int {
    text[index...].firstIndex { $0.isWordPart || $0.digit != nil } ?? text.count
  }

  private static func isEdge(_ text: [Unicode.Scalar], _ index: Int) -> Bool {
    !text.indices.contains(index) || !text[index].isWordPart
  }
}

extension ReplacementTable {
  /// Whether any entry matches anywhere in the text.
  func occurs(in text: [Unicode.Scalar]) -> Bool { text.indices.contains { match(text, at: $0) != nil } }
}
