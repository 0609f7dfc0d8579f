// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SoundLibrary

/// The options for where clips are published.
struct PublishingOptions: ParsableArguments {
  @Option(help: "The app group whose Library/Sounds receives the clips.")
  var group = "group.crier"

  @Option(help: "The folder of group containers. (default: $CRIER_HOME/containers)", completion: .directory)
  var containers: String?

  func validate() throws {
    if containers == "" { throw ValidationError("--containers is empty: name a folder.") }
  }

  /// Returns the group's library, after a warning on standard error if no group on iOS can have the name.
  ///
  /// - Throws: `SoundLibraryError` for an invalid group name.
  func library(home: CrierHome = CrierHome()) throws -> SoundLibrary {
    let folder = containers.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? home.containers
    let container = try GroupContainer(containers: folder, group: group)
    GroupWarning.note(about: [group], in: "--group")
    return SoundLibrary(container: container) { folder in
      Terminal.note(
        "A folder had the name of a clip and was moved to \(Terminal.printable(folder.path(percentEncoded: false))). Look "
          + "at what it holds, and remove it.")
    }
  }
}
