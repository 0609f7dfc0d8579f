// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Quotes words for commands that people copy into a shell.
public enum Shell {
  /// Returns a text as one word of a shell command: unchanged if it needs no quotes, and otherwise quoted.
  public static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-_./:@%+=,".utf8.contains(byte)
      }
    }
    if isPlain, !text.isEmpty { return text }
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return "'" + text.replacing("'", with: "'\\''") + "'"
    }
    // Only bash and zsh support this form, but no other form can contain pasted control characters.
    let escaped = text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case ..<0x20, 0x7F...: String(format: "\\x%02x", Int(byte))
      default: String(UnicodeScalar(byte))
      }
    }
    return "$'" + escaped.joined() + "'"
  }

  /// Returns the path of a file as one word. If a program could take the path for an option or a URL, the word begins
  /// with "./".
  public static func path(_ path: String) -> String {
    let isMistakable = path.hasPrefix("-") || (!path.hasPrefix("/") && path.contains(":"))
    return quoted(isMistakable ? "./" + path : path)
  }
}
