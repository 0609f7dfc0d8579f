// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import InstallationDiagnosis
public import Ledger

/// A look at the ledger, which reads and checks the whole file and changes nothing.
public enum LedgerLook {
  public static func look(at file: URL, now: Date) -> LedgerFacts {
    do throws(LedgerError) {
      switch try Ledger.examine(file, at: now) {
      case .missing: return .missing
      case .unindexedLog: return .unreadable(.unindexed)
      case .sound(let byteCount, let isOpen, let inForce, let ended):
        return .sound(
          bytes: Int64(byteCount), isOpen: isOpen, keys: LedgerFacts.Keys(inForce: inForce, ended: ended))
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

  /// Returns the status of the player of a lane; nil if no player runs, or if its ledger cannot be read.
  ///
  /// - Parameter facts: The ledger as it was found. Without a log beside it, no program has it open.
  public static func player(of lane: String, in file: URL, _ facts: LedgerFacts) -> PlayerStatus? {
    guard case .sound(_, isOpen: true, _) = facts else { return nil }
    var options = Ledger.Options()
    options.checksIntegrity = false
    guard let ledger = try? Ledger(reading: file, options: options), let status = try? ledger.player(lane: lane),
      status.isRunning
    else { return nil }
    return status
  }
}
