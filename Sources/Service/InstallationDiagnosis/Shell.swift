// SPDX-License-Identifier: Apache-2.0

/// Quoting of text that people copy into a shell.
public enum Shell {
  /// Returns the word unchanged if it is plain, and otherwise quoted.
  public static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-_./:@%+=,".utf8.contains(byte)
      }
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
