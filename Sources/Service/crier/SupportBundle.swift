// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import ArgumentParser
import AsyncHTTPClient
import Foundation
import InstallationDiagnosis
import Ledger
import NIOCore
import NIOHTTP1
import PostgreSQL
import PostgreSQLLedger
import SQLiteLedger
import TextFormats

/// The files that help somebody else to find out what is wrong with an installation. They contain no amounts, names,
/// tokens or keys.
struct SupportBundle {
  /// A running service's answers about itself. A value is nil if it is not known.
  struct Service: Sendable {
    var readiness: Data?
    var metrics: Data?
    var log: [String]?
  }

  private struct Versions: Encodable {
    var crier: String
    var system: String
    var processors: Int
    var memoryBytes: UInt64
  }

  private struct Migrations: Encodable {
    /// The migrations that this version knows.
    var known: [String]
    /// The migrations that were made in the ledger; null if the ledger cannot be read.
    @ExplicitNull var applied: [String]?
    @ExplicitNull var code: String?
  }

  static let about = """
    These files were made by crier doctor --bundle, or by GET /v1/support-bundle. They help somebody else to find out
    what is wrong. They contain no amounts, names of payers, tokens or keys.

    versions.json   the versions of Crier and of the system
    settings.json   the settings and their sources, without settings that name keys
    doctor.json     the report of crier doctor
    ledger.json     the migrations of the ledger that this version knows, and those that were made
    readyz.json     what GET /readyz of the running service answers
    metrics.txt     what GET /metrics of the running service answers
    log.txt         the last lines of the running service's log; only in a bundle of the service
    """

  /// Returns the archive (`.tar.gz`).
  static func archive(of look: InstallationLook, _ service: Service, at date: Date = Date()) async throws -> Data {
    let report = InstallationDiagnosis(of: await look.facts(), home: look.home.typed)
    var archive = TarArchive()
    func add(_ name: String, _ contents: Data) { archive.add("crier-support/\(name)", contents, at: date) }
    add("README.txt", Data("\(about)\n".utf8))
    add(
      "versions.json",
      try json(
        Versions(
          crier: Crier.configuration.version, system: ProcessInfo.processInfo.operatingSystemVersionString,
          processors: ProcessInfo.processInfo.processorCount, memoryBytes: ProcessInfo.processInfo.physicalMemory)))
    add("settings.json", try json(settings(look)))
    add("doctor.json", Data((try report.jsonLine + "\n").utf8))
    add("ledger.json", try json(await migrations(look)))
    add("readyz.json", service.readiness ?? Data("null\n".utf8))
    add("metrics.txt", service.metrics ?? Data())
    if let log = service.log { add("log.txt", Data(log.map { "\($0)\n" }.joined().utf8)) }
    return archive.gzip
  }

  /// Returns the settings. Settings that name keys, and parts of URLs that may be secrets, are left out.
  static func settings(_ look: InstallationLook) -> [ServiceDescription.Setting] {
    let configuration = try? ServiceConfiguration(
      flags: look.flags, environment: look.environment, file: look.config, home: look.home)
    return (configuration?.all ?? []).map { setting in
      let isSecret = setting.name == .apns && setting.value != "[]"
      let value = isSecret ? "(left out)" : setting.value.replacing(/:\/\/[^\/@"']*@/, with: "://(left out)@")
      let isElsewhere = ["flag", "environment", "default"].contains(setting.source)
      return ServiceDescription.Setting(
        name: setting.name.rawValue, value: value, source: isElsewhere ? setting.source : "file")
    }
  }

  private static func migrations(_ look: InstallationLook) async -> Migrations {
    // Without settings, it is not known which ledger is meant.
    guard let setting = try? look.ledgerSetting else {
      return Migrations(known: [], applied: nil, code: InstallationProblem.Code.settingsUnusable.rawValue)
    }
    guard case .server(let server) = setting else { return migrations(of: look.home.ledgerFile) }
    let known = PostgreSQLLedger.knownMigrations
    do throws(PostgreSQLError) {
      let found = try await PostgreSQLLedger.examine(server.address, at: Date())
      return Migrations(known: known, applied: found.applied, code: nil)
    } catch {
      return Migrations(known: known, applied: nil, code: error.code.rawValue)
    }
  }

  private static func migrations(of file: URL) -> Migrations {
    let known = SQLiteLedger.knownMigrations
    do throws(LedgerError) {
      return Migrations(known: known, applied: try SQLiteLedger.appliedMigrations(of: file), code: nil)
    } catch {
      return Migrations(known: known, applied: nil, code: error.code.rawValue)
    }
  }

  private static func json(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return try encoder.encode(value) + Data("\n".utf8)
  }

  // MARK: A running service

  /// The longest answer that is read, in bytes.
  private static let longestAnswer = 4 << 20

  /// Asks the service that runs at the address of the settings.
  static func ask(at address: String) async -> Service {
    let client = HTTPClient(
      eventLoopGroupProvider: .singleton, configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
    func get(_ path: String) async -> Data? {
      guard let response = try? await client.execute(HTTPClientRequest(url: address + path), timeout: .seconds(5)),
        // A service that is not ready answers with 503.
        [200, 503].contains(response.status.code), let body = try? await response.body.collect(upTo: longestAnswer)
      else { return nil }
      return Data(body.readableBytesView)
    }
    let service = Service(readiness: await get("/readyz"), metrics: await get("/metrics"))
    try? await client.shutdown()
    return service
  }
}
