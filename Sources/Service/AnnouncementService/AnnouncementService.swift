// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
package import Foundation
package import Ledger
import Playback

/// Accepts announcements, each once: a repetition of a submission gets the answer of the first one.
///
/// The type knows nothing of HTTP. Code that receives payments calls ``order(_:)`` and then ``accept(_:)``.
package struct AnnouncementService: Sendable {
  /// An announcement that was accepted, by this call or earlier.
  package struct Accepted: Sendable {
    package var id: String
    package var createdAt: Date
    /// The report as JSON, byte for byte the same each time.
    package var report: Data
    package var clip: PublishedClip?
    /// Whether this call accepted the announcement.
    package var isNew: Bool

    fileprivate init(_ answer: Ledger.Answer, isNew: Bool = false) {
      (id, createdAt, report, clip) = (answer.id, answer.createdAt, answer.report, answer.clip)
      self.isNew = isNew
    }
  }

  /// The facts to report after an announcement was accepted.
  package struct Told: Sendable {
    package var isPlayed: Bool
    package var isPushed: Bool
    /// Whether the announcement is a received payment.
    package var isReceipt: Bool
    package var rendered: Rendered
  }

  /// The number of times that a clip is made before its submission fails.
  private static let mostMakings = 5

  let ledger: any Ledger.Store
  let clips: any ClipMaking
  let pushes: AnnouncementPushes
  let groups: AppGroups
  private let locale: String
  private let lane: PlayingLane?
  /// Whether the ledger stores what each clip was made from, so that other nodes can make it again.
  private let keepsSources: Bool
  private let tell: @Sendable (Told) -> Void
  /// The locks of idempotency keys and ids. The removal of an announcement takes these locks too.
  package let turns = Turns<[String]>()

  /// - Parameters:
  ///   - locale: The service's own default locale.
  ///   - lane: The lane on which the service plays; nil if it has no output.
  ///   - keepsSources: Whether the ledger stores what each clip was made from, so that other nodes can make it again.
  ///   - tell: Called for each new announcement. It must return at once.
  package init(
    ledger: any Ledger.Store, clips: any ClipMaking, pushes: AnnouncementPushes, groups: AppGroups, locale: String,
    lane: PlayingLane?, keepsSources: Bool = false,
    tell: @escaping @Sendable (Told) -> Void
  ) {
    (self.ledger, self.clips, self.pushes, self.groups) = (ledger, clips, pushes, groups)
    (self.locale, self.lane, self.keepsSources, self.tell) = (locale, lane, keepsSources, tell)
  }

  /// Reads a submission.
  ///
  /// - Throws: `AnnouncementError`, `AnnouncerError`; ``AcceptanceError`` with `fieldInvalid`.
  package func order(_ submission: Submission) throws -> AnnouncementOrder {
    try AnnouncementOrder(submission, locale: locale, groups: groups, lane: lane?.name)
  }

  /// Accepts an announcement, or returns the answer of an earlier submission. When this function returns, the clip
  /// exists, and the ledger has the announcement with everything that was decided about it.
  ///
  /// The work is done on threads that may wait. No other submission with the same key or id is processed meanwhile.
  ///
  /// - Parameter noted: Called with the result while the announcement cannot be removed.
  /// - Throws: ``AcceptanceError``; `AnnouncementError` for a payload that only an earlier version would have accepted;
  ///   the errors of ``ClipMaking``; `LedgerError`; `PushMessageError`.
  package func accept(
    _ order: AnnouncementOrder, noted: @Sendable (Accepted) -> Void = { _ in }
  ) async throws -> Accepted {
    let keys = [order.submission.key.map { [order.account, "key", $0] }, [order.account, "id", order.id]]
    return try await withTaskExecutorPreference(WaitingThreads.shared) {
      try await turns.take(keys.compactMap(\.self)) {
        let accepted = try await acceptInTurn(order)
        noted(accepted)
        return accepted
      }
    }
  }

  private func acceptInTurn(_ order: AnnouncementOrder) async throws -> Accepted {
    let (account, digest) = (order.account, order.submission.bodyDigest)
    let known = try await ledger.known(account: account, key: order.storageKey, id: order.id)
    if let answer = known.answer {
      guard answer.bodyDigest == digest else { throw order.conflict }
      return Accepted(answer)
    }
    // The same announcement may exist under another key, or may have been accepted in a way other than this one.
    if let known = known.announcement {
      if let first = known.answer {
        guard first.bodyDigest == digest else { throw AnnouncementOrder.idConflict }
        if -first.createdAt.timeIntervalSinceNow < Ledger.answerLifetime {
          // From now on, this key belongs to this submission and to no other.
          let kept = try await ledger.accept(
            answer: NewAnswer(
              account: account, key: order.storageKey, bodyDigest: digest, id: first.id, status: 201,
              report: first.report, clip: first.clip))
          guard kept.isSameBody else { throw order.conflict }
          return Accepted(kept.answer)
        }
      } else if known.entry?.payload != order.played?.payload {
        throw AnnouncementOrder.idConflict
      }
    }
    if let refusal = order.refusal { throw refusal }
    // The output is required only now, so that a repetition is answered even if the output has been removed since then.
    var order = order
    try order.findLane(of: known.announcement?.entry)
    // An announcement with a test key addresses the devices of its client's account.
    let owner = TestAccount.owner(of: account) ?? account
    order.take(try await pushes.devices(of: order.request, account: owner))
    let (report, isCached, acceptance) = try await acceptNew(order)
    if acceptance.isDuplicate {
      // Another process that shares the ledger has accepted the same submission first.
      guard acceptance.isSameBody else { throw order.conflict }
      return Accepted(acceptance.answer)
    }
    tell(
      Told(
        isPlayed: acceptance.acceptance != nil, isPushed: !order.devices.isEmpty && !order.isTest,
        isReceipt: order.request.announcement.isReceipt && !order.isTest,
        rendered: Rendered(
          account: account, id: order.id, at: acceptance.answer.createdAt, method: report.method, isCached: isCached,
          durationMilliseconds: report.clip.durationMilliseconds)))
    return Accepted(acceptance.answer, isNew: true)
  }

  /// Makes the clip if it does not exist, and stores the answer in the ledger. When this function returns, the clip
  /// exists and the ledger knows its account. If another account removes the same clip meanwhile, the clip either
  /// remains or is made again.
  ///
  /// - Throws: ``AcceptanceError`` with `clipLost` if the clip was made several times and was removed each time.
  private func acceptNew(
    _ order: AnnouncementOrder
  ) async throws -> (report: ClipReport, isCached: Bool, acceptance: Ledger.AnswerAcceptance) {
    var order = order
    for _ in 0..<Self.mostMakings {
      var (report, isCached) = try await makeClip(&order)
      report.id = order.id
      report.cached = isCached
      report.warnings = order.warnings + report.warnings
      report.clip.url = try clips.url(ofClip: report.clip.name, authority: order.submission.authority)
      let pushed = try await makePushes(order, report)
      report.warnings += pushed.warnings
      // The payload of an announcement that is played is stored with it.
      let isSource = keepsSources && order.played == nil
      let answer = NewAnswer(
        account: order.account, key: order.storageKey, bodyDigest: order.submission.bodyDigest, id: order.id,
        status: 201, report: try ReportJSON.data(of: report),
        clip: PublishedClip(name: report.clip.name, group: order.group),
        decision: Decision(order.request.announcement, report, group: order.group),
        rendered: Rendered.detail(
          method: report.method, isCached: isCached, durationMilliseconds: report.clip.durationMilliseconds),
        source: isSource
          ? NewAnswer.Source(payload: order.submission.body, defaultPack: order.submission.defaults.pack) : nil)
      let played = order.played
      // Phones learn nothing about a test: they get neither a push nor a new clip in their library.
      let pushes = order.isTest ? [] : pushed.pushes
      let files = order.isTest ? [] : pushed.reports.map { LibrarySound($0, group: order.group) }
      let acceptance = try await clips.keeping(pushed.reports) { [ledger, lane] in
        guard let lane, let played else {
          return try await ledger.accept(answer: answer, playing: played, pushing: pushes, publishing: files)
        }
        return try await lane.hold { name in
          // The output may have changed since the submission was read.
          var here = played
          here.lane = name
          return try await ledger.accept(answer: answer, playing: here, pushing: pushes, publishing: files)
        }
      }
      if let acceptance { return (report, isCached, acceptance) }
    }
    throw AcceptanceError(
      .clipLost,
      "The clip was gone each time that it was made. Another program removes the clips, or the folder cannot be read.")
  }
}

extension Announcement {
  /// Whether the announcement is about a received payment.
  fileprivate var isReceipt: Bool {
    if case .payment(let payment) = self { payment.kind == .received } else { false }
  }
}
