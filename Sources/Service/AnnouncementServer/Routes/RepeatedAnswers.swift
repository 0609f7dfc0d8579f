// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import HTTPTypes
import Ledger
import NIOCore

/// The cache of responses for repetitions of requests. The ledger has these responses too.
struct RepeatedAnswers: Sendable {
  /// The identity of a request: its account, its idempotency key and the digest of its exact body.
  struct Fingerprint: Hashable, Sendable {
    var account: String
    var key: String?
    var bodyDigest: Data
  }

  /// A response that is kept in memory for repetitions of its request.
  struct Answer: Sendable {
    let report: ByteBuffer
    let id: String
    let createdAt: Date
    /// The path of the announcement, for the field `Location`.
    let location: String
    /// The header fields of a response with the report.
    let fields: HTTPFields

    init(_ accepted: AnnouncementService.Accepted) {
      report = ByteBuffer(bytes: accepted.report)
      (id, createdAt) = (accepted.id, accepted.createdAt)
      location = "\(AnnouncementRoutes.path)/\(AnnouncementRoutes.percentEncoded(id))"
      var fields = ServiceJSON.fields
      fields[.location] = location
      self.fields = fields
    }
  }

  private let answers = RecentlyUsed<Fingerprint, Answer>(capacityBytes: 16 << 20)

  /// Returns the response to a repeated request, if it is in memory and not too old.
  func value(for fingerprint: Fingerprint) -> Answer? {
    guard let known = answers.value(for: fingerprint), known.createdAt.timeIntervalSinceNow > -Ledger.answerLifetime
    else { return nil }
    return known
  }

  func insert(_ answer: Answer, for fingerprint: Fingerprint) {
    // Of the 1,024 bytes, half is for the strings of the fingerprint, and half for the header fields.
    answers.insert(
      answer, for: fingerprint,
      bytes: RecentlyUsed<Fingerprint, Answer>.entryBytes + 1_024 + 2 * answer.location.utf8.count
        + answer.report.storageCapacity)
  }

  func remove(_ fingerprint: Fingerprint) { answers.remove(fingerprint) }
}
