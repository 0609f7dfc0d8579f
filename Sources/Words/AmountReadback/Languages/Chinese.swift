// SPDX-License-Identifier: Apache-2.0

/// Mandarin in simplified or traditional characters.
///
/// The word 零 stands once for a run of skipped places between two digits. It is required (一百零一, 一千零一十, 一万零一百, 一亿零一千),
/// with one exception: if a group ends in zeros and the next group begins with a thousands digit, 零 is optional between
/// them, because both 十万一千 and 十万零一千 are in use. 一百一, 三千五, 一万一 and 一亿一千 are understood as 110, 3500, 11000 and
/// 110,000,000, and are refused as ambiguous.
///
/// The word 十 may begin a number (十二, 十万), but later in a number it requires 一 before it (一百一十, 一万零一十). The word 两
/// counts 百, 千, 万, 亿 and units. Before 万, 亿 and units it must be the whole count: 两千, 两万 and 两元 are accepted, but 两十,
/// 十两 and 一百零两 are refused. 10^12 is 万亿 or 兆.
///
/// Units: 五角五分 and 十二元五角 are accepted. 十二元五分 is refused, because the required form is 十二元零五分. This rule for 零 comes
/// from the amounts in words of the Payment and Settlement Measures of the People's Bank of China (1997, annex 1). The
/// 零 is spoken between 元 and 分 when there is no 角. Between 元 and 角 it is optional when the major units end in zero, as
/// in 十元零五角. Before units of two syllables (美分, 便士) it may be omitted. A count of zero is refused: 零角五分. The words 块
/// and 毛 are not units here, and 〇 is not a word.
enum Chinese: AmountLanguage {
  static let compiled = CompiledLanguage(Chinese.self)
  static let subtag = "zh"
  static let separatesWords = false
  static let namesCurrencyFirst = true
  static let saysZeroForSkippedPlace = true

  /// A tag for the number 2: 两.
  private static let counting: UInt8 = 1
  /// A tag for the units 角 and 分, which require 零 for a skipped place.
  private static let placeUnit: UInt8 = 1

  static var words: [Word] {
    Word.numbers(from: 0, ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"]) + [
      Word("两", .number, 2, tag: counting), Word("兩", .number, 2, tag: counting),
      Word("十", .scale, 10), Word("百", .scale, 100), Word("千", .scale, 1000),
      Word("万", .scale, 10_000), Word("萬", .scale, 10_000),
      Word("亿", .scale, 100_000_000), Word("億", .scale, 100_000_000),
      Word("万亿", .scale, 1_000_000_000_000), Word("萬億", .scale, 1_000_000_000_000),
      Word("兆", .scale, 1_000_000_000_000),
      Word("点", .point), Word("點", .point),
    ]
  }

  static var units: [UnitName] {
    let yuan: CurrencySet = ["CNY", "USD", "HKD", "TWD", "SGD"]
    return [
      UnitName("CNY", whenNamed: yuan, "元", "圆", "圓"),
      UnitName("CNY", "人民币", "人民幣", "人民币元", "人民幣元"),
      UnitName("CNY", fraction: 1, whenNamed: yuan, tag: placeUnit, "角"),
      UnitName("CNY", fraction: 2, whenNamed: yuan, tag: placeUnit, "分"),
      UnitName("USD", "美元", "美金"),
      UnitName("USD", fraction: 2, "美分"),
      UnitName("EUR", "欧元", "歐元"),
      UnitName("EUR", fraction: 2, "欧分", "歐分"),
      UnitName("GBP", "英镑", "英鎊"),
      UnitName("GBP", fraction: 2, "便士"),
      UnitName("JPY", "日元", "日圆", "日圓"),
      UnitName("KRW", "韩元", "韓元", "韩圆", "韓圓", "韩国元", "韩币"),
      UnitName("INR", "卢比", "盧比", "印度卢比", "印度盧比"),
      UnitName("INR", fraction: 2, "派萨", "派士", "派薩"),
      UnitName("HKD", "港元", "港圆", "港圓", "港币", "港幣"),
      UnitName("HKD", fraction: 2, "港仙", "仙"),
      UnitName("TWD", "新台币", "新台幣", "新臺幣", "新台币元", "新台幣元", "新臺幣元", "台币", "台幣"),
      UnitName("SGD", "新加坡元", "新加坡币", "新加坡幣", "新元", "新币"),
      UnitName(.dinars, "第纳尔", "第納爾"),
      UnitName("KWD", "科威特第纳尔", "科威特第納爾"),
      UnitName("BHD", "巴林第纳尔", "巴林第納爾"),
      UnitName(.dinars, fraction: 3, "费尔", "菲尔", "费尔斯", "菲尔斯", "費爾"),
      UnitName("VND", "越南盾", "盾"),
      UnitName("THB", "泰铢", "泰銖", "铢"),
      UnitName("THB", fraction: 2, "萨当", "撒当", "薩當"),
    ]
  }

  static var otherNames: [UnitName] {
    [
      UnitName("IDR", "印尼盾"),
      UnitName("VED", "数字玻利瓦尔"),
      UnitName("XCG", "加勒比盾"),
      UnitName("ZWG", "津巴布韦金币"),
    ]
  }

  static func accepts(_ part: MinorPart) -> Bool {
    guard part.count > 0 else { return false }
    switch part.follows {
    case .nothing:
      return !part.hasZeroBefore
    case .minor:
      // Between 角 and 分 no place can be skipped, because 角 leaves only one digit.
      return !part.hasZeroBefore
    case .major:
      let firstPlace = Int64.power(ofTen: part.places - 1) ?? 1
      if part.count < firstPlace { return part.hasZeroBefore || part.unit.tag != placeUnit }
      return !part.hasZeroBefore || endsInZero(part)
    }
  }

  private static func endsInZero(_ part: MinorPart) -> Bool {
    guard let major = part.major, major > 0 else { return false }
    return major % 10 == 0
  }

  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64 {
    if tokens.passes(.zero) { return 0 }
    var number = ChineseNumber()
    while true {
      let group = try self.group(&tokens, isFirst: number.isEmpty)
      guard let scale = tokens.take(.scale)?.value else {
        // The word 两 may end a number only if it is the whole number.
        guard !group.isCounting || number.isEmpty else { throw .unreadable }
        try number.append(group, index: 0)
        return try number.value()
      }
      try number.append(group, scale: scale)
      // A token that cannot begin a group ends the number: 三万元.
      guard let next = tokens.next, next.kind == .zero || next.kind == .number || next.kind == .scale else {
        return try number.value()
      }
    }
  }

  /// Reads one group of thousands, hundreds, tens and ones. The group has at least one digit.
  private static func group(_ tokens: inout TokenReader, isFirst: Bool) throws(Refusal) -> ChineseNumber.Group {
    var group: ChineseNumber.Group?
    while true {
      let hasZero = tokens.passes(.zero)
      var digit: Int64
      var place = 0
      var isCounting = false
      if let token = tokens.take(.number) {
        digit = token.value
        isCounting = token.tag == counting
        if let scale = tokens.next, scale.kind == .scale, scale.value <= 1000 {
          tokens.skip()
          place = scale.value == 10 ? 1 : scale.value == 100 ? 2 : 3
        }
      } else if isFirst, group == nil, !hasZero, let scale = tokens.next, scale.kind == .scale, scale.value == 10 {
        tokens.skip()
        digit = 1
        place = 1
      } else {
        guard !hasZero, let group else { throw .unreadable }
        return group
      }
      // The word 两 is never a digit of the tens (两十). In the ones it must be the whole group (两万).
      guard !isCounting || place > 1 || (place == 0 && group == nil) else { throw .unreadable }
      digit *= Int64.power(ofTen: place) ?? 0
      guard let before = group else {
        group = ChineseNumber.Group(
          value: digit, first: place, last: place, hasZero: hasZero, isCounting: isCounting && place == 0)
        continue
      }
      guard place < before.last else { throw .unreadable }
      let isSkipping = before.last - place > 1
      guard hasZero == isSkipping else { throw isSkipping ? .ambiguous : .unreadable }
      group?.value += digit
      group?.last = place
    }
  }
}

/// The groups of a number, each of four digits, from the highest to the lowest.
struct ChineseNumber {
  struct Group {
    var value: Int64
    /// The place of the group's first digit, from 3 for the thousands to 0 for the ones. The next property is the place
    /// of its last digit.
    var first: Int
    var last: Int
    /// Whether 零 stands before the group's first digit.
    var hasZero: Bool
    /// Whether the group consists only of 两.
    var isCounting: Bool
    /// The position of the group in the number: 0 below 万, 1 for 万, 2 for 亿, 3 for 万亿.
    var index = 0
  }

  private var groups: [Group] = []
  /// The index of the first of the groups that a following 亿 multiplies (九万九千亿).
  private var sectionStart = 0

  var isEmpty: Bool { groups.isEmpty }

  mutating func append(_ group: Group, index: Int) throws(Refusal) {
    var group = group
    group.index = index
    groups.append(group)
  }

  mutating func append(_ group: Group, scale: Int64) throws(Refusal) {
    switch scale {
    case 10_000:
      try append(group, index: 1)
    case 100_000_000:
      try append(group, index: 0)
      for position in sectionStart..<groups.count { groups[position].index += 2 }
      sectionStart = groups.count
    case 1_000_000_000_000:
      try append(group, index: 3)
      sectionStart = groups.count
    default:
      // A 十, 百 or 千 after a complete group is refused: 十百.
      throw .unreadable
    }
  }

  /// Returns the sum of the groups. The groups must descend, and 零 must stand wherever it is required and only where it
  /// is permitted.
  func value() throws(Refusal) -> Int64 {
    var total: Int64 = 0
    var before: Group?
    for group in groups {
      if let before {
        guard group.index < before.index else { throw .unreadable }
        try Self.checkZero(of: group, after: before)
      } else {
        guard !group.hasZero else { throw .unreadable }
      }
      guard let worth = Int64.power(ofTen: group.index * 4) else { throw .outOfRange }
      total = try total.adding(group.value.multiplied(by: worth))
      before = group
    }
    return total
  }

  private static func checkZero(of group: Group, after before: Group) throws(Refusal) {
    let skipped = before.index * 4 + before.last - (group.index * 4 + group.first) - 1
    if skipped == 0 {
      guard !group.hasZero else { throw .unreadable }
      return
    }
    let mayLeaveOut = group.first == 3 && before.index - group.index == 1
    guard group.hasZero || mayLeaveOut else { throw .ambiguous }
  }
}
