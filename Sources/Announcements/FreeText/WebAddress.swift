// SPDX-License-Identifier: Apache-2.0

/// An e-mail address or a web address in a text: the host is said, and the path is not.
struct WebAddress {
  enum Part: Equatable {
    case letters(String)
    case digits([Int])
    /// `@`, `.`, `-`, `_`
    case sign(String)
  }

  let parts: [Part]

  /// What follows the host; empty when nothing does.
  let path: String

  /// The first index behind it.
  let end: Int

  /// - Returns: `nil` when no address begins at `start`. An address has an at sign with a name behind it, or begins with
  ///   `http`, or `www.`.
  init?(_ scalars: [Unicode.Scalar], at start: Int) {
    var end = start
    var signs: Set<Unicode.Scalar> = []
    while end < scalars.count, scalars[end].isASCII, Self.mayStand(scalars[end]) {
      signs.insert(scalars[end])
      end += 1
    }
    // Most words end here.
    guard signs.contains("@") || signs.contains("/") || signs.contains(".") else { return nil }
    while end > start, ".,:;!?-/".unicodeScalars.contains(scalars[end - 1]), scalars[end - 1] != "/" { end -= 1 }
    let whole = String(String.UnicodeScalarView(scalars[start..<end]))
    var host = Substring(whole)
    var isAddress = false
    for scheme in ["https://", "http://"] where host.lowercased().hasPrefix(scheme) {
      host = host.dropFirst(scheme.count)
      isAddress = true
    }
    isAddress = isAddress || host.lowercased().hasPrefix("www.")
    let name = host.prefix { !"/?#".contains($0) }
    if !isAddress {
      guard let at = name.firstIndex(of: "@"), at > name.startIndex, name.index(after: at) < name.endIndex,
        name[name.index(after: at)...].first?.isLetter == true, name.filter({ $0 == "@" }).count == 1
      else { return nil }
    }
    guard name.contains(where: \.isLetter) else { return nil }
    parts = Self.parts(of: name)
    path = String(host.dropFirst(name.count))
    self.end = end
  }

  private static func mayStand(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isWordPart || scalar.digit != nil || "@.-_+/:?=&%#~,;!*".unicodeScalars.contains(scalar)
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
