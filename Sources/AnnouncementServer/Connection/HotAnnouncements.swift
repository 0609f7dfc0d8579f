// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import ServiceAccess

/// The fast path for repeated announcements whose response is in memory. It decides without waiting for anything.
///
/// It makes the same decisions as ``ServiceResponder`` and ``AnnouncementRoutes``, with the same parts, but only for
/// requests that they would answer from memory with 200. All other requests take the usual path.
struct HotAnnouncements: Sendable {
  /// The size of the largest body that is looked up, in bytes. Most payloads are smaller. While a body is hashed, the
  /// other connections of the event loop wait. If no answer is found for it, the usual path hashes it again.
  static let largestBody = 4_096
  private static let series = ServiceMetrics.RequestSeries(method: "POST", path: AnnouncementRoutes.path, status: 200)

  let answers: RepeatedAnswers
  let responses: HotResponses

  /// Returns how to answer a request if the fast path applies.
  func decision(about head: HTTPRequestHead) -> HotDecision? {
    guard head.method == .POST, head.version == .http1_1, head.uri == AnnouncementRoutes.path else { return nil }
    let start = ContinuousClock.now
    guard let fields = HotFields(head.headers), !responses.stopping.isStopping,
      fields.contentType == "application/json",
      let length = fields.contentLength.flatMap({ Int($0) }), length <= Self.largestBody,
      fields.accept == nil || fields.accept == "*/*" || fields.accept == "application/json",
      // The usual path trims keys and refuses invalid ones.
      fields.idempotencyKey?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ?? true,
      // No body is held for a sender who has no key.
      let caller = fields.authorization.flatMap({ responses.caller($0, with: .announce) }), !caller.isStrict
    else { return nil }
    let key: String?
    do throws(Problem) {
      key = try fields.idempotencyKey.map(AnnouncementRoutes.idempotencyKey)
    } catch {
      return nil
    }
    return .answerWithBody { body in
      let digest = body.withUnsafeReadableBytes { Data(SHA256.hash(data: $0)) }
      let fingerprint = RepeatedAnswers.Fingerprint(account: caller.account, key: key, bodyDigest: digest)
      guard let known = answers.value(for: fingerprint) else { return nil }
      return responses.response(
        known.report, fields: known.fields, to: caller, series: Self.series, since: start)
    }
  }
}
