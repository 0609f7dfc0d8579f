// SPDX-License-Identifier: Apache-2.0

/// A request's id: 128 random bits, which tell nothing of how many requests there were and of which comes next.
enum RandomID {
  /// 32 hexadecimal digits.
  static func make() -> String {
    let words = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
    return words.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
