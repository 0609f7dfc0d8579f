// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import Foundation
import Hummingbird
import Ledger
import ServiceAccess
import SoundLibrary

/// `DELETE /v1/announcements/{id}`: an announcement is forgotten, and its clip with it.
extension AnnouncementCalls {
  private struct Removed: Encodable {
    var id: String
    /// The clips that are gone: made anew when they are asked for again.
    var clips: [String]
  }

  /// One that still waits is not removed, for money that was received would not be heard: who wants that takes it back
  /// first. A clip that another account has announced too, or had made by a list, stays, unless an admin removes it.
  func remove(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let id = call.parameter
    // Nobody announces under this id meanwhile.
    return try await turns.take([[sender.account, "id", id]]) {
      switch try await ledger.remove(account: sender.account, id: id) {
      case .unknown: throw Problem(.notFound, "not_found", "The account has no announcement of that id.")
      case .notEnded:
        throw Problem(
          .conflict, "not_ended",
          "The announcement waits or is being heard: take it back first (DELETE /v1/playback/{id}), or wait for its end."
        )
      case .removed(let reports, let heard):
        answered.removeAll { $0.account == sender.account && $1.id == id }
        let named = try reports.map { try JSONDecoder().decode(StoredReport.self, from: $0).clip.name }
        var removed: [String] = []
        for name in Set(named + [heard].compactMap(\.self)).sorted() where Clips.isName(name) {
          if !sender.isAdmin, try await isClipOfOthers(name, than: sender.account) { continue }
          guard try await clips.remove(name) else { continue }
          removed.append(name)
          await AdministrationLog(ledger: ledger).record(.clipRemoved, call, subject: name)
        }
        return try ServiceJSON.response(.ok, Removed(id: id, clips: removed))
      }
    }
  }

  /// Whether another account announced the clip, or has it in the result of a list.
  private func isClipOfOthers(_ name: String, than account: String) async throws -> Bool {
    if try await ledger.isClipOfOthers(name, than: account) { return true }
    let results = await batches.results(ofOthersThan: account)
    return await onWaitingThread {
      results.contains { result in
        (try? Data(contentsOf: result, options: .alwaysMapped))?.range(of: Data(name.utf8)) != nil
      }
    }
  }
}
