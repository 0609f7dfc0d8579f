// SPDX-License-Identifier: Apache-2.0

import SoundLibrary
import TextFormats

/// Commands that mend a file, ready to be pasted into a shell.
struct ShellCommand {
  /// The file's path as it was given.
  var path: String

  /// The command with which Crier itself makes a mended copy.
  var fix: String { "crier sounds check --fix \(Shell.path(path))" }

  /// Returns a command that makes a playable copy of a file that libsndfile cannot decode.
  ///
  /// - Parameter filter: The filter to apply, for example to restore clipped samples; nil for none.
  func convert(filter: String? = nil) -> String {
    let filters = filter.map { "-af \($0) " } ?? ""
    return "ffmpeg -n -i \(Shell.path(path)) -vn -t 29.5 \(filters)-ac 1 -ar 22050 -c:a pcm_s16le "
      + Shell.path(Self.copy(of: path))
  }

  /// Returns a command that renames the file within its folder, but not over another file.
  func rename(to name: String) -> String {
    "mv -n \(Shell.path(path)) \(Shell.path(Self.folder(of: path) + name))"
  }

  /// Returns a command that moves the file into another folder, and makes that folder if necessary.
  func move(to folder: String) -> String {
    "mkdir -p \(Shell.path(folder)) && mv -n \(Shell.path(path)) \(Shell.path(folder + "/"))"
  }

  /// Returns the path of the mended copy. The copy is in the file's folder, and its name has `-fixed` before the
  /// extension.
  static func copy(of path: String) -> String {
    folder(of: path) + String(path.split(separator: "/").last ?? "").withoutExtension + "-fixed.wav"
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }
}
