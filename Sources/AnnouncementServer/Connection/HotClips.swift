// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOHTTP1
import ServiceAccess

/// The fast path for clips in memory and callers whose keys are cached. It decides without waiting for anything.
///
/// It makes the same decisions as ``ServiceResponder`` and ``ClipRoutes``, with the same parts, but only for requests
/// that they would answer with 200. All other requests take the usual path, which also refuses them if necessary.
struct HotClips: Sendable {
  static let path = "/v1/clips/"
  private static let template = "\(path){name}"

  let clips: Clips
  let keys: KeyRing
  let urls: ClipURLs
  let metrics: ServiceMetrics
  let stopping: Stopping
  let clock = HTTPClock()
  let logger: Logger

  /// Returns the response to a request if the fast path applies.
  ///
  /// - Returns: nil if the request must take the usual path.
  func answer(to head: HTTPRequestHead) -> HotResponse? {
    guard head.method == .GET, head.version == .http1_1, head.uri.hasPrefix(Self.path) else { return nil }
    let start = ContinuousClock.now
    guard let wish = Wish(head), !stopping.isStopping else { return nil }
    // The caller is identified before the clip is looked up. Otherwise the response time would reveal to strangers
    // which clips are in memory.
    var caller: Caller?
    if let authorization = wish.authorization {
      guard let known = keys.remembered(authorization), known.scopes.allow(.read) else { return nil }
      caller = known
    } else {
      guard isSigned(head.uri) else { return nil }
    }
    guard let file = clips.fileInMemory(named: String(wish.name)) else { return nil }
    // A request over the rate limit costs the key nothing here. The usual path refuses it.
    let limits = caller.map(keys.admit)
    guard limits?.isAllowed ?? true else { return nil }
    let requestID = RandomID.make()
    var fields = file.wholeFields
    fields.reserveCapacity(12)
    fields.add(name: "X-Request-Id", value: requestID)
    for (name, value) in limits?.headerFields ?? [] { fields.add(name: name, value: value) }
    fields.add(name: "Date", value: clock.text)
    fields.add(name: "Server", value: AnnouncementServer.name)
    let duration = ContinuousClock.now - start
    metrics.answered(ServiceMetrics.RequestSeries(method: "GET", path: Self.template, status: 200), took: duration)
    logger.log(
      level: .debug, "request",
      metadata: [
        "hb.request.id": "\(requestID)", "method": "GET", "path": "\(Self.template)", "status": "200",
        "key": "\(caller?.logName ?? "-")", "ms": "\(Int(duration.inSeconds * 1000))",
      ])
    return HotResponse(head: HTTPResponseHead(version: .http1_1, status: .ok, headers: fields), body: file.content)
  }

  private func isSigned(_ uri: String) -> Bool {
    do throws(AccessError) {
      try urls.check(URI(uri))
      return true
    } catch {
      return false
    }
  }

  /// The fields of a request for a whole clip. A request with any further condition takes the usual path.
  private struct Wish {
    var name: Substring
    var authorization: String?

    /// Fields that request something other than a whole clip, announce a body, or break a rule of HTTP messages.
    private static let others = [
      "range", "if-range", "if-none-match", "expect", "upgrade", "content-length", "transfer-encoding",
      "crier-message-fault",
    ]

    init?(_ head: HTTPRequestHead) {
      for (name, value) in head.headers {
        if name.isField("authorization") {
          guard authorization == nil else { return nil }
          authorization = value
        } else if name.isField("connection") {
          // Connections are kept open by default, so `keep-alive` changes nothing.
          guard value.isField("keep-alive") else { return nil }
        } else if Self.others.contains(where: { name.isField($0) }) {
          return nil
        }
      }
      name = head.uri.dropFirst(HotClips.path.utf8.count).prefix { $0 != "?" }
    }
  }
}
