// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `$CRIER_HOME`: everything that must be backed up.
enum CrierHome {
  static var directory: URL {
    let environment = ProcessInfo.processInfo.environment
    if let home = environment["CRIER_HOME"], !home.isEmpty { return URL(filePath: home, directoryHint: .isDirectory) }
    // The XDG Base Directory Specification 0.8: a relative path counts as unset.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
      return URL(filePath: data, directoryHint: .isDirectory).appending(path: "crier", directoryHint: .isDirectory)
    }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
    return (home ?? FileManager.default.homeDirectoryForCurrentUser)
      .appending(path: ".local/share/crier", directoryHint: .isDirectory)
  }

  static var containers: URL { directory.appending(path: "containers", directoryHint: .isDirectory) }

  /// What was accepted, and what became of it.
  static var ledger: URL { directory.appending(path: "ledger.sqlite") }

  /// Sounds that are heard once.
  static var previews: URL { directory.appending(path: "previews", directoryHint: .isDirectory) }

  /// The voice packs that somebody recorded: they cannot be made again, so they belong to what is backed up.
  static var voices: URL { directory.appending(path: "Voices", directoryHint: .isDirectory) }
}
