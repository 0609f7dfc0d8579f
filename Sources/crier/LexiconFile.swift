// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation

/// The user's lexicon: `lexicon.csv` in the home folder, or a file named on the command line.
enum LexiconFile {
  /// The largest file that is read, in bytes: far more than the entries a lexicon may have.
  private static let largestBytes = 32 * 1024 * 1024

  /// - Parameters:
  ///   - path: a file that must be there; `nil` reads the home folder's, which may be absent.
  ///   - home: where the user's lexicon is.
  /// - Throws: `AnnouncementError` with the code `.lexiconInvalid`, naming the file, the line and the remedy.
  static func read(_ path: String?, home: CrierHome) throws(AnnouncementError) -> Lexicon {
    let file = path.map { URL(filePath: $0) } ?? home.lexicon
    if path == nil, !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) { return .empty }
    let shown = path.map(Terminal.printable) ?? file.lastPathComponent
    guard let handle = try? FileHandle(forReadingFrom: file),
      let data = try? handle.read(upToCount: largestBytes + 1)
    else {
      throw AnnouncementError(
        .lexiconInvalid, shown, "cannot be read", remedy: "name a CSV file with the columns locale, text, said")
    }
    guard data.count <= largestBytes else {
      throw AnnouncementError(
        .lexiconInvalid, shown, "is larger than \(largestBytes) bytes", remedy: "keep the entries that are needed")
    }
    return try Lexicon(data: data, name: shown)
  }
}
