// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOHTTP1
import ServiceAccess

/// The parts of every response from memory: the header fields that ``ServiceResponder`` and the server library add on
/// the usual path, the metrics, the log and the rate limit.
struct HotResponses: Sendable {
  let keys: KeyRing
  let metrics: ServiceMetrics
  let stopping: Stopping
  let clock = HTTPClock()
  let logger: Logger

  /// Returns the sender of a request if its key is cached and has the scope.
  func caller(_ authorization: String, with scope: Scope) -> Caller? {
    guard let caller = keys.remembered(authorization), caller.scopes.allow(scope) else { return nil }
    return caller
  }

  /// Returns the response with the status 200, and counts the request.
  ///
  /// - Parameters:
  ///   - body: The content of the response.
  ///   - fields: The header fields of the content, with its length.
  ///   - caller: The sender; nil if the URL is signed. The request counts towards the rate limit of its key.
  ///   - series: The counter of the metrics.
  ///   - start: The time at which the request arrived.
  /// - Returns: nil if the request is over the rate limit. It costs the key nothing here; the usual path refuses it.
  func response(
    _ body: ByteBuffer, fields: HTTPHeaders, to caller: Caller?, series: ServiceMetrics.RequestSeries,
    since start: ContinuousClock.Instant
  ) -> HotResponse? {
    let limits = caller.map(keys.admit)
    guard limits?.isAllowed ?? true else { return nil }
    let requestID = RandomID.make()
    var fields = fields
    fields.reserveCapacity(fields.count + 6)
    fields.add(name: "X-Request-Id", value: requestID)
    for (name, value) in limits?.headerFields ?? [] { fields.add(name: name, value: value) }
    fields.add(name: "Date", value: clock.text)
    fields.add(name: "Server", value: AnnouncementServer.name)
    let duration = ContinuousClock.now - start
    metrics.answered(series, took: duration)
    logger.log(
      level: .debug, "request",
      metadata: [
        "hb.request.id": "\(requestID)", "method": "\(series.method)", "path": "\(series.path)", "status": "200",
        "key": "\(caller?.logName ?? "-")", "ms": "\(Int(duration.inSeconds * 1000))",
      ])
    return HotResponse(head: HTTPResponseHead(version: .http1_1, status: .ok, headers: fields), body: body)
  }
}
