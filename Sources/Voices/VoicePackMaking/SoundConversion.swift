// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Commands that convert sound files to WAV, for messages. Recorders of telephones write M4A, which libsndfile does not
/// read.
enum SoundConversion {
  /// Returns a command for one file.
  ///
  /// - Parameter path: the file's path as the user gave it, so that the command works in the same folder.
  static func line(for path: String) -> String {
    // A name that begins with a hyphen would be taken for an option.
    let path = path.hasPrefix("-") ? "./" + path : path
    let stem = (path as NSString).deletingPathExtension
    return "ffmpeg -i \(quoted(path)) \(quoted(stem + ".wav"))"
  }

  /// Returns a command for all files with the extensions of these names.
  static func line(forAll names: [String]) -> String {
    let endings = Set(names.map { ($0 as NSString).pathExtension }).sorted().map { "*.\($0)" }
    return "for file in \(endings.joined(separator: " ")); do ffmpeg -i \"$file\" \"${file%.*}.wav\"; done"
  }

  private static func quoted(_ name: String) -> String { "'" + name.replacing("'", with: "'\\''") + "'" }
}
