// SPDX-License-Identifier: Apache-2.0

/// The generator of request ids. An id has 128 random bits, so it reveals neither the number of requests nor the next
/// id.
enum RandomID {
  /// Returns a new id of 32 hexadecimal digits.
  static func make() -> String {
    let words = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
    return words.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
