// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// An answer that can be stored, with everything that is stored together with it.
package struct AnswerToStore: Sendable {
  package let new: NewAnswer
  /// The announcement for a player, with the decision of the answer; nil when nothing is to be played.
  package let announcement: StoredAnnouncement?
  package let pushes: [NewPush]
  package let clips: [LibrarySound]
  /// The words of the report in the form for searching; nil if it has none.
  package let words: Data?

  /// Checks the arguments of ``Ledger/AcceptanceStore/accept(answer:playing:pushing:publishing:)``. The pushes are
  /// checked when they are stored.
  ///
  /// - Throws: ``LedgerError`` with `invalidValue`.
  package init(
    _ new: NewAnswer, playing announcement: StoredAnnouncement?, pushing pushes: [NewPush],
    publishing clips: [LibrarySound], in ledger: some Ledger.Implementation
  ) throws(LedgerError) {
    var rule = new.brokenRule ?? announcement?.brokenRule ?? LibrarySound.brokenRule(of: clips)
    if let announcement, announcement.account != new.account || announcement.id != new.id {
      rule = rule ?? "announcement (it must have the account and the id of the answer)"
    }
    try ledger.refuse(rule, while: .answering)
    var announcement = announcement
    announcement?.decision = new.decision
    self.new = new
    self.announcement = announcement
    self.pushes = pushes
    self.clips = clips
    words = SearchText(wordsOf: new.report)?.bytes
  }

  /// The number of bytes that the answer holds in memory while it waits, roughly.
  package var cost: Int {
    let payloads = (new.source?.payload.count ?? 0) + (announcement?.payload.count ?? 0)
    return 512 + new.report.count + payloads + (new.decision?.byteCount ?? 0) + 5_000 * pushes.count
  }

  /// The answer as it is stored.
  ///
  /// - Parameter at: The time of storing in milliseconds since 1970.
  package func answer(at: Int64) -> Ledger.Answer {
    Ledger.Answer(
      account: new.account, key: new.key, bodyDigest: new.bodyDigest, id: new.id, status: new.status,
      report: new.report, clip: new.clip, createdAt: Date(wholeMilliseconds: at))
  }
}
