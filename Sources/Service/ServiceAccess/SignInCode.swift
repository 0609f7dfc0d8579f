// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

/// A code with which a person signs in: it is exchanged for a key once, within ``lifetime``.
///
/// The service stores only its ``digest``. The code has 100 random bits, which cannot be guessed in its short life. It
/// has letters and digits that are not easily confused, so it can be read aloud and typed. Text output of a code
/// (`print`, string interpolation, `dump`) does not contain it.
public struct SignInCode: Sendable, Hashable {
  /// The time for which a code is valid, in seconds.
  public static let lifetime: TimeInterval = 15 * 60
  /// The number of letters and digits of a code.
  public static let length = 20

  /// The letters and digits of the code. Whoever has them can sign in.
  public let text: String

  /// Makes a new code.
  ///
  /// - Parameter generator: A source of unpredictable random numbers, such as `SystemRandomNumberGenerator`.
  public static func make(using generator: inout some RandomNumberGenerator) -> SignInCode {
    SignInCode(text: APIKey.letters(length, using: &generator))
  }

  /// Makes a new code from the system's random numbers.
  public static func make() -> SignInCode {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }

  /// Makes an id for a code, which is not secret and says nothing about the code: 8 letters and digits, as
  /// ``APIKey/isID(_:)`` checks them.
  public static func makeID() -> String {
    var generator = SystemRandomNumberGenerator()
    return APIKey.letters(APIKey.idLength, using: &generator)
  }

  /// Parses a code that was typed: in capitals or not, with spaces and hyphens, and with `o`, `i` or `l` for the digits
  /// that look like them. It does not check whether the service knows the code.
  ///
  /// - Returns: nil if the text is not a code.
  public init?(_ typed: String) {
    guard typed.utf8.count <= 4 * Self.length else { return nil }
    let letters = typed.lowercased().compactMap { letter -> Character? in
      switch letter {
      case " ", "-": nil
      case "o": "0"
      case "i", "l": "1"
      default: letter
      }
    }
    guard letters.count == Self.length, letters.allSatisfy(APIKey.idLetters.contains) else { return nil }
    self.init(text: String(letters))
  }

  private init(text: String) { self.text = text }

  /// The SHA-256 digest of the code, 32 bytes. The service stores it and looks the code up by it.
  ///
  /// An index compares digests byte by byte. Looking up the digest in an index is safe nevertheless, because an
  /// attacker without the code cannot choose the digest that is looked up.
  public var digest: Data { Data(SHA256.hash(data: Data(text.utf8))) }

  /// Returns the address that signs a person in when it is opened. The code is in the fragment, which no browser sends
  /// to a server, so that it is in no server's log.
  ///
  /// - Parameter base: The address of the service, such as `https://pay.example`.
  public func link(base: String) -> String {
    "\(base.hasSuffix("/") ? String(base.dropLast()) : base)/#sign-in=\(text)"
  }
}

extension SignInCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "SignInCode(…)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
