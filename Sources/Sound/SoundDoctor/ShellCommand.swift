// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Commands that mend a file, ready to be pasted into a shell.
struct ShellCommand {
  /// The file's path as it was given.
  var path: String

  /// Makes a mended copy by Crier itself.
  var fix: String { "crier sounds check --fix \(Self.quoted(path))" }

  /// Makes a playable copy of a file that libsndfile cannot decode. The filter restores clipped samples if asked.
  func convert(filter: String? = nil) -> String {
    let filters = filter.map { "-af \($0) " } ?? ""
    return "ffmpeg -n -i \(Self.quoted(path)) -vn -t 29.5 \(filters)-ac 1 -ar 22050 -c:a pcm_s16le "
      + Self.quoted(Self.copy(of: path))
  }

  /// Renames the file within its folder, but not over another file.
  func rename(to name: String) -> String {
    "mv -n \(Self.quoted(path)) \(Self.quoted(Self.folder(of: path) + name))"
  }

  /// Moves the file into another folder, which is made if necessary.
  func move(to folder: String) -> String {
    "mkdir -p \(Self.quoted(folder)) && mv -n \(Self.quoted(path)) \(Self.quoted(folder + "/"))"
  }

  /// Returns the path of the mended copy: beside the file, with `-fixed` after its name.
  static func copy(of path: String) -> String {
    folder(of: path) + stem(of: String(path.split(separator: "/").last ?? "")) + "-fixed.wav"
  }

  /// Returns a file's name without its extension. A “.” at the start does not begin an extension.
  static func stem(of name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// Returns a path as one word of a shell command. A path that a program could take for an option or an address gets
  /// “./” in front.
  static func quoted(_ path: String) -> String {
    let isMistakable = path.hasPrefix("-") || (!path.hasPrefix("/") && path.contains(":"))
    let path = isMistakable ? "./" + path : path
    guard path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return "'" + path.replacing("'", with: "'\\''") + "'"
    }
    // Only bash and zsh know this form, but control characters cannot be pasted in any other.
    let escaped = path.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case ..<0x20, 0x7F: String(format: "\\x%02x", Int(byte))
      case 0x80...: String(format: "\\x%02x", Int(byte))
      default: String(UnicodeScalar(byte))
      }
    }
    return "$'" + escaped.joined() + "'"
  }
}
