// SPDX-License-Identifier: Apache-2.0

import Foundation
import TextFormats

/// Commands that convert sound files to WAV, for messages. Recorders of telephones write M4A, which libsndfile does not
/// read.
enum SoundConversion {
  /// Returns a command for one file.
  ///
  /// - Parameter path: the file's path as the user gave it, so that the command works in the same folder.
  static func line(for path: String) -> String {
    let copy = (path as NSString).deletingPathExtension + ".wav"
    return "ffmpeg -i \(Shell.path(path)) \(Shell.path(copy))"
  }

  /// Returns a command for all files with the extensions of these names.
  static func line(forAll names: [String]) -> String {
    let endings = Set(names.map { ($0 as NSString).pathExtension }).sorted().map { "*.\($0)" }
    return "for file in \(endings.joined(separator: " ")); do ffmpeg -i \"$file\" \"${file%.*}.wav\"; done"
  }
}
