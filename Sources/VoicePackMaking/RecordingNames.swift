// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Which row of a sheet a file's name means.
struct RecordingNames {
  private let rows: [SheetRow]

  /// Row indices by folded names: of files, and of tokens and texts.
  private let files: [String: [Int]]
  private let words: [String: [Int]]

  /// Endings of sound files: what libsndfile reads, and what recorders write that it does not, so that such a file is
  /// named as unreadable and not passed over.
  private static let endings: Set<String> = [
    "wav", "wave", "flac", "ogg", "oga", "opus", "aif", "aiff", "aifc", "caf", "w64", "rf64", "au", "snd", "mp3", "voc",
    "sph", "nist", "sf", "pvf", "svx", "iff", "sds", "m4a", "mp4", "aac", "wma", "webm", "amr", "3gp", "ape", "wv",
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

  /// The indices of the rows that the name fits: by the row's file name, else by its token or text; of several
  /// positions of one token, the plain one.
  func rows(for name: String) -> [Int] {
    let stem = Self.folded(Self.stem(name))
    if let found = files[stem] { return found }
    let found = words[stem] ?? []
    let plain = found.filter { rows[$0].position == .plain }
    return plain.isEmpty ? found : plain
  }

  static func isSoundFile(_ name: String) -> Bool {
    endings.contains((name as NSString).pathExtension.lowercased())
  }

  /// The name without the ending of a sound file; any other full stop belongs to the name.
  private static func stem(_ name: String) -> String {
    isSoundFile(name) ? (name as NSString).deletingPathExtension : name
  }

  /// Case, composed and decomposed letters, and spaces and underscores are the same.
  private static func folded(_ name: String) -> String {
    name.precomposedStringWithCanonicalMapping.lowercased().split { $0.isWhitespace || $0 == "_" }
      .joined(separator: " ")
  }
}
