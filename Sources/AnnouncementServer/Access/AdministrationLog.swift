// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import ServiceAccess

/// Writes down what keys with the scope `admin` do to others.
struct AdministrationLog: Sendable {
  let ledger: Ledger

  /// Writes an act down, once it is done. What was done stays done when it cannot be written: a player must be held also
  /// when the disk is full; the service's log says so then.
  ///
  /// - Parameter subject: as the act has it: an announcement's number, a batch's id, a clip's name.
  func record(_ action: Ledger.AdministrativeAct.Action, _ call: Call, subject: String? = nil) async {
    guard let caller = call.caller, caller.isAdmin else { return }
    do {
      try await ledger.record(action, by: .key(caller.keyID), subject: subject)
    } catch {
      call.logger.error(
        "An act of administration could not be written down.",
        metadata: ["action": "\(action.rawValue)", "key": "\(caller.logName)", "error": "\(error)"])
    }
  }
}
