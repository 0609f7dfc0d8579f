// SPDX-License-Identifier: Apache-2.0

private let digits = Array("0123456789abcdef".utf8)

extension Sequence<UInt8> {
  /// The bytes as lower-case hexadecimal digits, two for each byte.
  package var hexadecimal: String {
    String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension UInt64 {
  /// The number as 16 lower-case hexadecimal digits.
  package var hexadecimal: String {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }.hexadecimal
  }
}

extension Array<UInt8> {
  /// Reads hexadecimal digits, in upper or lower case, two for each byte.
  ///
  /// - Returns: Nil if there is any other character, or an odd number of digits.
  package init?(hexadecimal text: some StringProtocol) {
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
      default: nil
      }
    }
    let values = text.utf8.compactMap(value)
    guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
