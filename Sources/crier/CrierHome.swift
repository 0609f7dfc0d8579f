// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger

/// `$CRIER_HOME`: everything that must be backed up.
struct CrierHome: Sendable {
  let directory: URL
  /// As whoever runs the program knows it.
  let typed: String

  /// - Parameter asked: as asked for with `--home`; nil for the environment's.
  init(_ asked: String? = nil) {
    let environment = ProcessInfo.processInfo.environment
    if let home = asked ?? environment["CRIER_HOME"], !home.isEmpty {
      directory = URL(filePath: home, directoryHint: .isDirectory).absoluteURL.standardizedFileURL
      typed = home
      return
    }
    // The XDG Base Directory Specification 0.8: a relative path counts as unset.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
      directory = URL(filePath: data, directoryHint: .isDirectory).appending(path: "crier", directoryHint: .isDirectory)
      typed = "\(data)/crier"
      return
    }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
    directory = (home ?? FileManager.default.homeDirectoryForCurrentUser)
      .appending(path: ".local/share/crier", directoryHint: .isDirectory)
    typed = directory.path(percentEncoded: false)
  }

  var containers: URL { directory.appending(path: "containers", directoryHint: .isDirectory) }

  /// What was accepted, and what became of it.
  var ledger: URL { directory.appending(path: "ledger.sqlite") }

  /// Opens the ledger of a home that is its user's alone.
  ///
  /// - Throws: ``UnsafeHome``, `LedgerError`.
  func openLedger(options: Ledger.Options = Ledger.Options()) throws -> Ledger {
    try requirePrivate()
    return try Ledger(at: ledger, options: options)
  }

  /// Sounds that are heard once.
  var previews: URL { directory.appending(path: "previews", directoryHint: .isDirectory) }

  /// The voice packs that somebody recorded: they cannot be made again, so they belong to what is backed up.
  var voices: URL { directory.appending(path: "Voices", directoryHint: .isDirectory) }

  /// How names and other words are to be said.
  var lexicon: URL { directory.appending(path: "lexicon.csv") }

  /// The lists that the service renders ahead.
  var batches: URL { directory.appending(path: "batches", directoryHint: .isDirectory) }

  /// What each account has used of its day's new clips.
  var accountWork: URL { directory.appending(path: "account-work.json") }

  /// The key that the service made at its first start, for its owner.
  var firstKey: URL { directory.appending(path: "first-key") }

  /// The same key as a line of a request's head, which curl reads.
  var firstKeyHeader: URL { directory.appending(path: "first-key.header") }

  /// With which the service signs URLs.
  var signingSecret: URL { directory.appending(path: "signing-secret") }

  /// The service's settings, where it is not told others.
  var configuration: URL { directory.appending(path: "crier.yaml") }
}
