// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The option for the home folder whose ledger, voice packs and lexicon a command reads or changes.
struct HomeOptions: ParsableArguments {
  @Option(help: "The home folder. (default: $CRIER_HOME)", completion: .directory)
  var home: String?

  func validate() throws {
    if home == "" { throw ValidationError("--home is empty: name a folder.") }
  }

  var folder: CrierHome { CrierHome(home) }
}
