// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import PostgreSQL
import PostgreSQLLedger

/// The ledger that the settings name: the file in the home, or a database of a PostgreSQL server.
enum LedgerSetting: Sendable, Hashable {
  /// A database of a PostgreSQL server.
  struct Server: Sendable, Hashable {
    var address: PostgreSQLAddress
    /// The file with the password; nil if the server asks for none, or if libpq finds the password in its own places.
    var passwordFile: URL?
    /// The source of the setting `ledger_password_file`, for errors.
    var passwordPlace: String
  }

  case file
  case server(Server)

  /// The reason why a text is no address of a server, without a full stop. It quotes nothing of the text.
  struct Reason: Error, CustomStringConvertible { var description: String }

  private static let names = [ServiceConfiguration.Name.ledger, .ledgerPasswordFile]

  /// Reads the settings `ledger` and `ledger_password_file`.
  ///
  /// - Parameters:
  ///   - environment: The environment variables. libpq reads some of them too.
  ///   - folder: The folder of the settings file, to which the path of the password file may be relative.
  /// - Throws: ``ServiceConfiguration/Fault``.
  init(_ reader: inout SettingsReader, environment: [String: String], folder: URL) throws {
    let text = try reader.checked(.ledger, shown: Self.shown) { text throws(Reason) in
      if !text.isEmpty { _ = try Self.address(text, environment) }
      return text
    }
    let path = try reader.value(.ledgerPasswordFile, "", "") { $0 }
    guard !text.isEmpty else {
      self = .file
      return
    }
    let file = path.isEmpty ? nil : URL(filePath: path, relativeTo: folder).absoluteURL
    self = .server(
      Server(
        address: try Self.address(text, environment, passwordFile: file), passwordFile: file,
        passwordPlace: reader.settings.last?.place ?? ""))
  }

  /// Reads the two settings alone, so that a fault in another setting does not keep a command from its ledger.
  ///
  /// - Throws: ``ServiceConfiguration/Fault`` for these two settings, and for a file that cannot be read or has an unknown
  ///   name: the name could be a misspelt `ledger`.
  init(in file: SettingsFile, environment: [String: String]) throws {
    try file.checkNames()
    let variables = Self.names.compactMap { name in environment[name.variable].map { (name, $0) } }
    var reader = SettingsReader(sources: [
      ("environment", Dictionary(uniqueKeysWithValues: variables), [:]),
      (file.url.lastPathComponent, try file.values(of: Self.names), file.lines()),
    ])
    try self.init(&reader, environment: environment, folder: file.url.deletingLastPathComponent())
  }

  /// Reads the two settings for a command without `--config`: from the environment, or else from the home's settings
  /// file. A service that was started in the same environment, or without `--config`, has the same ledger.
  ///
  /// - Throws: ``ServiceConfiguration/Fault``.
  init(of home: CrierHome) throws {
    try self.init(in: SettingsFile(url: home.configuration, isRequired: false), environment: home.environment)
  }

  /// The address of the server; nil for a file.
  var address: PostgreSQLAddress? {
    if case .server(let server) = self { server.address } else { nil }
  }

  private static func address(
    _ text: String, _ environment: [String: String], passwordFile: URL? = nil
  ) throws(Reason) -> PostgreSQLAddress {
    do throws(PostgreSQLError) {
      return try PostgreSQLAddress(text, passwordFile: passwordFile, environment: environment)
    } catch {
      let remedy =
        error.code == .passwordOutsideFile
        ? "remove it there, and name a file with the password in ledger_password_file"
        : "give an address such as postgresql:///crier?host=/run/postgresql, or nothing for the file in the home"
      throw Reason(description: "\(error.cause); \(remedy)")
    }
  }

  /// The text of an address without its user, as it may be printed. An address with a password is refused before.
  private static func shown(_ text: String) -> String {
    guard let scheme = text.range(of: "://") else { return text }
    var rest = text[scheme.upperBound...]
    // libpq takes everything before the first @ for the user, unless a slash comes before it.
    if let end = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[end] == "@" {
      rest = "(left out)" + rest[end...]
    }
    guard let query = rest.firstIndex(of: "?") else { return String(text[..<scheme.upperBound] + rest) }
    let options = rest[rest.index(after: query)...].split(separator: "&", omittingEmptySubsequences: false)
    let shown = options.map { option in
      let name = option.prefix { $0 != "=" }
      return name.removingPercentEncoding == "user" ? "\(name)=(left out)" : String(option)
    }
    return String(text[..<scheme.upperBound] + rest[...query]) + shown.joined(separator: "&")
  }
}

extension LedgerSetting.Server {
  /// Opens the ledger.
  ///
  /// - Parameters:
  ///   - home: The home folder, in which the seats of this machine are.
  ///   - patience: The time to wait for a server.
  ///   - changesTables: Whether the tables are brought up to date.
  /// - Throws: ``ServiceConfiguration/Fault`` for a password file that cannot be used; `LedgerError`.
  func open(home: URL, patience: Duration, changesTables: Bool = true) async throws -> PostgreSQLLedger {
    do throws(PostgreSQLError) {
      try address.checkPassword()
    } catch {
      throw ServiceConfiguration.Fault(
        setting: ServiceConfiguration.Name.ledgerPasswordFile.rawValue, source: passwordPlace,
        rule: "the file \(error.subject ?? "cannot be used"); write the password into a file of this user, and run "
          + "chmod 600 on it")
    }
    var options = PostgreSQLLedger.Options()
    options.patienceAtOpening = patience
    options.changesTables = changesTables
    options.node.version = Crier.configuration.version
    return try await PostgreSQLLedger(address: address, home: home, options: options)
  }
}
