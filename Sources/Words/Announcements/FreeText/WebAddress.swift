// SPDX-License-Identifier: Apache-2.0

/// An e-mail address or a web address in a text. The host is spoken, and the path is not.
struct WebAddress {
  enum Part: Equatable {
    case letters(String)
    case digits([Int])
    /// One of the signs `@`, `.`, `-` and `_`.
    case sign(String)
  }

  let parts: [Part]

  /// The text after the host, or an empty text.
  let path: String

  /// The index after the address.
  let end: Int

  /// Reads an address, which either contains an at sign followed by a name, or begins with `http` or `www.`.
  ///
  /// - Returns: `nil` when no address begins at `start`.
  init?(_ scalars: [Unicode.Scalar], at start: Int) {
    let nameStart = Self.endOfScheme(scalars, at: start)
    let isWeb = nameStart != nil || Self.stands("www.", in: scalars, at: start)
    // For most words the check ends here. The search for an at sign examines at most as many characters as a mailbox
    // may have.
    guard isWeb || Self.mayBeMailbox(scalars, at: start) else { return nil }
    var end = start
    while end < scalars.count, Self.mayStand(scalars[end]) { end += 1 }
    while end > start, ".,:;!?-".unicodeScalars.contains(scalars[end - 1]) { end -= 1 }
    let host = scalars[min(nameStart ?? start, end)..<end]
    let name = host.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if !isWeb {
      guard let at = name.firstIndex(of: "@"), at > name.startIndex, at + 1 < name.endIndex, name[at + 1].isWordPart,
        !name[(at + 1)...].contains("@")
      else { return nil }
    }
    guard name.contains(where: \.isWordPart) else { return nil }
    parts = Self.parts(of: Substring(String(String.UnicodeScalarView(name))))
    path = String(String.UnicodeScalarView(host.dropFirst(name.count)))
    self.end = end
  }

  /// The largest length of a mailbox before an at sign (RFC 5321, section 4.5.3.1.1).
  private static let longestMailbox = 64

  /// Returns whether the text from `start` leads to an at sign followed by a letter.
  private static func mayBeMailbox(_ scalars: [Unicode.Scalar], at start: Int) -> Bool {
    let limit = min(scalars.count, start + longestMailbox + 1)
    for index in start..<limit {
      let scalar = scalars[index]
      if scalar == "@" { return index > start && index + 1 < scalars.count && scalars[index + 1].isWordPart }
      guard mayStand(scalar), scalar != "/", scalar != "?", scalar != "#" else { return false }
    }
    return false
  }

  private static func endOfScheme(_ scalars: [Unicode.Scalar], at start: Int) -> Int? {
    for scheme in ["https://", "http://"] where stands(scheme, in: scalars, at: start) {
      return start + scheme.utf8.count
    }
    return nil
  }

  /// Returns whether this ASCII text occurs at an index, in any letter case.
  private static func stands(_ text: String, in scalars: [Unicode.Scalar], at start: Int) -> Bool {
    var index = start
    for scalar in text.unicodeScalars {
      guard index < scalars.count, scalars[index].isASCII, scalars[index].lowercased == scalar else { return false }
      index += 1
    }
    return true
  }

  private static func mayStand(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "@", ".", "-", "_", "+", "/", ":", "?", "=", "&", "%", "#", "~", ",", ";",
      "!",
      "*":
      true
    default: false
    }
  }

  private static func parts(of name: Substring) -> [Part] {
    var parts: [Part] = []
    for scalar in name.unicodeScalars {
      if let digit = scalar.digit {
        if case .digits(let digits) = parts.last {
          parts[parts.count - 1] = .digits(digits + [digit])
        } else {
          parts.append(.digits([digit]))
        }
      } else if scalar.isWordPart {
        if case .letters(let letters) = parts.last {
          parts[parts.count - 1] = .letters(letters + String(scalar))
        } else {
          parts.append(.letters(String(scalar)))
        }
      } else {
        parts.append(.sign(String(scalar)))
      }
    }
    return parts
  }
}
