// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import ArgumentParser
import Foundation

/// The option for the home folder whose ledger, voice packs and lexicon a command reads or changes.
struct HomeOptions: ParsableArguments {
  @Option(help: "The home folder. (default: $CRIER_HOME)", completion: .directory)
  var home: String?

  func validate() throws {
    if home == "" { throw ValidationError("--home is empty: name a folder.") }
  }

  var folder: CrierHome { CrierHome(home) }

  /// Returns the settings of a service with this home.
  ///
  /// - Parameter file: The path of the settings file; nil means the home folder's file, which may be missing.
  /// - Throws: ``ServiceConfiguration/Fault``.
  func serviceSettings(file: String? = nil) throws -> ServiceSettings {
    try ServiceConfiguration(
      flags: [:], environment: ProcessInfo.processInfo.environment, file: file.map { URL(filePath: $0) }, home: folder
    ).settings
  }
}
