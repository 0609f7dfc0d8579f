// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Finds the rows of a recording sheet that belong to the names of files.
struct RecordingNames {
  private let rows: [SheetRow]

  /// The indices of the rows. The keys are the names of files in the form for comparison. In the two properties below,
  /// the keys are tokens and texts in this form.
  private let files: [String: [Int]]
  private let words: [String: [Int]]

  /// The extensions of sound files: those that libsndfile reads, and others that recorders write. A file that
  /// libsndfile cannot read is then reported as unreadable instead of being ignored.
  private static let endings = foreignEndings.union([
    "wav", "wave", "flac", "ogg", "oga", "opus", "aif", "aiff", "aifc", "caf", "w64", "rf64", "au", "snd", "mp3", "voc",
    "sph", "nist", "sf", "pvf", "svx", "iff", "sds",
  ])

  /// The extensions of sound files that libsndfile cannot read.
  private static let foreignEndings: Set<String> = [
    "m4a", "mp4", "aac", "wma", "webm", "amr", "3gp", "ape", "wv",
  ]

  init(_ rows: [SheetRow]) {
    self.rows = rows
    var files: [String: [Int]] = [:]
    var words: [String: [Int]] = [:]
    for (index, row) in rows.enumerated() {
      files[Self.folded(Self.stem(row.file)), default: []].append(index)
      for name in Set([Self.folded(row.token), Self.folded(row.text)]) { words[name, default: []].append(index) }
    }
    self.files = files
    self.words = words
  }

  /// Returns the indices of the rows that match a name. The row's file name is compared first, and then its token and
  /// text. If a token occurs in several positions, the row with the plain position matches.
  func rows(for name: String) -> [Int] {
    let stem = Self.folded(Self.stem(name))
    if let found = files[stem] { return found }
    let found = words[stem] ?? []
    let plain = found.filter { rows[$0].position == .plain }
    return plain.isEmpty ? found : plain
  }

  /// Returns whether libsndfile can probably read a file with this name.
  static func isReadable(_ name: String) -> Bool {
    isSoundFile(name) && !foreignEndings.contains((name as NSString).pathExtension.lowercased())
  }

  static func isSoundFile(_ name: String) -> Bool {
    endings.contains((name as NSString).pathExtension.lowercased())
  }

  /// Returns the name without the extension of a sound file. A full stop that does not begin such an extension belongs
  /// to the name.
  private static func stem(_ name: String) -> String {
    isSoundFile(name) ? (name as NSString).deletingPathExtension : name
  }

  /// Returns the name in a form for comparison. This form ignores letter case, spaces, underscores, and whether letters
  /// are composed or decomposed.
  private static func folded(_ name: String) -> String {
    name.precomposedStringWithCanonicalMapping.lowercased().split { $0.isWhitespace || $0 == "_" }
      .joined(separator: " ")
  }
}
