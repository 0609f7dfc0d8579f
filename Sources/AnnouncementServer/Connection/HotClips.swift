// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import NIOHTTP1
import ServiceAccess

/// The fast path for clips in memory and callers whose keys are cached. It decides without waiting for anything.
///
/// It makes the same decisions as ``ServiceResponder`` and ``ClipRoutes``, with the same parts, but only for requests
/// that they would answer with 200. All other requests take the usual path, which also refuses them if necessary.
struct HotClips: Sendable {
  static let path = "/v1/clips/"
  private static let template = "\(path){name}"
  private static let series = ServiceMetrics.RequestSeries(method: "GET", path: template, status: 200)

  let clips: Clips
  let urls: ClipURLs
  let responses: HotResponses

  /// Returns the response to a request if the fast path applies.
  ///
  /// - Returns: nil if the request must take the usual path.
  func answer(to head: HTTPRequestHead) -> HotResponse? {
    guard head.method == .GET, head.version == .http1_1, head.uri.hasPrefix(Self.path) else { return nil }
    let start = ContinuousClock.now
    // A body means nothing in such a request, and the usual path reads it.
    guard let fields = HotFields(head.headers), fields.contentLength == nil, !responses.stopping.isStopping else {
      return nil
    }
    let uri = URI(head.uri)
    // The usual path refuses such a request with its reason.
    guard uri.repeatedParameter == nil else { return nil }
    // The caller is identified before the clip is looked up. Otherwise the response time would reveal to strangers
    // which clips are in memory.
    var caller: Caller?
    if let authorization = fields.authorization {
      guard let known = responses.caller(authorization, with: .read) else { return nil }
      caller = known
    } else {
      guard isSigned(uri) else { return nil }
    }
    let name = head.uri.dropFirst(Self.path.utf8.count).prefix { $0 != "?" }
    guard let file = clips.fileInMemory(named: String(name)) else { return nil }
    return responses.response(file.bytes, fields: file.wholeFields, to: caller, series: Self.series, since: start)
  }

  private func isSigned(_ uri: URI) -> Bool {
    do throws(AccessError) {
      try urls.check(uri)
      return true
    } catch {
      return false
    }
  }
}
