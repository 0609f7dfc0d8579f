// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The routes `/healthz`, `/readyz` and `/metrics`.
struct OperationRoutes: Sendable {
  let readiness: Readiness
  let metrics: ServiceMetrics
  let gauges: @Sendable () async -> ServiceMetrics.Gauges

  var routes: [Route] {
    [
      .get("/healthz", .open) { _ in try ServiceJSON.response(.ok, ["status": "ok"]) },
      .get("/readyz", .open) { _ in
        let report = await readiness.report()
        return try ServiceJSON.response(report.isReady ? .ok : .serviceUnavailable, report)
      },
      .get("/metrics", .openByName) { _ in
        Response(
          status: .ok,
          headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
          body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text(await gauges()))))
      },
    ]
  }
}
