// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Hummingbird
import Ledger
import Playback
import ServiceAccess

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
          "The announcement, or a replay of it, waits or is being heard: take it back first "
            + "(DELETE /v1/playback/{id}), or wait for its end.")
      case .removed(let entry, let answers):
        for answer in answers {
          answered.remove(
            Fingerprint(
              account: sender.account, key: Order.idempotencyKey(of: answer.key), bodyDigest: answer.bodyDigest))
        }
        let administration = AdministrationLog(ledger: ledger)
        await administration.record(.announcementRemoved, call, subject: entry.map { String($0.number) })
        var removed: Set<String> = []
        for clip in published(entry, answers) where Clips.isName(clip.name) {
          guard try await remove(clip, for: sender), removed.insert(clip.name).inserted else { continue }
          await administration.record(.clipRemoved, call, subject: clip.name)
        }
        return try ServiceJSON.response(.ok, Removed(id: id, clips: removed.sorted()))
      }
    }
  }

  /// The clips that were answered, and the one that was heard.
  private func published(_ entry: Ledger.Entry?, _ answers: [Ledger.RemovedAnswer]) -> Set<PublishedClip> {
    var clips = Set(answers.compactMap(\.clip))
    if let entry, let heard = entry.clip, !clips.contains(where: { $0.name == heard }) {
      clips.insert(PublishedClip(name: heard, group: group(of: entry)))
    }
    return clips
  }

  /// Where the player left an announcement's clip.
  private func group(of entry: Ledger.Entry) -> String? {
    guard case .announcement(_, let requested, let defaults) = try? StoredAnnouncement(entry).content else {
      return nil
    }
    return requested.group ?? defaults.group ?? settings.group
  }

  /// - Returns: whether the clip is gone.
  private func remove(_ clip: PublishedClip, for sender: Caller) async throws -> Bool {
    // Who announces the clip at this moment has it noted in the ledger before others are looked for, or finds it gone.
    try await clips.turns.alone(clip.name) {
      if !sender.isAdmin, try await isClipOfOthers(clip.name, than: sender.account) { return false }
      return try await clips.remove(clip.name, from: clip.group)
    }
  }

  /// Whether another account announced the clip, or has it in the result of a list.
  private func isClipOfOthers(_ name: String, than account: String) async throws -> Bool {
    // In this order: what a batch holds goes from here to the ledger.
    if await batches.holds(name, forOthersThan: account) { return true }
    return try await ledger.isClipOfOthers(name, than: account)
  }
}
