// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SQLiteLedger

/// The home folder, `$CRIER_HOME`, which holds everything that must be backed up.
struct CrierHome: Sendable {
  let directory: URL
  /// The folder's path as the user gave it, for messages.
  let typed: String
  /// The environment variables that may name the home's ledger.
  let environment: [String: String]

  /// - Parameters:
  ///   - asked: The path given with `--home`, or nil to use the environment.
  ///   - environment: The environment variables. They are about the home that the user means, so they are left out for
  ///     a home that was found in another way.
  init(_ asked: String? = nil, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.environment = environment
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

  /// The file of accepted announcements and their outcomes, unless the settings name a ledger on a server.
  var ledgerFile: URL { directory.appending(path: "ledger.sqlite") }

  /// Whether the home has a ledger: its file, or a server that its settings name.
  ///
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`.
  func hasLedger() throws -> Bool {
    // A ledger that this user may not reach is reported when it is opened.
    if !Self.isMissing(ledgerFile) { return true }
    // The home folder must be safe before its settings file is trusted.
    if !Self.isMissing(configuration) { try requirePrivate() }
    return try LedgerSetting(of: self) != .file
  }

  /// The time that a command waits for the server of a ledger. Two servers that do not answer take 10 seconds.
  private static let patience: Duration = .seconds(12)

  /// Opens the ledger, after checking that no other user can change the home folder.
  ///
  /// - Parameters:
  ///   - setting: The ledger; nil to find it as a command does.
  ///   - checksIntegrity: Whether every page of a ledger in a file is read and checked.
  ///   - patience: The time to wait for a server.
  /// - Throws: ``UnsafeHome``, ``CommandError``, `ServiceConfiguration.Fault`, `LedgerError`.
  func openLedger(
    _ setting: LedgerSetting? = nil, checksIntegrity: Bool = true, patience: Duration = Self.patience
  ) async throws -> any Ledger.Store {
    try requirePrivate()
    do {
      switch try setting ?? LedgerSetting(of: self) {
      case .file:
        var options = SQLiteLedger.Options()
        options.checksIntegrity = checksIntegrity
        return try SQLiteLedger(at: ledgerFile, options: options)
      case .server(let server): return try await server.open(home: directory, patience: patience)
      }
    } catch let error as LedgerError {
      // The ledger makes the home folder. A home that is still missing is often a misspelt path.
      guard Self.isMissing(directory) else { throw error }
      let reason = error.systemError.map { String(cString: strerror($0)) } ?? error.code.rawValue
      throw CommandError(
        73,
        "\(typed): this home folder does not exist and cannot be made (\(reason)); name another with --home or CRIER_HOME."
      )
    }
  }

  /// Opens the ledger for reading only, after checking that no other user can change the home folder. The ledger's file,
  /// or the tables of its database, are not changed.
  ///
  /// - Throws: ``UnsafeHome``, `ServiceConfiguration.Fault`, `LedgerError`.
  func readLedger() async throws -> any Ledger.Store {
    try requirePrivate()
    switch try LedgerSetting(of: self) {
    case .file: return try SQLiteLedger(reading: ledgerFile)
    case .server(let server):
      return try await server.open(home: directory, patience: Self.patience, changesTables: false)
    }
  }

  /// The folder of temporary sounds for `crier preview`.
  var previews: URL { directory.appending(path: "previews", directoryHint: .isDirectory) }

  /// The folder of the user's own voice packs. Recordings cannot be made again, so they belong to the backup.
  var voices: URL { directory.appending(path: "Voices", directoryHint: .isDirectory) }

  /// The packs that `crier voices use` chose.
  var chosenPacks: URL { directory.appending(path: "packs.json") }

  /// The verdicts of `crier voices test` on the voices of speech servers.
  var speechServerVerdicts: URL { directory.appending(path: "speech-servers.json") }

  /// The user's lexicon, which defines how names and other words are pronounced.
  var lexicon: URL { directory.appending(path: "lexicon.csv") }

  /// The folder of lists that the service renders in advance.
  var batches: URL { directory.appending(path: "batches", directoryHint: .isDirectory) }

  /// The file that stores how much of its daily allowance each account has used.
  var accountWork: URL { directory.appending(path: "account-work.json") }

  /// The folder that stores the volume, the chimes and the output that somebody chose through the service.
  var playerPreferences: URL { directory.appending(path: "player", directoryHint: .isDirectory) }

  /// The key that the service creates at its first start. Only its owner can read it.
  var firstKey: URL { directory.appending(path: "first-key") }

  /// The first key as an HTTP header line, for curl.
  var firstKeyHeader: URL { directory.appending(path: "first-key.header") }

  /// The secret with which the service signs URLs.
  var signingSecret: URL { directory.appending(path: "signing-secret") }

  /// The folder of the provider tokens with which pushes are signed. They are shared, because Apple allows a key one
  /// new token in 20 minutes.
  var providerTokens: URL { directory.appending(path: "provider-tokens", directoryHint: .isDirectory) }

  /// The endpoints of payment providers, with their secrets.
  var providers: URL { directory.appending(path: "providers.yaml") }

  /// The service's settings file, unless `--config` names another one.
  var configuration: URL { directory.appending(path: "crier.yaml") }
}
