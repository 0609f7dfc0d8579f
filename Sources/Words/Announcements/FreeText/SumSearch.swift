// SPDX-License-Identifier: Apache-2.0

/// Searches for numbers next to a unit of money. It finds the units first, and then the numbers before and after each
/// unit.
///
/// In scripts with spaces, the number and the unit are whole words, or are written together (`ninehundred dollars`). In
/// other scripts, a short number with a unit may be part of a name (张三元, 김이원). It counts as a sum only if no other
/// letters adjoin it. A long number with a unit always counts as a sum, and so does every number of an alphabet without
/// spaces, because its words have several letters (ห้าบาท).
struct SumSearch {
  private typealias Role = NumberWordTable.Role

  private struct Word {
    let start: Int
    let end: Int
    let role: Role
    /// The number of words that this word counts as. The characters 九百 are one word of the text, but count as two
    /// number words.
    let weight: Int
  }

  private struct Number {
    let range: Range<Int>
    let weight: Int
    var isArticle = false
  }

  private struct Unit {
    let range: Range<Int>
    /// The unit's name; `nil` for a sign or a code.
    let name: String?
    var isSign = false
  }

  /// The largest number of words in one number. Only the last words of a longer number are found.
  private static let longestNumber = 40

  private let text: [Unicode.Scalar]
  private let table: NumberWordTable
  private let speaksOfPayment: Bool
  private var starting: [[Word]] = []
  private var ending: [[Word]] = []
  /// The starts of units that are in a row of counted units, as in 四角一分. Such a row is a sum, however short its numbers
  /// are.
  private var chained: Set<Int> = []

  /// The sums in order, without overlaps.
  private(set) var sums: [Range<Int>] = []

  /// Searches a text.
  ///
  /// - Parameter text: ``HeardText/scalars``.
  init(_ text: [Unicode.Scalar], _ table: NumberWordTable, speaksOfPayment: Bool) {
    self.text = text
    self.table = table
    self.speaksOfPayment = speaksOfPayment
    var units: [Unit] = []
    for index in text.indices { units += self.units(at: index) }
    guard !units.isEmpty || speaksOfPayment else { return }
    starting = Array(repeating: [], count: text.count + 1)
    ending = starting
    for index in text.indices {
      for word in self.words(at: index) {
        starting[word.start].append(word)
        ending[word.end].append(word)
      }
    }
    chained = chainedUnits(units)
    var found = units.flatMap(sums(with:))
    if speaksOfPayment { found += numbersAlone() }
    for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = sums.last, range.lowerBound < last.upperBound {
        sums[sums.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        sums.append(range)
      }
    }
  }

  // MARK: Words

  private func words(at index: Int) -> [Word] {
    if text[index].digit != nil {
      guard index == 0 || text[index - 1].digit == nil else { return [] }
      let end = text[index...].firstIndex { $0.digit == nil } ?? text.count
      return [Word(start: index, end: end, role: .number, weight: end - index >= 3 ? 2 : 1)]
    }
    return table.words.matches(text, at: index).compactMap { entry in
      let end = index + entry.key.count
      guard let role = Role(rawValue: entry.value) else { return nil }
      if role != .number, !(isBoundary(index) && isBoundary(end)) { return nil }
      return Word(start: index, end: end, role: role, weight: weight(index..<end))
    }
  }

  private func weight(_ range: Range<Int>) -> Int {
    switch WritingSystem.of(text[range.lowerBound]) {
    case "Hani"?: range.count
    case "Hira"?: max(1, range.count / 2)
    default: 1
    }
  }

  private func units(at index: Int) -> [Unit] {
    if !text[index].isWordPart {
      return text[index].properties.generalCategory == .currencySymbol
        ? [Unit(range: index..<index + 1, name: nil, isSign: true)] : []
    }
    var units = table.units.matches(text, at: index).compactMap { entry -> Unit? in
      let range = index..<index + entry.key.count
      return isBoundary(range.upperBound) ? Unit(range: range, name: entry.value) : nil
    }
    if index + 3 <= text.count, isBoundary(index), isBoundary(index + 3),
      text[index..<index + 3].allSatisfy({ $0.isASCII && $0.isWordPart })
    {
      let code = String(String.UnicodeScalarView(text[index..<index + 3])).uppercased()
      if Currency(code: code) != nil, !NumberWordTable.namedCodes.contains(code) {
        units.append(Unit(range: index..<index + 3, name: nil))
      }
    }
    return units
  }

  /// Returns whether a word may begin or end at the index. It may not if the index lies between two letters of a script
  /// with spaces.
  private func isBoundary(_ index: Int) -> Bool { !(isSpacedLetter(index - 1) && isSpacedLetter(index)) }

  private func isSpacedLetter(_ index: Int) -> Bool {
    text.indices.contains(index) && text[index].isWordPart && !text[index].isUnspaced
  }

  private func isUnspaced(_ index: Int) -> Bool { text.indices.contains(index) && text[index].isUnspaced }

  // MARK: Numbers

  /// Returns the index itself and, if a space follows in this direction, also the index on the other side of that
  /// space.
  private func steps(from index: Int, forward: Bool) -> [Int] {
    if forward { return index < text.count && text[index] == " " ? [index, index + 1] : [index] }
    return index > 0 && text[index - 1] == " " ? [index, index - 1] : [index]
  }

  /// Returns the numbers directly after or before a unit. Only fillers may be in between.
  private func numbers(beside index: Int, forward: Bool) -> [Number] {
    var places = steps(from: index, forward: forward)
    var next = 0
    while next < places.count, places.count < Self.longestNumber {
      for word in (forward ? starting : ending)[places[next]] where word.role == .filler || word.role == .joiner {
        for place in steps(from: forward ? word.end : word.start, forward: forward) where !places.contains(place) {
          places.append(place)
        }
      }
      next += 1
    }
    return places.flatMap { numbers(from: $0, forward: forward) }
  }

  private func numbers(from place: Int, forward: Bool) -> [Number] {
    var numbers: [Number] = []
    var open = [(place: place, weight: 0)]
    var next = 0
    while next < open.count, open.count < Self.longestNumber {
      let (current, weight) = open[next]
      next += 1
      for word in (forward ? starting : ending)[current] {
        switch word.role {
        case .number: break
        case .joiner where weight > 0: break
        case .article where !forward && weight == 0:
          numbers.append(Number(range: word.start..<place, weight: 1, isArticle: true))
          continue
        default: continue
        }
        let total = min(9, weight + (word.role == .number ? word.weight : 0))
        let far = forward ? word.end : word.start
        if word.role == .number, isBoundary(far) {
          numbers.append(Number(range: min(place, far)..<max(place, far), weight: total))
        }
        for step in steps(from: far, forward: forward) where !open.contains(where: { $0 == (step, total) }) {
          open.append((step, total))
        }
      }
    }
    return numbers
  }

  /// Returns the numbers of two or more words, whether or not a unit follows.
  private func numbersAlone() -> [Range<Int>] {
    var found: [Range<Int>] = []
    for index in text.indices where index >= found.last?.upperBound ?? 0 && isBoundary(index) {
      let ends = numbers(from: index, forward: true).filter { $0.weight >= 2 && !isDigits($0) }.map(\.range.upperBound)
      if let end = ends.max() { found.append(index..<end) }
    }
    return found
  }

  private func isDigits(_ number: Number) -> Bool { text[number.range].allSatisfy { $0.digit != nil } }

  // MARK: Sums

  private func chainedUnits(_ units: [Unit]) -> Set<Int> {
    let ends = Set(units.map(\.range.upperBound))
    var chained: Set<Int> = []
    for unit in units where isUnspaced(unit.range.lowerBound) {
      for number in numbers(from: unit.range.lowerBound, forward: false) where ends.contains(number.range.lowerBound) {
        for before in units where before.range.upperBound == number.range.lowerBound {
          guard !numbers(from: before.range.lowerBound, forward: false).isEmpty else { continue }
          chained.formUnion([before.range.lowerBound, unit.range.lowerBound])
        }
      }
    }
    return chained
  }

  /// Returns the longest sums that contain the unit: one with the number before the unit, and one with the number after
  /// the unit.
  private func sums(with unit: Unit) -> [Range<Int>] {
    let end = end(behind: unit)
    let before = numbers(beside: unit.range.lowerBound, forward: false).filter { isSum($0, before: unit, upTo: end) }
    let behind = numbers(beside: unit.range.upperBound, forward: true).filter { isSum(unit, before: $0) }
    return [
      before.map(\.range.lowerBound).min().map { $0..<end },
      behind.map(\.range.upperBound).max().map { unit.range.lowerBound..<$0 },
    ].compactMap(\.self)
  }

  /// Returns the end of a sum with a unit behind its number. A second number that follows the unit belongs to the sum,
  /// as in 100元五十 and nine dollars fifty. If only the first number were removed, listeners would hear the second one as
  /// a sum.
  private func end(behind unit: Unit) -> Int {
    numbers(beside: unit.range.upperBound, forward: true)
      // A syllable behind a unit may be a particle, as 이 in 구백원이.
      .filter { !isUnspaced($0.range.lowerBound) || $0.weight >= 2 }.map(\.range.upperBound).max()
      ?? unit.range.upperBound
  }

  /// - Parameter end: The sum's end; see ``end(behind:)``.
  private func isSum(_ number: Number, before unit: Unit, upTo end: Int) -> Bool {
    if unit.isSign, isSpacedLetter(unit.range.upperBound) { return false }
    // Tencent is a name, but tendollars is a sum.
    if number.range.upperBound == unit.range.lowerBound, !isBoundary(unit.range.lowerBound), number.weight < 2,
      unit.range.count < 5
    {
      return false
    }
    // Letters that do not belong to the number stand between it and the unit.
    if !isBoundary(unit.range.lowerBound), number.range.upperBound != unit.range.lowerBound { return false }
    if number.isArticle { return unit.name.map { !table.names.contains($0) } ?? false }
    if speaksOfPayment { return true }
    let opensWords = unit.name.map(table.openings.contains) ?? false
    if !text[number.range.lowerBound].isUnspaced {
      return !opensWords || number.weight >= 2 || isEnd(end, isUnitApart(number, unit))
    }
    if isLong(number), !opensWords || isKana(unit) { return true }
    if chained.contains(unit.range.lowerBound), !isUnitApart(number, unit) { return true }
    return isStart(number.range.lowerBound) && isEnd(end, isUnitApart(number, unit))
  }

  private func isSum(_ unit: Unit, before number: Number) -> Bool {
    guard isBoundary(unit.range.lowerBound), isBoundary(unit.range.upperBound) else { return false }
    if unit.isSign { return !isSpacedLetter(unit.range.lowerBound - 1) }
    if let name = unit.name {
      if unit.range.count == 1 || table.openings.contains(name) { return false }
      if table.names.contains(name), number.weight < 2 { return false }
    }
    if !isUnspaced(unit.range.lowerBound), !isUnspaced(number.range.lowerBound) { return true }
    return isLong(number) || isStart(unit.range.lowerBound) && isEnd(number.range.upperBound, false)
  }

  /// Returns whether a number is so long that it counts as a number even inside a name.
  private func isLong(_ number: Number) -> Bool {
    let scalars = text[number.range]
    // In these alphabets, a number is a whole word, and not a syllable of a name.
    if scalars.contains(where: \.isOfUnspacedAlphabet) { return true }
    guard number.weight >= 2 else { return false }
    return !scalars.contains { WritingSystem.of($0) == "Hang" }
      || scalars.contains { "십백천만억조".unicodeScalars.contains($0) }
  }

  private func isKana(_ unit: Unit) -> Bool { WritingSystem.of(text[unit.range.lowerBound]) == "Hira" }

  private func isUnitApart(_ number: Number, _ unit: Unit) -> Bool { number.range.upperBound < unit.range.lowerBound }

  /// Returns false if a name could begin before the index and extend to it.
  private func isStart(_ index: Int) -> Bool {
    !isUnspaced(index - 1) || table.before.contains(text[index - 1]) && isStart(index - 1)
  }

  /// Returns false if a name could continue at the index.
  private func isEnd(_ index: Int, _ isUnitApart: Bool) -> Bool {
    if !isUnspaced(index) { return true }
    let end = text[index...].firstIndex { !$0.isUnspaced } ?? text.count
    let rest = String(String.UnicodeScalarView(text[index..<end]))
    return table.behind.contains(rest) || isUnitApart && table.particles.contains(rest)
  }
}
