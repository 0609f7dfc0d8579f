// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import InstallationDiagnosis
public import Ledger
public import PostgreSQL
import PostgreSQLLedger
import SQLiteLedger
import TextFormats

/// A look at the ledger, which changes nothing.
public enum LedgerLook {
  /// Reads and checks the whole file of a ledger.
  public static func look(at file: URL, now: Date) -> LedgerFacts {
    do throws(LedgerError) {
      switch try SQLiteLedger.examine(file, at: now) {
      case .missing: return .missing
      case .unindexedLog: return .unreadable(.unindexed)
      case .sound(let byteCount, let isOpen, let inForce, let ended, let endpoints, let setAside):
        return .sound(
          bytes: Int64(byteCount), isOpen: isOpen, keys: LedgerFacts.Keys(inForce: inForce, ended: ended),
          webhookEndpoints: endpoints, setAside: setAside)
      }
    } catch {
      switch error.code {
      case .damaged: return .unreadable(.damaged)
      case .newerVersion: return .unreadable(.newer)
      case .olderVersion: return .unreadable(.older)
      case .notALedger: return .unreadable(.foreign)
      case .notPermitted: return .unreadable(.other("this user may not read it"))
      case .busy: return .unreadable(.other("another program kept it locked for too long"))
      case .wrongKindOfFile: return .unreadable(.other("there is a folder in its place"))
      default: return .unreadable(.other(error.code.rawValue.replacing("_", with: " ")))
      }
    }
  }

  /// Asks the server of a ledger's database.
  ///
  /// - Parameter passwordFile: The file with the password, for the remedy; nil if there is none.
  public static func look(
    at address: PostgreSQLAddress, passwordFile: URL?, now: Date
  ) async -> LedgerFacts {
    do throws(PostgreSQLError) {
      let found = try await PostgreSQLLedger.examine(address, at: now)
      return .database(DatabaseFacts(server: found.server, outcome: .answered(answer(found))))
    } catch {
      return .database(
        DatabaseFacts(server: address.description, outcome: .failed(problem(error, passwordFile: passwordFile))))
    }
  }

  private static func answer(_ found: DatabaseExamination) -> DatabaseFacts.Answer {
    let known = PostgreSQLLedger.knownMigrations.count
    let tables: DatabaseFacts.Tables =
      found.isForeign
      ? .foreign
      : found.applied.isEmpty
        ? .none
        : found.applied.count < known
          ? .older(missing: known - found.applied.count) : found.applied.count > known ? .newer : .current
    return DatabaseFacts.Answer(
      version: found.version, milliseconds: Int(found.duration / .milliseconds(1)), bytes: found.byteCount,
      tables: tables, isStandby: found.isStandby, unsafeSettings: found.isDurable ? nil : found.durability,
      secondsAhead: Int(clamping: Int64(found.secondsAhead.rounded())),
      contents: found.contents.map { contents in
        LedgerFacts.Contents(
          keys: LedgerFacts.Keys(inForce: contents.keysInForce, ended: contents.keysEnded),
          webhookEndpoints: contents.webhookEndpoints, setAside: contents.setAside)
      },
      differences: (found.contents?.differences ?? []).map { difference in
        DatabaseFacts.Difference(
          thing: difference.thing.rawValue, machines: difference.groups.map { $0.map(\.description.host) },
          isOfUpgrade: difference.isOfUpgrade)
      })
  }

  /// Returns the problem of a database that cannot be used.
  static func problem(_ error: PostgreSQLError, passwordFile: URL?) -> InstallationProblem {
    let code: InstallationProblem.Code =
      switch error.code {
      case .cannotConnect, .connectionLost, .deadlinePassed, .outcomeUnknown, .cancelled, .closed, .noFreeConnection,
        .tooManyWaiting, .serverFull:
        .ledgerUnreachable
      case .accessDenied, .notPermitted: .ledgerAccessDenied
      case .noDatabase: .ledgerDatabaseMissing
      case .passwordFileUnusable: .ledgerPasswordUnusable
      case .readOnly: .ledgerReadOnly
      default: .ledgerUnreadable
      }
    let state = error.sqlState.map { " (SQLSTATE \($0))" } ?? ""
    guard error.code == .passwordFileUnusable, let path = passwordFile?.path(percentEncoded: false) else {
      return InstallationProblem(
        code, "The ledger cannot be opened: \(error.cause)\(state).", remedy: error.remedy)
    }
    return InstallationProblem(
      code, "The ledger cannot be opened: the password file \(path) \(error.subject ?? "cannot be used").",
      remedy: "\(error.remedy)\nchmod 600 \(Shell.quoted(path))")
  }

  /// Returns the state of a lane's player on this machine.
  private static func playerBesideServer(of lane: String, in home: URL) -> PlayerLook {
    do throws(LedgerError) {
      let status = try PostgreSQLLedger.player(lane: lane, home: home)
      return status.isRunning ? .running(status) : .none
    } catch {
      return .unknown
    }
  }

  /// Returns the state of a lane's player according to the ledger.
  ///
  /// - Parameter facts: The ledger as it was found. Without a log beside it, no program has it open.
  public static func player(of lane: String, in file: URL, _ facts: LedgerFacts) -> PlayerLook {
    switch facts {
    case .missing, .sound(_, isOpen: false, _, _, _): return .none
    case .skipped, .unknown, .unreadable: return .unknown
    case .database: return playerBesideServer(of: lane, in: file.deletingLastPathComponent())
    case .sound(_, isOpen: true, _, _, _): break
    }
    var options = SQLiteLedger.Options()
    options.checksIntegrity = false
    do throws(LedgerError) {
      let status = try SQLiteLedger(reading: file, options: options).player(lane: lane)
      return status.isRunning ? .running(status) : .none
    } catch {
      return .unknown
    }
  }
}

/// The state of the output's player according to the ledger.
public enum PlayerLook: Sendable {
  /// No player runs.
  case none
  case running(PlayerStatus)
  /// The ledger cannot be read, so a player may use the output.
  case unknown
}
