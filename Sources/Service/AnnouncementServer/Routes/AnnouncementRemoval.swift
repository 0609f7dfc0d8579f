// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Foundation
import Hummingbird
import Ledger
import Playback
import ServiceAccess

/// The route `DELETE /v1/announcements/{id}`, which removes an announcement and its clips.
extension AnnouncementRoutes {
  private struct Removed: Encodable {
    var id: String
    /// The names of the removed clips. A removed clip is made again when it is requested again.
    var clips: [String]
  }

  /// Removes an announcement. A waiting announcement is not removed, because the payment would not be heard; it must be
  /// cancelled first. A clip remains if another account has announced it too or has it in the result of a list, unless
  /// an admin removes it.
  func remove(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let id = call.parameter
    // No announcement with this id is created meanwhile.
    return try await service.turns.take([[sender.account, "id", id]]) {
      switch try await ledger.remove(account: sender.account, id: id) {
      case .unknown: throw Problem.notFound("The account has no announcement with this id.")
      case .notEnded:
        throw Problem(
          .conflict, "not_ended",
          "The announcement, a replay of it or a push of it has not ended. Cancel it first (DELETE "
            + "/v1/playback/{id}), or wait for its end.")
      case .removed(let entry, let stored, let pushedClips):
        for answer in stored {
          answers.remove(
            Fingerprint(
              account: sender.account, key: AnnouncementOrder.idempotencyKey(of: answer.key),
              bodyDigest: answer.bodyDigest))
        }
        // The clips may still exist for other accounts, but no longer for this one.
        library.tellChange()
        let administration = AdministrationLog(ledger: ledger)
        await administration.record(.announcementRemoved, call, subject: entry.map { String($0.number) })
        var removed: Set<String> = []
        for clip in published(entry, stored, pushedClips) where Clips.isName(clip.name) {
          guard try await remove(clip, for: sender), removed.insert(clip.name).inserted else { continue }
          await administration.record(.clipRemoved, call, subject: clip.name)
        }
        return try ServiceJSON.response(.ok, Removed(id: id, clips: removed.sorted()))
      }
    }
  }

  /// Returns the clips of the responses, the clip that was played, and those that were pushed in other languages.
  private func published(
    _ entry: Ledger.Entry?, _ answers: [Ledger.RemovedAnswer], _ pushed: Set<String>
  ) -> Set<PublishedClip> {
    var clips = Set(answers.compactMap(\.clip))
    // The clips of all languages are in one group. If the answers were removed meanwhile, the group is not known any
    // more, and the clip is removed from all groups.
    let common = clips.first?.group
    for name in pushed.subtracting(clips.map(\.name)) { clips.insert(PublishedClip(name: name, group: common)) }
    if let entry, let heard = entry.clip, !clips.contains(where: { $0.name == heard }) {
      clips.insert(PublishedClip(name: heard, group: entry.decision?.clip.group))
    }
    return clips
  }

  /// Removes a clip unless other accounts need it.
  ///
  /// - Returns: Whether a clip was removed.
  private func remove(_ clip: PublishedClip, for sender: Caller) async throws -> Bool {
    // A simultaneous announcement of the clip either is in the ledger before the search for other accounts begins, or
    // finds that the clip was removed.
    try await clips.turns.take([clip.name]) {
      if !sender.isAdmin, try await isClipOfOthers(clip.name, than: sender.account) { return false }
      let isRemoved = try await clips.remove(clip.name, from: clip.group)
      if let group = clip.group { try await library.remove(clip.name, from: group) }
      return isRemoved
    }
  }

  /// Returns whether another account announced the clip, or has it in the result of a list.
  private func isClipOfOthers(_ name: String, than account: String) async throws -> Bool {
    // The batches are asked first, because the clips that they hold move from there to the ledger.
    if await batches.heldClips.holds(name, forOthersThan: account) { return true }
    return try await ledger.isClipOfOthers(name, than: account)
  }
}
