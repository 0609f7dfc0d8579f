// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import InstallationDiagnosis
public import Ledger
import SQLiteLedger

/// A look at the ledger, which reads and checks the whole file and changes nothing.
public enum LedgerLook {
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

  /// Returns the state of a lane's player according to the ledger.
  ///
  /// - Parameter facts: The ledger as it was found. Without a log beside it, no program has it open.
  public static func player(of lane: String, in file: URL, _ facts: LedgerFacts) -> PlayerLook {
    switch facts {
    case .missing, .sound(_, isOpen: false, _, _, _): return .none
    case .skipped, .unreadable: return .unknown
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
