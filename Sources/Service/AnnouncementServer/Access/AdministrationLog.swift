// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import ServiceAccess

/// The log of actions of callers with the scope `admin` or `operator`.
struct AdministrationLog: Sendable {
  let ledger: any Ledger.KeyStore

  /// Records an act after it was performed. Calls of keys that have neither the scope `admin` nor the scope `operator`
  /// are not recorded.
  ///
  /// If the record cannot be written, the act remains in effect and an error is logged. For example, an admin must be
  /// able to pause the player when the disk is full.
  ///
  /// - Parameter subject: The subject of the act: an announcement's number, a batch's id, or a clip's name.
  func record(_ action: Ledger.AdministrativeAct.Action, _ call: Call, subject: String? = nil) async {
    guard let caller = call.caller, caller.scopes.allow(.operate) else { return }
    do {
      try await ledger.record(action, by: .key(caller.keyID), subject: subject)
    } catch {
      call.logger.error(
        "An administrative action could not be recorded.",
        metadata: [
          "hb.request.id": "\(call.id)", "action": "\(action.rawValue)", "key": "\(caller.logName)",
          "error": "\(error)",
        ])
    }
  }
}
