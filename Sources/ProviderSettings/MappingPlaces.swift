// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// The folders in which mapping files are sought.
package struct MappingPlaces: Sendable {
  /// The folders in their order. The first one that has the file counts.
  package let folders: [URL]

  /// - Parameters:
  ///   - home: The home folder. One's own mapping files stand in it or in its folder `Providers`, and come first.
  ///   - data: The program's data folder. Its folder `Providers` has the mapping files that Crier brings.
  package init(home: URL, data: URL) {
    folders = [home.appending(path: "Providers"), home, data.appending(path: "Providers")]
  }

  /// Returns the place of a mapping file.
  ///
  /// - Parameter name: The name of the file, without a folder.
  /// - Throws: `.fileUnreadable` if no folder has the file, with the name that was probably meant.
  package func file(_ name: String) throws(ProviderSettingsError) -> URL {
    let files = folders.map { $0.appending(path: name) }
    if let file = files.first(where: { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }) {
      return file
    }
    let known = folders.flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? [])
        .filter { $0.hasSuffix(".yaml") }.sorted()
    }
    let meant = SimilarNames.name(like: name, among: known)
    throw ProviderSettingsError(
      .fileUnreadable, file: name, "there is no such mapping file",
      remedy: meant.map { "did you mean '\($0)'?" } ?? "put it into the folder Providers of the home folder")
  }
}
