// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import ServiceAccess

/// The routes `/healthz`, `/readyz`, `/metrics`, `/v1/settings` and `/v1/support-bundle`.
struct OperationRoutes: Sendable {
  let readiness: Readiness
  let metrics: ServiceMetrics
  let gauges: @Sendable () async -> ServiceMetrics.Gauges
  /// Makes a support bundle; nil for a service that makes none.
  let supportBundle: (@Sendable (_ readiness: Data, _ metrics: Data) async throws -> Data)?
  /// Returns the settings and versions; nil for a service that shows none.
  let description: (@Sendable () async -> ServiceDescription)?
  let administration: AdministrationLog

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
      .get("/v1/settings", .key(.operate)) { _ in
        guard let description else {
          throw Problem.notFound("This service shows no settings. Run crier serve --print-config.")
        }
        return try ServiceJSON.response(.ok, await description())
      },
      .get("/v1/support-bundle", .key(.operate), bundle),
    ]
  }

  private func bundle(_ call: Call) async throws -> Response {
    guard let supportBundle else {
      throw Problem.notFound("This service makes no support bundles. Run crier doctor --bundle.")
    }
    let bytes = try await supportBundle(
      try ServiceJSON.data(of: await readiness.report()), Data(metrics.text(await gauges()).utf8))
    await administration.record(.supportBundleMade, call)
    return Response(
      status: .ok,
      headers: [
        .contentType: "application/gzip", .cacheControl: "no-store",
        .contentDisposition: #"attachment; filename="crier-support.tar.gz""#,
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
