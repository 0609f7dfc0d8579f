// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation

/// The user's lexicon: `lexicon.csv` in the home folder, or a file named on the command line.
enum LexiconFile {
  /// The size of the largest file that is read, in bytes. A lexicon with the maximum number of entries is much smaller.
  private static let largestBytes = 32 * 1024 * 1024

  /// Reads a lexicon.
  ///
  /// - Parameters:
  ///   - path: The file to read, which must exist. Nil reads the home folder's lexicon, which may be missing.
  ///   - home: The home folder that holds the user's lexicon.
  /// - Throws: `AnnouncementError` with the code `.lexiconInvalid`, which names the file, the line and the remedy.
  static func read(_ path: String?, home: CrierHome) throws(AnnouncementError) -> Lexicon {
    let file = path.map { URL(filePath: $0) } ?? home.lexicon
    if path == nil, !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) { return .empty }
    let shown = path.map(Terminal.printable) ?? file.lastPathComponent
    guard let handle = try? FileHandle(forReadingFrom: file),
      let data = try? handle.read(upToCount: largestBytes + 1)
    else {
      throw AnnouncementError(
        .lexiconInvalid, shown, "cannot be read",
        remedy: "name a CSV file whose columns are “locale”, “text” and “said”")
    }
    guard data.count <= largestBytes else {
      throw AnnouncementError(
        .lexiconInvalid, shown, "is larger than \(largestBytes) bytes", remedy: "remove entries that you do not need")
    }
    return try Lexicon(data: data, name: shown)
  }
}
